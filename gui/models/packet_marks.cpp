// SPDX-License-Identifier: Apache-2.0
#include "gui/models/packet_marks.hpp"

#include <QtGlobal>
#include <array>

#include "dissect/opcode.hpp"

namespace roce::gui {

using analyze::PacketSummary;
using analyze::Verdict;

PacketMarks::PacketMarks(const PacketSummary& summary) noexcept {
  if (summary.has(PacketSummary::transport)) word_ = summary.opcode;
  set(transport, summary.has(PacketSummary::transport));
  set(ce, summary.has(PacketSummary::ce));
  set(icrc_wrong, summary.has(PacketSummary::icrc_wrong));
  set(nak, summary.has(PacketSummary::nak));
  set(rnr_nak, summary.has(PacketSummary::rnr_nak));
  set(management, summary.has(PacketSummary::management));
  set(link_control, summary.has(PacketSummary::link_control));
}

PacketMarks PacketMarks::with(const Verdict& v) const noexcept {
  constexpr std::uint64_t of_glance = ((std::uint64_t{1} << judged) - 1) | std::uint64_t{1} << refused;
  PacketMarks all(word_ & of_glance);
  constexpr std::array<std::pair<Verdict::Flag, Bit>, 13> flags{{
      {Verdict::retransmission, retransmission},
      {Verdict::spurious, spurious},
      {Verdict::duplicate_capture, duplicate_capture},
      {Verdict::duplicate_network, duplicate_network},
      {Verdict::out_of_order, out_of_order},
      {Verdict::ack_unseen, ack_unseen},
      {Verdict::illegal_sequence, illegal_sequence},
      {Verdict::wrong_length, wrong_length},
      {Verdict::msn_backwards, msn_backwards},
      {Verdict::source_mac_changed, source_mac_changed},
      {Verdict::lost_between_points, lost_between_points},
      {Verdict::time_backwards, time_backwards},
      {Verdict::b_to_a, b_to_a},
  }};
  all.set(judged, true);
  for (const auto& [flag, bit] : flags) all.set(bit, v.has(flag));
  all.set(lost_before, v.lost_before != 0);
  all.set(lost_after, v.lost_after > v.lost_itself());
  all.set(missed, v.missed != 0);
  all.set(missed_of_other, v.missed_of_other != 0);
  all.set(gap, v.gap != 0);
  all.word_ |= std::uint64_t{static_cast<std::uint8_t>(v.cause)} << cause;
  if (v.connection < connections) {
    all.set(connection_known, true);
    all.word_ |= std::uint64_t{v.connection} << connection;
  } else if (v.connection != Verdict::no_connection) {
    all.word_ |= std::uint64_t{connections} << connection;  // the id does not fit: verdict() has it
  }
  return all;
}

bool PacketMarks::is_cnp() const noexcept {
  return has(transport) && dissect::opcode_info(opcode()).operation == dissect::Operation::cnp;
}

PacketMeaning meaning_of(PacketMarks m) noexcept {
  using M = PacketMarks;
  if (m.has(M::nak) || m.has(M::icrc_wrong) || m.has(M::illegal_sequence) || m.has(M::wrong_length) ||
      m.has(M::msn_backwards) || m.has(M::refused)) {
    return PacketMeaning::error;
  }
  if (m.has(M::duplicate_capture)) return PacketMeaning::odd;
  if (m.has(M::retransmission)) return PacketMeaning::retransmission;
  if (m.any_lost()) return PacketMeaning::lost;
  if (m.has(M::rnr_nak)) return PacketMeaning::rnr;
  if (m.has(M::ce)) return PacketMeaning::congestion;
  if (m.is_cnp()) return PacketMeaning::cnp;
  if (m.has(M::duplicate_network) || m.has(M::out_of_order) || m.has(M::ack_unseen) ||
      m.has(M::source_mac_changed) || m.has(M::time_backwards)) {
    return PacketMeaning::odd;
  }
  if (m.has(M::management) || m.has(M::link_control)) return PacketMeaning::control;
  return m.has(M::transport) ? PacketMeaning::plain : PacketMeaning::other;
}

const char* meaning_text(PacketMeaning meaning) noexcept {
  constexpr std::array<const char*, meaning_count> texts{
      QT_TRANSLATE_NOOP("PacketMeaning", "Ordinary packet"),
      QT_TRANSLATE_NOOP("PacketMeaning",
                        "NAK, refused connection, ICRC mismatch, illegal opcode sequence or wrong length"),
      QT_TRANSLATE_NOOP("PacketMeaning", "Retransmission"),
      QT_TRANSLATE_NOOP("PacketMeaning", "Indicates packet loss"),
      QT_TRANSLATE_NOOP("PacketMeaning", "RNR NAK: receiver not ready"),
      QT_TRANSLATE_NOOP("PacketMeaning", "Congestion experienced (CE)"),
      QT_TRANSLATE_NOOP("PacketMeaning", "Congestion notification (CNP)"),
      QT_TRANSLATE_NOOP("PacketMeaning", "Duplicate, out of order or other anomaly"),
      QT_TRANSLATE_NOOP("PacketMeaning", "Connection management or link control"),
      QT_TRANSLATE_NOOP("PacketMeaning", "Not RoCE"),
  };
  return texts[static_cast<std::size_t>(meaning)];
}

}  // namespace roce::gui
