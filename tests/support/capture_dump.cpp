// SPDX-License-Identifier: Apache-2.0
// Prints what capture reads, one frame a line, as
//   tshark -r F -T fields -e frame.number -e frame.time_epoch -e frame.len -e frame.cap_len
// does, so that the two can be compared. Messages go to standard error. With --facts it prints
// files, interfaces and incidents instead; with --time only how long reading took.
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "capture/core/source.hpp"

namespace {

using namespace roce::capture;

void print_frame(std::uint64_t number, const Frame& frame) {
  const bool negative = frame.time_ns < 0;
  const std::uint64_t ns =
      negative ? 0 - static_cast<std::uint64_t>(frame.time_ns) : static_cast<std::uint64_t>(frame.time_ns);
  std::printf("%" PRIu64 "\t%s%" PRIu64 ".%09" PRIu64 "\t%" PRIu32 "\t%" PRIu32 "\n", number,
              negative ? "-" : "", ns / 1'000'000'000U, ns % 1'000'000'000U, frame.wire, frame.captured);
}

void print_facts(const CaptureSource& source) {
  for (const FileInfo& file : source.files()) {
    std::printf("file %s: %s, %" PRIu64 " of %" PRIu64 " bytes, %" PRIu64
                " packets, comment [%s] app [%s] hw [%s] os [%s]\n",
                file.path.c_str(), file.format.c_str(), file.bytes_read, file.bytes, file.packets,
                file.comment.c_str(), file.application.c_str(), file.hardware.c_str(),
                file.operating_system.c_str());
  }
  const auto shown = [](const std::optional<std::uint64_t>& value) {
    return value ? std::to_string(*value) : "?";
  };
  for (const InterfaceInfo& one : source.interfaces()) {
    std::printf("interface [%s] [%s] filter [%s] link %u snap %" PRIu32 " speed %" PRIu64 " ticks %" PRIu64
                " file %u packets %" PRIu64 " received %s dropped %s/%s/%" PRIu64 "\n",
                one.name.c_str(), one.description.c_str(), one.filter.c_str(), one.link_type, one.snap_length,
                one.speed_bps, one.ticks_per_second, one.file, one.packets, shown(one.received).c_str(),
                shown(one.dropped_by_interface).c_str(), shown(one.dropped_by_kernel).c_str(),
                one.dropped_before_packets);
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(Incident::count_); ++i) {
    const std::uint64_t count = source.statistics().incidents[i];
    const std::string id(incident_info(static_cast<Incident>(i)).id);
    if (count != 0) std::printf("incident %s %" PRIu64 "\n", id.c_str(), count);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths;
  bool facts = false;
  bool time_only = false;
  for (int i = 1; i < argc; ++i) {
    facts = facts || std::strcmp(argv[i], "--facts") == 0;
    time_only = time_only || std::strcmp(argv[i], "--time") == 0;
    if (std::strncmp(argv[i], "--", 2) != 0) paths.emplace_back(argv[i]);
  }
  const auto begin = std::chrono::steady_clock::now();
  auto source = open_files(paths);
  if (!source) {
    std::fprintf(stderr, "%s\n", source.error().describe().c_str());
    return 3;
  }
  int status = 0;
  std::uint64_t number = 0;
  FrameBatch batch;
  while (true) {
    batch.clear();
    const auto got = (*source)->next_batch(batch, 65'536);
    if (!got) {
      std::fprintf(stderr, "%s\n", got.error().describe().c_str());
      status = 3;
      continue;
    }
    if (*got == 0) break;
    if (facts || time_only) {
      number += *got;
      continue;
    }
    for (const Frame& frame : batch.frames) print_frame(++number, frame);
  }
  if (facts) print_facts(**source);
  if (time_only) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("%" PRIu64 " frames in %.3f s, %.1f M/s\n", number, took.count(),
                static_cast<double>(number) / took.count() / 1e6);
  }
  return status;
}
