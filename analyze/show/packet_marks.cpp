// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/value_format.hpp"
#include "analyze/packet/verdict.hpp"
#include "analyze/show/packet_words.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

struct FlagMark {
  Verdict::Flag flag;
  std::string_view text;
};
/// Flags without a number.
constexpr FlagMark flag_marks[] = {
    {Verdict::out_of_order, "Out of order"},         {Verdict::ack_unseen, "ACK of unseen PSN"},
    {Verdict::illegal_sequence, "Illegal sequence"}, {Verdict::wrong_length, "Wrong length"},
    {Verdict::msn_backwards, "MSN backwards"},       {Verdict::source_mac_changed, "Source MAC changed"},
    {Verdict::time_backwards, "Time backwards"},
};

std::string_view lost_words(Lost lost) noexcept {
  using enum Lost;
  static constexpr EnumNames<Lost, lost_count> names({{none, ""},
                                                      {before_capture, "Loss upstream"},
                                                      {after_capture, "Loss downstream"},
                                                      {by_capture, "Loss in capture"},
                                                      {trimmed, "Lost: trimmed"},
                                                      {undecided, "Lost or not captured"}});
  return names[lost];
}

/// "  [Retransmission of 123, nak]"
void append_repeat(std::string& out, std::string_view what, std::uint32_t of, std::string_view why) {
  out += "  [";
  out += what;
  if (of != 0) {
    out += " of ";
    append_decimal(out, of);
  }
  if (!why.empty()) {
    out += ", ";
    out += why;
  }
  out += ']';
}

}  // namespace

void append_analysis_marks(std::string& out, const PacketView& packet) {
  if (packet.verdict == nullptr) return;
  const Verdict& v = *packet.verdict;
  if (v.has(Verdict::duplicate_capture)) append_repeat(out, "Duplicate", v.original, "capture");
  if (v.has(Verdict::duplicate_network)) append_repeat(out, "Duplicate", v.original, "network");
  if (v.has(Verdict::retransmission)) {
    const bool copy = v.has(Verdict::duplicate_capture);
    append_repeat(out, v.has(Verdict::spurious) ? "Spurious retransmission" : "Retransmission",
                  copy ? 0 : v.original, cause_name(v.cause));
  }
  if (v.gap != 0) {
    out += "  [Gap ";
    append_decimal(out, v.gap);
    out += ']';
  }
  for (const Lost where :
       {Lost::before_capture, Lost::after_capture, Lost::by_capture, Lost::trimmed, Lost::undecided}) {
    const std::uint32_t count = v.lost(where);
    if (count == 0) continue;
    out += "  [";
    out += lost_words(where);
    if (count > 1) {
      out += ": ";
      append_decimal(out, count);
    }
    out += ']';
  }
  for (const FlagMark& row : flag_marks) {
    if (!v.has(row.flag)) continue;
    out += "  [";
    out += row.text;
    out += ']';
  }
}

}  // namespace roce::analyze
