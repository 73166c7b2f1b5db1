// SPDX-License-Identifier: Apache-2.0
// stages FILE [REPEAT [FRAMES]]: CPU nanoseconds a frame of what the report does with every frame before
// it is tracked, each stage by itself on one thread, the least of REPEAT (5) readings. What the whole
// report takes beyond their sum is tracking. FRAMES (1024): frames handled at once, as analyze() has it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "analyze/record/fast_record.hpp"
#include "analyze/record/totals.hpp"
#include "capture/core/source.hpp"
#include "dissect/dissect.hpp"

namespace {

using namespace roce;

enum Stage : std::size_t { reading, fast_record, general_record, checking, stage_count };
constexpr const char* names[stage_count] = {"read and walk", "record and counts", "the same, the general way",
                                            "ICRC"};
using Times = std::array<double, stage_count>;

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// One frame the general way, as analyze() does with all that is out of the ordinary.
void general(const capture::Frame& frame, std::uint64_t number, analyze::PacketRecord& record,
             analyze::Totals& totals) {
  dissect::Dissection dissection;
  dissect::dissect({frame.data, frame.captured}, frame.wire, frame.link_type, dissection);
  analyze::make_record(frame, dissection, record);
  totals.count(number, frame, dissection, record, nullptr);
}

/// Nanoseconds of each stage for the whole file; how many frames there were and how many went which way.
struct Reading {
  Times times{};
  std::uint64_t frames = 0;
  std::uint64_t fast = 0;
  std::uint64_t matches = 0;
};

Reading read(capture::CaptureSource& source, std::size_t at_once) {
  Reading result;
  capture::FrameBatch batch;
  std::vector<analyze::PacketRecord> records(at_once);
  std::vector<analyze::FastFrame> facts(at_once);
  std::vector<char> is_fast(at_once);
  while (true) {
    batch.clear();
    const double begin = cpu_ns();
    const auto got = source.next_batch(batch, at_once);
    const double read = cpu_ns();
    result.times[reading] += read - begin;
    if (!got) continue;
    if (*got == 0) return result;
    analyze::Totals totals, general_totals;
    const std::vector<capture::Frame>& frames = batch.frames;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const bool fast = analyze::make_record_fast(frames[i], records[i], facts[i]);
      is_fast[i] = static_cast<char>(fast);
      if (fast) {
        totals.count_fast(i, frames[i], records[i].opcode, facts[i].marks, facts[i].cut, nullptr);
      } else {
        general(frames[i], i, records[i], totals);
      }
    }
    const double recorded = cpu_ns();
    result.times[fast_record] += recorded - read;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (is_fast[i] == 0 || facts[i].cut) continue;
      const auto icrc = dissect::check_icrc_at({frames[i].data, frames[i].captured}, facts[i].icrc_place);
      result.matches += icrc.status == dissect::CrcStatus::match ? 1U : 0U;
    }
    const double checked = cpu_ns();
    result.times[checking] += checked - recorded;
    for (std::size_t i = 0; i < frames.size(); ++i) general(frames[i], i, records[i], general_totals);
    result.times[general_record] += cpu_ns() - checked;
    result.frames += frames.size();
    for (std::size_t i = 0; i < frames.size(); ++i) result.fast += is_fast[i] != 0 ? 1U : 0U;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::fputs("usage: stages FILE [REPEAT [FRAMES]]\n", stderr);
    return 2;
  }
  const unsigned long repeat = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 5;
  const unsigned long at_once = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1024;
  if (repeat == 0 || at_once == 0) return 2;
  Times least{};
  Reading last;
  for (unsigned long i = 0; i < repeat; ++i) {
    auto source = capture::open_files({argv[1]});
    if (!source) {
      std::fprintf(stderr, "stages: %s\n", source.error().describe().c_str());
      return 3;
    }
    last = read(**source, at_once);
    for (std::size_t stage = 0; stage < stage_count; ++stage) {
      const double ns = last.times[stage] / static_cast<double>(std::max<std::uint64_t>(last.frames, 1));
      least[stage] = i == 0 ? ns : std::min(least[stage], ns);
    }
  }
  std::printf("%ju frames, %ju the short way, %ju right ICRCs among these\n", std::uintmax_t{last.frames},
              std::uintmax_t{last.fast}, std::uintmax_t{last.matches});
  for (std::size_t stage = 0; stage < stage_count; ++stage)
    std::printf("| %s | %.1f |\n", names[stage], least[stage]);
  return 0;
}
