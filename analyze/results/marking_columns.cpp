// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/marking_columns.hpp"

#include "analyze/base/address_text.hpp"

namespace roce::analyze {
namespace {

using M = const Marking&;

std::string end_text(const std::optional<dissect::IpAddress>& end) {
  return end ? address_text(*end) : std::string("any");
}

constexpr MarkingColumn columns_of_markings[] = {
    {"class", "class", "traffic class: data, ack, response, atomic, cm, cnp or other", false, 0, nullptr,
     [](M m) { return std::string(traffic_class_name(m.traffic_class)); }, nullptr},
    {"src", "source", "source address", false, 0, nullptr, [](M m) { return end_text(m.src); }, nullptr},
    {"dst", "destination", "destination address", false, 0, nullptr, [](M m) { return end_text(m.dst); },
     nullptr},
    {"dscp", "DSCP", "DSCP, 0 to 63", true, 0, [](M m) { return static_cast<double>(m.dscp); },
     [](M m) { return std::to_string(m.dscp); }, nullptr},
    {"pcp", "PCP", "priority in the VLAN tag; empty: untagged", true, 0,
     [](M m) { return m.pcp ? static_cast<double>(*m.pcp) : -1; },
     [](M m) { return m.pcp ? std::to_string(*m.pcp) : std::string(); }, nullptr},
    {"ecn", "ECN", "ECN codepoint", false, 0, nullptr, [](M m) { return std::string(ecn_text(m.ecn)); },
     [](M m) { return std::string(ecn_key(m.ecn)); }},
    {"packets", "packets", "packets", true, 0, [](M m) { return static_cast<double>(m.packets); },
     [](M m) { return std::to_string(m.packets); }, nullptr},
    {"flows", "flows", "flows with such packets", true, 1, [](M m) { return static_cast<double>(m.flows); },
     [](M m) { return std::to_string(m.flows); }, nullptr},
    {"first_packet", "first packet", "number of the first packet", true, 2,
     [](M m) { return -static_cast<double>(m.first_packet); },
     [](M m) { return std::to_string(m.first_packet); }, nullptr},
    {"expected", "expected", "markings that the policy intends; empty without a policy", false, 3, nullptr,
     [](M m) { return m.expected; }, nullptr},
    {"verdict", "verdict", "ok or violation; empty without a policy", false, 1, nullptr,
     [](M m) { return m.verdict; }, nullptr},
};

}  // namespace

std::span<const MarkingColumn> marking_columns() noexcept {
  return columns_of_markings;
}

}  // namespace roce::analyze
