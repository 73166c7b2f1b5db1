// SPDX-License-Identifier: Apache-2.0
// DCBX: the data center bridging settings that ports announce in LLDP frames, of IEEE 802.1Q (clause 38,
// Annex D) and of its precursor CEE ("DCBX 1.01").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analyze/base/sightings.hpp"
#include "analyze/link/link_view.hpp"
#include "analyze/link/priority_map.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissection.hpp"

namespace roce::analyze {

/// Enhanced transmission selection (ETS): IEEE 802.1Q, D.2.8 and D.2.9; DCBX 1.01, 3.1.4.
struct DcbxEts {
  bool willing = false;                     ///< configuration only
  std::uint8_t max_classes = 0;             ///< as on the wire: 0 means 8 in the IEEE TLV
  std::array<std::uint8_t, 8> class_of{};   ///< by priority: traffic class; CEE: priority group
  std::array<std::uint8_t, 8> bandwidth{};  ///< percent, by class
  std::array<std::uint8_t, 8> selection{};  ///< transmission selection algorithm by class; 0 in CEE
  [[nodiscard]] bool operator==(const DcbxEts&) const noexcept = default;
};

/// PFC configuration: IEEE 802.1Q, D.2.10; DCBX 1.01, 3.1.5.
struct DcbxPfc {
  bool willing = false;
  bool mbc = false;              ///< MACsec bypass capability; IEEE only
  bool in_use = true;            ///< CEE: the feature is enabled and has no error
  std::uint8_t max_classes = 0;  ///< number of PFC traffic classes that the port supports
  std::uint8_t enabled = 0;      ///< bit p: PFC is enabled for priority p
  [[nodiscard]] bool operator==(const DcbxPfc&) const noexcept = default;
};

/// Application priority: IEEE 802.1Q, D.2.11; DCBX 1.01, 3.1.6, whose two selectors become 1 and 4 of IEEE.
struct DcbxApplication {
  static constexpr std::uint8_t ethertype = 1, tcp = 2, udp = 3, tcp_or_udp = 4, dscp = 5;
  std::uint8_t selector = 0;
  std::uint16_t protocol = 0;
  std::uint8_t priorities = 0;  ///< bit p: priority p
  [[nodiscard]] bool operator==(const DcbxApplication&) const noexcept = default;
  /// RoCE v2 (UDP port 4791) or RoCE v1 (ethertype 0x8915).
  [[nodiscard]] bool is_roce() const noexcept;
};

/// All settings of one version of DCBX.
struct DcbxSettings {
  std::optional<DcbxEts> ets;
  std::optional<DcbxEts> recommended;
  std::optional<DcbxPfc> pfc;
  std::vector<DcbxApplication> applications;
  [[nodiscard]] bool any() const noexcept { return ets || recommended || pfc || !applications.empty(); }
  [[nodiscard]] bool operator==(const DcbxSettings&) const = default;
};

/// A port as described by its LLDP frames at one capture point.
struct DcbxPort {
  static constexpr std::size_t changes_kept = 8;
  struct Change {
    std::uint64_t packet = 0;
    std::int64_t time_ns = 0;
    std::string what;  ///< "PFC 0x08 -> 0x18; ..."
  };

  std::uint64_t mac = 0;  ///< source, in the low 48 bits
  std::uint16_t point = 0;
  std::string chassis;  ///< MAC or IP address, name, or hexadecimal digits; untrusted, may hold any bytes
  std::string port;
  std::string system;                      ///< name
  std::string description;                 ///< of the port
  std::uint16_t enabled_capabilities = 0;  ///< bits of IEEE 802.1AB, 8.5.8; 0: not told
  std::uint16_t ttl = 0;    ///< seconds, of the last frame; 0: the port withdrew its announcements
  bool incomplete = false;  ///< the last frame could not be read to its end: settings may be missing
  DcbxSettings ieee;        ///< of the last frame
  DcbxSettings cee;
  Sightings frames;
  std::uint64_t last_packet = 0;
  std::uint64_t changed = 0;             ///< frames with other settings than the one before
  std::uint64_t last_change_packet = 0;  ///< 0: never changed
  std::vector<Change> changes;           ///< the first ones
  /// Of `changed`, those back to the settings before: two LLDP agents with the same identity alternate.
  std::uint64_t changed_back = 0;
  DcbxSettings ieee_before;  ///< before the last change
  DcbxSettings cee_before;

  /// The settings in effect: IEEE if both versions are announced.
  [[nodiscard]] const DcbxSettings& settings() const noexcept { return ieee.any() ? ieee : cee; }
  [[nodiscard]] bool announces() const noexcept { return ieee.any() || cee.any(); }
  /// Whether its system says that it forwards frames or packets of others: a bridge or a router.
  [[nodiscard]] bool forwards() const noexcept {
    constexpr unsigned bridge = 1U << 2U, router = 1U << 4U;
    return (enabled_capabilities & (bridge | router)) != 0;
  }
  /// Whether the port withdrew its announcements (TTL 0).
  [[nodiscard]] bool withdrawn() const noexcept { return ttl == 0; }
};

struct DcbxTable {
  std::vector<DcbxPort> ports;       ///< by first frame
  std::uint64_t dropped_frames = 0;  ///< LLDP frames of ports beyond the limit
};

/// The end whose settings both ends use by IEEE 802.1Q, 38.4.
enum class DcbxWinner : std::uint8_t { same, a, b, neither };
/// PFC is symmetric: a willing end uses the peer's settings; if both are willing, the lower MAC address wins.
/// `a` and `b` must be of the same version of DCBX.
[[nodiscard]] DcbxWinner pfc_winner(const DcbxPfc& a, std::uint64_t mac_a, const DcbxPfc& b,
                                    std::uint64_t mac_b) noexcept;

/// Two ports that are the ends of one link: only their two MAC addresses send LLDP frames at the capture
/// point. If an address has several LLDP agents, the one that still announces something and was seen last
/// counts.
struct DcbxLink {
  std::size_t a = 0;  ///< index into DcbxTable::ports
  std::size_t b = 0;
};
[[nodiscard]] std::vector<DcbxLink> links_of(const DcbxTable& table);

/// RoCE version in an announcement: v1 by its ethertype (0x8915), v2 by its UDP port (4791).
enum class PacketVersion : std::uint8_t { any, v1, v2 };
/// Priorities announced for RoCE of that version; bit p: priority p.
[[nodiscard]] std::uint8_t announced_roce_priorities(const DcbxSettings& settings,
                                                     PacketVersion version = PacketVersion::any) noexcept;
/// `map` changed by the DSCP entries of `settings` (selector 5).
[[nodiscard]] PriorityMap with_announced_dscps(PriorityMap map, const DcbxSettings& settings) noexcept;

/// Collects the ports from LLDP frames; `port_limit` of them at most. Not thread-safe.
class DcbxTracker {
 public:
  explicit DcbxTracker(std::size_t port_limit = 1024) : port_limit_(port_limit) {}
  /// Adds a dissected LLDP frame. `number`: the frame's, from 1.
  void see(std::uint64_t number, const capture::Frame& frame, const dissect::Dissection& dissection);
  /// The result; the tracker must not be used afterwards.
  [[nodiscard]] DcbxTable finish();

 private:
  using Key = std::tuple<std::uint16_t, std::uint64_t, std::string, std::string>;
  std::size_t port_limit_;
  DcbxTable table_;
  std::map<Key, std::size_t> places_;
};

/// "3, 4" for bits 3 and 4; "none" for 0.
[[nodiscard]] std::string priorities_text(std::uint8_t bits);

}  // namespace roce::analyze
