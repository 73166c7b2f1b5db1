// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/not_judged.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/units.hpp"
#include "analyze/policy/marking_policy.hpp"

namespace roce::analyze {
namespace {

/// Whether the policy has a rule for any packet.
bool asks(const PolicyModel& model) {
  constexpr unsigned both = roce_v1_allowed | roce_v2_allowed;
  const auto some = [](const auto& marks) { return marks && !marks->empty(); };
  return std::any_of(model.classes.begin(), model.classes.end(), some) || !model.rules.empty() ||
         !model.traffic_class.empty() || model.addresses || model.p_keys || model.pcp_from_tos ||
         model.pcp_from_dscp || model.versions != both;
}

/// The classes of the policy that the capture lacks: "ack, cnp".
std::string classes_unseen(const Snapshot& snapshot) {
  std::string text;
  const auto& classes = snapshot.policy->model().classes;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (!classes[i] || classes[i]->empty()) continue;
    const auto of = static_cast<TrafficClass>(i);
    // READ responses are judged as data where they have no table of their own.
    const bool with_responses =
        of == TrafficClass::data && !classes[static_cast<std::size_t>(TrafficClass::response)];
    const bool seen =
        std::any_of(snapshot.markings.rows.begin(), snapshot.markings.rows.end(), [&](const Marking& row) {
          return row.traffic_class == of || (with_responses && row.traffic_class == TrafficClass::response);
        });
    if (!seen) text += fmt::format("{}{}", text.empty() ? "" : ", ", traffic_class_name(of));
  }
  return text;
}

}  // namespace

std::vector<std::string> not_judged(const Snapshot& snapshot) {
  std::vector<std::string> texts;
  if (!snapshot.policy) return texts;
  if (snapshot.totals.roce_packets == 0) {
    texts.emplace_back("there are no RoCE packets");
    return texts;
  }
  if (!asks(snapshot.policy->model())) texts.emplace_back("the policy has no rule for any packet");
  if (const std::string unseen = classes_unseen(snapshot); !unseen.empty())
    texts.push_back(fmt::format("no packet of the policy's class {}", unseen));
  if (const std::uint64_t others = snapshot.markings.others; others != 0)
    texts.push_back(packets_text(others) + " of flows with more markings than are kept per flow");
  if (const std::uint64_t dropped = snapshot.flow_points_dropped; dropped != 0)
    texts.push_back(packets_text(dropped) + " of flows beyond the limit of flows compared by capture point");
  return texts;
}

}  // namespace roce::analyze
