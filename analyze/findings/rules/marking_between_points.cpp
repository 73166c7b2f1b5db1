// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyze/connection/find_connection.hpp"
#include "analyze/findings/shared/marked_traffic.hpp"
#include "analyze/findings/shared/port_cases.hpp"
#include "analyze/results/capture_point_text.hpp"

namespace roce::analyze {
namespace {

constexpr auto not_ect_bits = static_cast<std::uint8_t>(dissect::Ecn::not_ect);
constexpr auto ce_bits = static_cast<std::uint8_t>(dissect::Ecn::ce);
constexpr std::int64_t slack_ns = 1'000'000;  // clocks of one file agree within this; packets need time
constexpr std::size_t listed_remarks = 12;    // flows that a filter names

using Ends = std::tuple<dissect::IpAddress, dissect::IpAddress, std::uint16_t>;

/// Copies at one point between two addresses.
struct Found {
  Proof proof;
  std::uint64_t of = 0;  ///< packets of these flows that the point shows
  std::set<std::uint64_t> flows;
  std::set<std::string> tests;
  std::set<std::string> marks;      ///< at this point
  std::set<std::string> marks_own;  ///< where the flows are followed
  std::set<std::uint16_t> followed;
  bool timed = true;
};

/// Whether the markings cannot come from the flow's own packets without re-marking; CE may be set by any
/// switch.
bool is_remarked(const std::vector<MarkRow>& own, const MarkRow& row) {
  const auto any = [&](auto&& test) {
    return std::any_of(own.begin(), own.end(), [&](const MarkRow& known) {
      return known.traffic_class == row.traffic_class && test(known.marks);
    });
  };
  if (!any([](const Marks&) { return true; })) return false;  // none of this class was seen there
  if (!any([&](const Marks& m) { return m.dscp == row.marks.dscp; })) return true;
  const bool both_tagged = row.marks.pcp && any([](const Marks& m) { return m.pcp.has_value(); });
  if (both_tagged && !any([&](const Marks& m) { return m.pcp == row.marks.pcp; })) return true;
  if (row.marks.ecn == ce_bits) return false;
  return !any([&](const Marks& m) { return (m.ecn == not_ect_bits) == (row.marks.ecn == not_ect_bits); });
}

std::string remark_text(const Marks& marks) {
  return fmt::format("{}, {}", label_text(marks, false), ecn_text(marks.ecn));
}

std::string test_of_copy(const MarkRow& row) {
  return fmt::format("{} && roce.ecn == {}", test_of(row), row.marks.ecn);
}

/// What the clock of `there` shows when the clock of `here` shows 0, in ns; nothing if unknown.
std::optional<std::int64_t> offset_of(const Snapshot& snapshot, std::uint16_t here, std::uint16_t there) {
  if (!of_several_files(snapshot.files, snapshot.interfaces, {here, there})) return 0;
  for (const ClockOffset& clock : snapshot.clocks) {
    if (clock.of == here && clock.ahead == there) return clock.offset_ns;
    if (clock.of == there && clock.ahead == here) return -clock.offset_ns;
  }
  return std::nullopt;
}

const Connection* connection_of(const Snapshot& snapshot, const Flow& flow) {
  return flow.connection ? find_connection(snapshot.connections, *flow.connection) : nullptr;
}

/// The point where the flow's connection is followed. Nothing if there are several.
std::optional<std::uint16_t> followed_at(const Snapshot& snapshot, const Flow& flow) {
  const Connection* connection = connection_of(snapshot, flow);
  if (connection == nullptr || connection->followed_points != 1 || connection->points.empty())
    return std::nullopt;
  return connection->points.front();
}

std::string joined(const std::set<std::string>& texts) {
  constexpr std::size_t most = 3;
  std::string all;
  std::size_t n = 0;
  for (const std::string& text : texts) {
    if (n == most) return all + fmt::format(" and {} more", texts.size() - most);
    all += fmt::format("{}{}", n++ == 0 ? "" : "; ", text);
  }
  return all;
}

std::string filter_of(const Ends& ends, const Found& found) {
  std::string test = found.flows.size() <= listed_remarks
                         ? fmt::format("roce.flow in {{{}}}", fmt::join(found.flows, ", "))
                         : fmt::format("roce.src == {} && roce.dst == {}", address_text(std::get<0>(ends)),
                                       address_text(std::get<1>(ends)));
  test += found.tests.size() == 1 ? " && " + *found.tests.begin()
                                  : fmt::format(" && (({}))", fmt::join(found.tests, ") || ("));
  return test + " && roce.analysis.duplicate_capture";
}

void compare_points(const Snapshot& snapshot, const Flow& flow, const FlowAtPoint& there,
                    std::map<Ends, Found>& all) {
  const std::optional<std::uint16_t> here = followed_at(snapshot, flow);
  if (!here || *here == there.point) return;
  const std::optional<std::int64_t> offset = offset_of(snapshot, *here, there.point);
  const std::vector<MarkRow> own = flow.marks();
  Found* found = nullptr;
  for (const MarkRow& row : there.otherwise) {
    if (row.traffic_class == TrafficClass::other || !is_remarked(own, row)) continue;
    // Packets that this point did not capture may have had these markings.
    if (offset && flow.any_time && row.first_time_ns != capture::no_time) {
      const std::int64_t at = row.first_time_ns - *offset;
      if (at < flow.first_time_ns - slack_ns || at > flow.last_time_ns + slack_ns) continue;
    }
    if (found == nullptr) {
      found = &all[{flow.key.src, flow.key.dst, there.point}];
      found->of += there.packets;
    }
    found->timed = found->timed && offset.has_value();
    found->flows.insert(flow.id);
    found->followed.insert(*here);
    found->proof.count += row.packets;
    found->proof.add_frame(row.first_packet);
    found->proof.add_time(row.first_time_ns);
    found->tests.insert(test_of_copy(row));
    found->marks.insert(remark_text(row.marks));
    for (const MarkRow& known : own) {
      if (known.traffic_class == row.traffic_class) found->marks_own.insert(remark_text(known.marks));
    }
  }
}

}  // namespace

void find_marking_between_points(const Snapshot& snapshot, FindingSink& sink) {
  std::map<Ends, Found> all;
  auto flow = snapshot.flows.begin();
  for (const FlowAtPoint& there : snapshot.flow_points) {
    if (there.otherwise.empty()) continue;
    while (flow != snapshot.flows.end() && flow->id < there.flow) ++flow;
    if (flow != snapshot.flows.end() && flow->id == there.flow) compare_points(snapshot, *flow, there, all);
  }
  std::vector<Finding> findings;
  for (const auto& [ends, found] : all) {
    const std::string point = point_name(snapshot.files, snapshot.interfaces, std::get<2>(ends));
    Finding finding = finding_of(
        Severity::warning,
        fmt::format("{} > {} at {}", address_text(std::get<0>(ends)), address_text(std::get<1>(ends)), point),
        found.proof);
    // Without a common clock the two points may have captured different parts.
    finding.confidence = found.timed ? 0.9 : 0.5;
    finding.explanation = fmt::format(
        "{} from {} to {} seen at {} {} marked {} there, but {} at {}, where {} followed: a device between "
        "the two points re-marks them.",
        share_text(found.proof.count, found.of), address_text(std::get<0>(ends)),
        address_text(std::get<1>(ends)), point, verb(found.proof.count, "is", "are"), joined(found.marks),
        joined(found.marks_own), point_name(snapshot.files, snapshot.interfaces, *found.followed.begin()),
        found.flows.size() == 1 ? "their flow is" : "their flows are");
    finding.advice = fmt::format(
        "A port between the points does not trust the markings it receives, or rewrites them: let it trust "
        "DSCP (mlnx_qos -i DEV --trust dscp on hosts, the port's trust mode on a switch) and look for a "
        "rewrite or policing rule in its class map. The command compare, with one file per point, shows each "
        "change. All such copies: {}",
        packets_command(snapshot, filter_of(ends, found)));
    findings.push_back(std::move(finding));
  }
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze
