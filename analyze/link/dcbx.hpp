// SPDX-License-Identifier: Apache-2.0
// What ports announce of data center bridging in their LLDP frames: the DCBX of IEEE 802.1Q (clause 38,
// Annex D) and its precursor CEE ("DCBX 1.01").
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

/// Enhanced transmission selection: IEEE 802.1Q, D.2.8 and D.2.9; DCBX 1.01, 3.1.4.
struct DcbxEts {
  bool willing = false;                     ///< configuration only
  std::uint8_t max_classes = 0;             ///< as on the wire: 0 means 8 in IEEE's TLV
  std::array<std::uint8_t, 8> class_of{};   ///< by priority: traffic class, or CEE's priority group
  std::array<std::uint8_t, 8> bandwidth{};  ///< percent, by class
  std::array<std::uint8_t, 8> selection{};  ///< algorithm by class; 0 in CEE
  [[nodiscard]] bool operator==(const DcbxEts&) const noexcept = default;
};

/// IEEE 802.1Q, D.2.10; DCBX 1.01, 3.1.5.
struct DcbxPfc {
  bool willing = false;
  bool mbc = false;              ///< MACsec bypass capability; IEEE only
  bool in_use = true;            ///< CEE: the feature is enabled and in no error
  std::uint8_t max_classes = 0;  ///< how many the port can do at once
  std::uint8_t enabled = 0;      ///< bit p: priority p is lossless
  [[nodiscard]] bool operator==(const DcbxPfc&) const noexcept = default;
};

/// IEEE 802.1Q, D.2.11; DCBX 1.01, 3.1.6, whose two selectors are taken for IEEE's 1 and 4.
struct DcbxApplication {
  static constexpr std::uint8_t ethertype = 1, tcp = 2, udp = 3, tcp_or_udp = 4, dscp = 5;
  std::uint8_t selector = 0;
  std::uint16_t protocol = 0;
  std::uint8_t priorities = 0;  ///< bit p: priority p
  [[nodiscard]] bool operator==(const DcbxApplication&) const noexcept = default;
  /// RoCE v2 by its UDP port, or RoCE v1 by its ethertype.
  [[nodiscard]] bool is_roce() const noexcept;
};

/// All that one version of DCBX says.
struct DcbxSettings {
  std::optional<DcbxEts> ets;
  std::optional<DcbxEts> recommended;
  std::optional<DcbxPfc> pfc;
  std::vector<DcbxApplication> applications;
  [[nodiscard]] bool any() const noexcept { return ets || recommended || pfc || !applications.empty(); }
  [[nodiscard]] bool operator==(const DcbxSettings&) const = default;
};

/// A port as its LLDP frames describe it, at one capture point.
struct DcbxPort {
  static constexpr std::size_t changes_kept = 8;
  struct Change {
    std::uint64_t packet = 0;
    std::int64_t time_ns = 0;
    std::string what;  ///< "PFC 0x08 -> 0x18; ..."
  };

  std::uint64_t mac = 0;  ///< source, in the low 48 bits
  std::uint16_t point = 0;
  std::string chassis;  ///< MAC or IP address, name, or hexadecimal digits: may hold any bytes
  std::string port;
  std::string system;       ///< name
  std::string description;  ///< of the port
  std::uint16_t ttl = 0;    ///< seconds, of the last frame; 0: it withdrew all it had said
  bool incomplete = false;  ///< the last frame could not be read to its end: what is missing may be there
  DcbxSettings ieee;        ///< of the last frame
  DcbxSettings cee;
  Sightings frames;
  std::uint64_t last_packet = 0;
  std::uint64_t changed = 0;             ///< frames that say something else than the one before
  std::uint64_t last_change_packet = 0;  ///< 0: never changed
  std::vector<Change> changes;           ///< the first ones
  /// Of `changed`, those back to what had been said just before: two agents under one name take turns.
  std::uint64_t changed_back = 0;
  DcbxSettings ieee_before;  ///< as they were before the last change
  DcbxSettings cee_before;

  /// What counts: IEEE's where there is both.
  [[nodiscard]] const DcbxSettings& settings() const noexcept { return ieee.any() ? ieee : cee; }
  [[nodiscard]] bool announces() const noexcept { return ieee.any() || cee.any(); }
  /// Whether it took leave, so that what it said is the past.
  [[nodiscard]] bool withdrawn() const noexcept { return ttl == 0; }
};

struct DcbxTable {
  std::vector<DcbxPort> ports;       ///< by first frame
  std::uint64_t dropped_frames = 0;  ///< of ports beyond the bound
};

/// Whose setting both ends use when they follow IEEE 802.1Q, 38.4.
enum class DcbxWinner : std::uint8_t { same, a, b, neither };
/// PFC is symmetric: a willing end takes the other's; of two willing ones the lower MAC address counts.
/// `a` and `b` have PFC settings of one version.
[[nodiscard]] DcbxWinner pfc_winner(const DcbxPfc& a, std::uint64_t mac_a, const DcbxPfc& b,
                                    std::uint64_t mac_b) noexcept;

/// Two ports that are the ends of one link: theirs are the only two MAC addresses that send LLDP frames at
/// their capture point. Of several agents behind one address that counts which still announces something and
/// was heard last.
struct DcbxLink {
  std::size_t a = 0;  ///< index into DcbxTable::ports
  std::size_t b = 0;
};
[[nodiscard]] std::vector<DcbxLink> links_of(const DcbxTable& table);

/// Which RoCE: an announcement names v1 by its ethertype (0x8915) and v2 by its UDP port (4791).
enum class PacketVersion : std::uint8_t { any, v1, v2 };
/// Priorities that are announced for RoCE of that version; bit p: priority p.
[[nodiscard]] std::uint8_t announced_roce_priorities(const DcbxSettings& settings,
                                                     PacketVersion version = PacketVersion::any) noexcept;
/// `map` with the DSCPs that `settings` announce a priority for (selector 5).
[[nodiscard]] PriorityMap with_announced_dscps(PriorityMap map, const DcbxSettings& settings) noexcept;

/// Reads LLDP frames. Not thread-safe.
class DcbxTracker {
 public:
  explicit DcbxTracker(std::size_t port_limit = 1024) : port_limit_(port_limit) {}
  /// A dissected LLDP frame.
  void see(std::uint64_t number, const capture::Frame& frame, const dissect::Dissection& dissection);
  [[nodiscard]] DcbxTable finish();

 private:
  using Key = std::tuple<std::uint16_t, std::uint64_t, std::string, std::string>;
  std::size_t port_limit_;
  DcbxTable table_;
  std::map<Key, std::size_t> places_;
};

/// "3, 4" of bits 3 and 4; "none".
[[nodiscard]] std::string priorities_text(std::uint8_t bits);

}  // namespace roce::analyze
