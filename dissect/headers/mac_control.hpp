// SPDX-License-Identifier: Apache-2.0
// MAC control frames: PAUSE (IEEE 802.3, Annex 31B) and priority flow control (Annex 31D).
// Wireshark calls PFC "CBFC". Times are in quanta of 512 bit times of the link; 0 resumes.
#pragma once

#include <array>

#include "dissect/header_id.hpp"
#include "dissect/headers/field_kinds.hpp"

namespace roce::dissect {

inline constexpr std::uint16_t mac_control_pause = 0x0001;  ///< IEEE 802.3, Annex 31A, table 31A-1
inline constexpr std::uint16_t mac_control_pfc = 0x0101;
inline constexpr std::array<std::uint8_t, 6> mac_control_destination{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};

inline constexpr ValueName mac_control_opcode_names[] = {
    {0x0001, "PAUSE"},    {0x0002, "GATE"},         {0x0003, "REPORT"}, {0x0004, "REGISTER_REQ"},
    {0x0005, "REGISTER"}, {0x0006, "REGISTER_ACK"}, {0x0101, "PFC"},    {0xfffe, "Extension"}};

/// A MAC control frame of another opcode. IEEE 802.3, 31.4.
struct MacControl {
  static constexpr HeaderId id = HeaderId::mac_control;
  static constexpr std::string_view name = "macc", title = "MAC Control";
  static constexpr std::size_t size = 2;
  static constexpr Field opcode{"macc.opcode",           "Opcode", 0, 16, Display::hex, "IEEE 802.3, 31A",
                                mac_control_opcode_names};
  static constexpr std::array fields{opcode};
};

/// IEEE 802.3, 31B.
struct MacPause {
  static constexpr HeaderId id = HeaderId::mac_pause;
  static constexpr std::string_view name = "macc", title = "MAC Control: PAUSE";
  static constexpr std::size_t size = 4;
  static constexpr Field opcode = MacControl::opcode;
  static constexpr Field pause_time{"macc.pause_time", "Pause Time (quanta)", 16, 16,
                                    Display::decimal,  "IEEE 802.3, 31B.2"};
  static constexpr std::array fields{opcode, pause_time};
};

/// IEEE 802.3, 31D.
struct MacPfc {
  static constexpr HeaderId id = HeaderId::mac_pfc;
  static constexpr std::string_view name = "macc", title = "MAC Control: Priority Flow Control";
  static constexpr std::size_t size = 20;
  static constexpr std::string_view at = "IEEE 802.3, 31D.2";
  static constexpr Field opcode = MacControl::opcode;
  /// The high byte is reserved and must be 0.
  static constexpr Field enable_vector{"macc.cbfc.enbv", "Class Enable Vector", 16, 16, Display::hex, at};
  static constexpr std::array fields{
      opcode,
      enable_vector,
      detail::flag_field("macc.cbfc.enbv.c0", "Priority 0 enabled", 31, at),
      detail::flag_field("macc.cbfc.enbv.c1", "Priority 1 enabled", 30, at),
      detail::flag_field("macc.cbfc.enbv.c2", "Priority 2 enabled", 29, at),
      detail::flag_field("macc.cbfc.enbv.c3", "Priority 3 enabled", 28, at),
      detail::flag_field("macc.cbfc.enbv.c4", "Priority 4 enabled", 27, at),
      detail::flag_field("macc.cbfc.enbv.c5", "Priority 5 enabled", 26, at),
      detail::flag_field("macc.cbfc.enbv.c6", "Priority 6 enabled", 25, at),
      detail::flag_field("macc.cbfc.enbv.c7", "Priority 7 enabled", 24, at),
      detail::decimal_field("macc.cbfc.pause_time.c0", "Priority 0 time (quanta)", 32, 16, at),
      detail::decimal_field("macc.cbfc.pause_time.c1", "Priority 1 time (quanta)", 48, 16, at),
      detail::decimal_field("macc.cbfc.pause_time.c2", "Priority 2 time (quanta)", 64, 16, at),
      detail::decimal_field("macc.cbfc.pause_time.c3", "Priority 3 time (quanta)", 80, 16, at),
      detail::decimal_field("macc.cbfc.pause_time.c4", "Priority 4 time (quanta)", 96, 16, at),
      detail::decimal_field("macc.cbfc.pause_time.c5", "Priority 5 time (quanta)", 112, 16, at),
      detail::decimal_field("macc.cbfc.pause_time.c6", "Priority 6 time (quanta)", 128, 16, at),
      detail::decimal_field("macc.cbfc.pause_time.c7", "Priority 7 time (quanta)", 144, 16, at)};
  /// Bit p of the result: priority p is paused or resumed by this frame. `header` holds `size` bytes.
  [[nodiscard]] static constexpr std::uint8_t priorities(const std::uint8_t* header) noexcept {
    return header[3];
  }
  /// Quanta for priority 0-7; meaningful only if its bit is set.
  [[nodiscard]] static constexpr std::uint16_t quanta(const std::uint8_t* header,
                                                      unsigned priority) noexcept {
    return load_be16(header + 4 + 2 * (priority & 7U));
  }
};

}  // namespace roce::dissect
