// SPDX-License-Identifier: Apache-2.0
// A policy as in its file: docs/policy.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/flow/marking.hpp"
#include "analyze/policy/address_prefix.hpp"
#include "analyze/policy/number_set.hpp"

namespace roce::analyze {

/// The membership bit of a P_Key: set for full members, IBTA 10.9.1.1.
inline constexpr std::uint16_t p_key_membership = 0x8000;

/// The marking by which switches and NICs determine the priority.
enum class Trust : std::uint8_t { dscp, pcp };

/// RoCE versions, as bits.
enum RoceVersion : std::uint8_t { roce_v1_allowed = 1, roce_v2_allowed = 2 };

enum class VlanNeed : std::uint8_t {
  any,        ///< tagged or not
  required,   ///< tagged, including a priority tag (VLAN 0)
  forbidden,  ///< untagged
  one_of,     ///< tagged with one of `ids`
};
struct VlanRule {
  VlanNeed need = VlanNeed::any;
  VlanSet ids;  ///< of VlanNeed::one_of
  [[nodiscard]] bool operator==(const VlanRule&) const = default;
};

/// Allowed markings; an absent one is not checked.
struct MarkRule {
  std::optional<DscpSet> dscp;
  std::optional<EcnSet> ecn;
  std::optional<PrioritySet> pcp;  ///< of tagged packets
  std::optional<VlanRule> vlan;
  std::optional<TtlSet> ttl;
  std::optional<PrioritySet> priority;  ///< to which a switch maps the packet, see Trust
  std::optional<bool> lossless;         ///< whether that priority must be lossless or must not

  [[nodiscard]] bool operator==(const MarkRule&) const = default;
  [[nodiscard]] bool empty() const { return *this == MarkRule{}; }
};

/// Classes of traffic, as bits: 1 << TrafficClass.
using TrafficClasses = std::uint8_t;
inline constexpr TrafficClasses all_traffic_classes = (1U << traffic_class_count) - 1;
[[nodiscard]] constexpr TrafficClasses class_bit(TrafficClass traffic_class) noexcept {
  return static_cast<TrafficClasses>(1U << static_cast<unsigned>(traffic_class));
}

struct QpRange {
  std::uint32_t first = 0, last = 0;
  [[nodiscard]] bool operator==(const QpRange&) const = default;
};

/// Markings for some endpoints or flows, instead of those of their class. An empty list matches everything.
struct FlowRule {
  std::string name;  ///< unique
  std::vector<AddressPrefix> src, dst;
  std::vector<std::uint16_t> p_keys;  ///< without the membership bit
  std::vector<QpRange> qps;           ///< destination queue pairs
  TrafficClasses classes = all_traffic_classes;
  MarkRule marks;

  [[nodiscard]] bool operator==(const FlowRule&) const = default;
};

/// A rule of the OFED file traffic_class; docs/policy.md describes how the driver applies it.
struct TrafficClassRule {
  std::optional<AddressPrefix> src, dst;  ///< both absent: the global value
  std::uint8_t tos = 0;                   ///< DSCP x 4 + ECN
  [[nodiscard]] bool operator==(const TrafficClassRule&) const = default;
};

struct PolicyModel {
  std::string name;
  std::string description;
  std::uint8_t versions = roce_v1_allowed | roce_v2_allowed;
  Trust trust = Trust::dscp;
  std::optional<PrioritySet> lossless;                           ///< priorities with PFC
  DscpSet trimmed_dscp;                                          ///< that switches give to what they trim
  std::optional<std::uint16_t> mrc_port;                         ///< of MRC, besides 4791
  std::array<std::optional<std::uint8_t>, 64> dscp_to_priority;  ///< absent: DSCP >> 3
  std::array<std::optional<MarkRule>, traffic_class_count> classes;
  std::vector<FlowRule> rules;
  std::vector<TrafficClassRule> traffic_class;
  std::optional<std::vector<AddressPrefix>> addresses;  ///< allowed to use RoCE
  std::optional<std::vector<std::uint16_t>> p_keys;     ///< without the membership bit
  bool pcp_from_tos = false;                            ///< PCP must be SL & 7, SL being TOS >> 5
  bool pcp_from_dscp = false;                           ///< PCP must be the priority of the DSCP

  [[nodiscard]] bool operator==(const PolicyModel&) const = default;
};

/// The priority that a DSCP maps to.
[[nodiscard]] inline std::uint8_t priority_of_dscp(const PolicyModel& model, std::uint8_t dscp) noexcept {
  return model.dscp_to_priority[dscp & 63U].value_or(static_cast<std::uint8_t>((dscp & 63U) >> 3U));
}

}  // namespace roce::analyze
