// SPDX-License-Identifier: Apache-2.0
// Byte 0 chooses what is known of the path; each further 6 bytes are one packet of an episode. Whatever
// comes: no crash, everything that is said is of a note, and what a packet shows adds up to the losses.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "analyze/episode/explain.hpp"
#include "analyze/episode/incidents.hpp"
#include "analyze/episode/mirror.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace roce;
using namespace roce::analyze;
using namespace roce::analyze::episode;

constexpr std::size_t packet_bytes = 6;
constexpr std::size_t packets_at_most = 4096;

/// Requests mostly go on, answers confirm what was sent.
class Maker {
 public:
  Note next(const std::uint8_t* b) {
    constexpr std::uint8_t opcodes[] = {0x0a, 0x06, 0x07, 0x08, 0x0c, 0x13, 0x04, 0x00,   // requests
                                        0x11, 0x11, 0x11, 0x0d, 0x0e, 0x0f, 0x10, 0x12};  // answers
    Note note;
    note.opcode = opcodes[b[0] & 15U];
    note.request = (b[0] & 15U) < 8;
    note.before = (b[0] & 16U) != 0 && !live_;
    live_ = live_ || !note.before;
    note.asks = (b[0] & 32U) != 0;
    note.path = b[0] >> 6U & 1U;
    note.answered = (b[0] & 128U) != 0 && note.before;
    note.frame = ++frame_;
    const bool read = note.opcode == 0x0c;
    note.count = read ? b[5] & 63 : 1;  // 0: not known
    choose_psn(note, b[1]);
    if (!note.request) {
      note.has_aeth = (b[1] & 64U) == 0;
      note.aeth = std::uint32_t{b[5]} << 24U | (b[4] & 15U);
    }
    time_ns_ += std::int64_t{b[2] & 15} << (b[2] >> 4U << 1U);
    note.time_ns = b[2] == 255   ? capture::no_time
                   : b[2] >= 248 ? time_ns_ - (std::int64_t{b[5]} << 12U)
                                 : time_ns_;
    note.has_ip_id = (b[3] & 1U) == 0;
    std::uint16_t& id = id_[note.request ? 1 : 0];
    id = static_cast<std::uint16_t>((b[3] & 2U) == 0 ? id + 1 : id + static_cast<std::int8_t>(b[3]) / 4);
    note.ip_id = id;
    note.bytes = 1000;
    note.trimmed = (b[3] & 0xc0U) == 0x40U && note.opcode != 0x11;
    return note;
  }

 private:
  void choose_psn(Note& note, std::uint8_t how) {
    const std::int64_t step = static_cast<std::int8_t>(how << 2U) / 4;  // -32..31
    if (!note.request) {
      note.psn = next_ + step - 1;
      return;
    }
    const bool far = how == 0xff;
    note.psn = far ? next_ + 100'000 : (how & 128U) != 0 ? next_ + step : next_;
    next_ = note.psn + (note.count > 0 ? note.count : 1);
  }

  std::int64_t next_ = 0x100000000;
  std::int64_t time_ns_ = 1'795'171'301'000'000'000;
  std::uint64_t frame_ = 0;
  std::uint16_t id_[2] = {1, 1};
  bool live_ = false;
};

Facts facts_of(std::uint8_t how, const std::vector<Note>& notes) {
  Facts facts;
  facts.first = notes.front().psn;
  facts.acked = (how & 1U) != 0 ? notes.front().psn : notes.front().psn - 65536;
  facts.msn_known = (how & 2U) != 0;
  facts.answers_captured = (how & 4U) != 0;
  facts.repeats = (how & 8U) == 0;
  facts.keeps = (how & 16U) != 0 ? 2 : 0;
  facts.disorder_ns = (how & 32U) != 0 ? 50'000 : 0;
  if ((how & 64U) != 0) facts.requests = facts.responses = {100, 0, 0, 100, 3, 3, 1000};
  if ((how & 128U) != 0) facts.there = {5, 5, 5, 5};
  return facts;
}

void check(const std::vector<Note>& notes, const Explanation& said) {
  const auto size = static_cast<std::int32_t>(notes.size());
  const auto is_note = [size](std::int32_t i) { return i >= -1 && i < size; };
  require(said.rulings.size() == notes.size(), "a ruling for each");
  std::uint64_t told = 0;
  for (const Ruling& ruling : said.rulings) {
    told += std::uint64_t{ruling.lost_before} + ruling.lost_or_missed + ruling.lost_after +
            ruling.lost_behind_one + ruling.missed_own + ruling.missed_other + (ruling.trimmed ? 1 : 0);
    require(is_note(ruling.trigger), "the trigger of a ruling");
  }
  const auto open = std::count_if(said.losses.begin(), said.losses.end(),
                                  [](const Loss& loss) { return loss.where == Lost::undecided; });
  require(told + static_cast<std::uint64_t>(open) == said.losses.size(), "losses by ruling");
  for (const Loss& loss : said.losses) {
    require(loss.shown >= 0 && is_note(loss.shown), "what shows a loss");
    require(is_note(loss.note) && is_note(loss.needed), "the notes of a loss");
  }
  for (const Pass& pass : said.passes) {
    require(pass.begins >= 0 && is_note(pass.begins) && is_note(pass.ends), "the notes of a pass");
    require(pass.packets > 0 && pass.from < pass.to, "a pass without packets");
  }
  for (const std::int32_t i : said.late_behind) require(i >= 0 && is_note(i), "what came late");
  for (const ImpossibleAnswer& each : said.contradictions)
    require(each.note >= 0 && is_note(each.note) && !notes[static_cast<std::size_t>(each.note)].request,
            "a contradiction by an answer");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 + packet_bytes) return 0;
  Maker maker;
  std::vector<Note> notes;
  for (std::size_t at = 1; at + packet_bytes <= size && notes.size() < packets_at_most; at += packet_bytes)
    notes.push_back(maker.next(data + at));
  settle_times(notes);
  Facts facts = facts_of(data[0], notes);
  Mirror mirror;
  mirror.learn(notes, facts);
  facts.mirror = mirror.fact();
  const Facts known = facts;
  const Explanation said = explain(notes, facts);
  check(notes, said);
  const Incidents found = incidents_of(notes, said, known);
  require(found.of_note.size() == notes.size(), "incidents by note");
  for (const std::int32_t of : found.of_note)
    require(of >= -1 && of < static_cast<std::int32_t>(found.all.size()), "the incident of a note");
  return 0;
}
