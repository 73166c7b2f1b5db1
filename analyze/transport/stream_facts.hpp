// SPDX-License-Identifier: Apache-2.0
// What the packets of one kind (requests or answers) of one space show by their IPv4 IDs. Internal to the
// tracker.
#pragma once

#include <cstdint>

#include "analyze/record/packet_record.hpp"
#include "capture/core/frame.hpp"

namespace roce::analyze {

/// Whether IPv4 IDs tell transmissions apart, and how often the capture shows everything twice. Only the
/// relations of the counts matter: before one is full all are halved.
struct StreamFacts {
  /// IDs are looked at once a single one, so none of the other counts is larger than this.
  static constexpr std::uint32_t full = 1U << 29U;
  /// So far ahead is a counter still that others share. Numbers at random are as near once in sixteen times.
  static constexpr unsigned little = 0x1000;
  std::uint32_t id_forward = 0;   ///< ID a little above the one before
  std::uint32_t id_other = 0;     ///< any other change
  std::uint32_t id_constant = 0;  ///< no change
  std::uint32_t doubled = 0;
  std::uint32_t single = 0;
  std::uint16_t last_id = 0;
  bool known = false;  ///< last_id is
  bool data = false;   ///< some are answers with data: asked for again where they are missing
  std::int64_t last_ns = capture::no_time;  ///< of last_id

  void count_single() noexcept {
    if (++single >= full) [[unlikely]]
      halve();
  }
  void count_doubled() noexcept {
    if (++doubled >= full) halve();
  }
  void learn(const PacketBrief& r) noexcept {
    count_single();
    if (!r.has(PacketRecord::has_ip_id)) return;
    const auto step = static_cast<std::uint16_t>(r.ip_id - last_id);
    if (known) [[likely]] {
      ++(step == 0 ? id_constant : step < little ? id_forward : id_other);
    } else {
      known = true;
    }
    last_id = r.ip_id;
    last_ns = r.time_ns;
  }
  /// IDs differ from packet to packet, so equal IDs mean one transmission.
  [[nodiscard]] bool ids_tell(const PacketBrief& r) const noexcept {
    if (!r.has(PacketRecord::has_ip_id)) return false;
    const std::uint32_t changes = id_forward + id_other;
    if (changes + id_constant < 4) return r.ip_id != 0 || changes > 0;
    return changes > id_constant;
  }
  /// IDs rise in the order of sending.
  [[nodiscard]] bool ids_rise(const PacketBrief& r) const noexcept {
    return r.has(PacketRecord::has_ip_id) && id_forward >= 4 &&
           id_forward > 8 * (std::uint64_t{id_other} + id_constant);
  }
  /// Its ID was given before that of the last one.
  [[nodiscard]] bool is_behind(const PacketBrief& r) const noexcept {
    return static_cast<std::uint16_t>(r.ip_id - last_id) >= 0x8000U && ids_rise(r);
  }

 private:
  /// What happened at all stays above 0.
  void halve() noexcept {
    for (std::uint32_t* count : {&id_forward, &id_other, &id_constant, &doubled, &single})
      *count -= *count / 2;
  }
};

}  // namespace roce::analyze
