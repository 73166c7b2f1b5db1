// SPDX-License-Identifier: Apache-2.0
#include "analyze/policy/policy_links.hpp"

#include <fmt/format.h>

#include <string_view>

namespace roce::analyze {
namespace {

std::uint8_t bits_of(const PrioritySet& set) noexcept {
  unsigned bits = 0;
  for (unsigned p = 0; p < PrioritySet::limit; ++p) bits |= set.contains(p) ? 1U << p : 0U;
  return static_cast<std::uint8_t>(bits);
}

}  // namespace

PriorityMap priority_map_of(const PolicyModel& policy) noexcept {
  PriorityMap map;
  map.trust = policy.trust == Trust::dscp ? PriorityMap::Trust::dscp : PriorityMap::Trust::tag;
  for (std::uint8_t dscp = 0; dscp < map.by_dscp.size(); ++dscp)
    map.by_dscp[dscp] = priority_of_dscp(policy, dscp);
  return map;
}

std::optional<std::uint8_t> lossless_of(const PolicyModel& policy) noexcept {
  return policy.lossless ? std::optional(bits_of(*policy.lossless)) : std::nullopt;
}

std::optional<std::uint8_t> data_priorities_of(const PolicyModel& policy) noexcept {
  const std::optional<MarkRule>& data = policy.classes[static_cast<std::size_t>(TrafficClass::data)];
  if (!data) return std::nullopt;
  if (data->priority) return bits_of(*data->priority);
  if (policy.trust == Trust::pcp) return data->pcp ? std::optional(bits_of(*data->pcp)) : std::nullopt;
  if (!data->dscp) return std::nullopt;
  unsigned bits = 0;
  for (std::uint8_t dscp = 0; dscp < DscpSet::limit; ++dscp) {
    if (data->dscp->contains(dscp)) bits |= 1U << priority_of_dscp(policy, dscp);
  }
  return static_cast<std::uint8_t>(bits);
}

std::vector<std::string> announced_against(const PolicyModel& policy, const DcbxSettings& settings) {
  std::vector<std::string> texts;
  if (const auto lossless = lossless_of(policy); lossless && settings.pfc) {
    const std::uint8_t enabled = settings.pfc->in_use ? settings.pfc->enabled : std::uint8_t{0};
    if (enabled != *lossless) {
      texts.push_back(
          fmt::format("PFC on {} instead of {}", priorities_text(enabled), priorities_text(*lossless)));
    }
  }
  struct Version {
    PacketVersion version;
    std::uint8_t allowed;
    std::string_view name;
  };
  constexpr Version versions[] = {{PacketVersion::v2, roce_v2_allowed, "RoCE"},
                                  {PacketVersion::v1, roce_v1_allowed, "RoCE v1"}};
  for (const Version& each : versions) {
    // For a version that the policy does not allow, priorities do not matter.
    if ((policy.versions & each.allowed) == 0) continue;
    const std::uint8_t roce = announced_roce_priorities(settings, each.version);
    if (const auto wanted = data_priorities_of(policy); wanted && (roce & ~*wanted) != 0) {
      texts.push_back(
          fmt::format("{} on {} instead of {}", each.name, priorities_text(roce), priorities_text(*wanted)));
    }
  }
  // The DSCP map does not matter if ports do not trust the DSCP.
  if (policy.trust != Trust::dscp) return texts;
  const PriorityMap announced = with_announced_dscps(priority_map_of(policy), settings);
  for (std::uint8_t dscp = 0; dscp < announced.by_dscp.size(); ++dscp) {
    const std::uint8_t wanted = priority_of_dscp(policy, dscp);
    if (announced.by_dscp[dscp] != wanted)
      texts.push_back(fmt::format("DSCP {} on {} instead of {}", dscp, announced.by_dscp[dscp], wanted));
  }
  return texts;
}

}  // namespace roce::analyze
