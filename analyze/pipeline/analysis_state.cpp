// SPDX-License-Identifier: Apache-2.0
#include "analyze/pipeline/analysis_state.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analyze/results/capture_point_text.hpp"
#include "analyze/results/settle_losses.hpp"
#include "analyze/results/unpaired_connections.hpp"

namespace roce::analyze {

namespace {

/// Of several flows with one key, whose queue pair number was used again, the last that had begun by then.
void give_outer_marks(const OuterCounts& outer, std::vector<Flow>& flows) {
  if (outer.rows().empty()) return;
  std::map<FlowKey::Words, std::vector<Flow*>> by_key;
  for (Flow& flow : flows) by_key[std::bit_cast<FlowKey::Words>(flow.key)].push_back(&flow);
  for (const OuterCounts::Row& row : outer.rows()) {
    const auto found = by_key.find(std::bit_cast<FlowKey::Words>(row.flow));
    if (found == by_key.end()) continue;
    const std::vector<Flow*>& all = found->second;
    const auto later = std::find_if(all.begin() + 1, all.end(), [&](const Flow* flow) {
      return flow->first_packet() > row.first_packet;
    });
    (*std::prev(later))->outer_to_change().push_back(row);
  }
}

}  // namespace

AnalysisState::AnalysisState(const AnalysisOptions& analysis, bool shows_copies,
                             LinkFollower::SpeedOf speed_of)
    : options(analysis),
      tracker({analysis.flow_limit, analysis.verdicts, analysis.short_way, shows_copies,
               analysis.dissecting.trimmed_dscps}),
      managers(analysis.exchange_limit),
      idle(analysis.idle_limit),
      links(analysis, std::move(speed_of)) {}

void AnalysisState::follow_ordered(bool all) {
  TimeOrder::Waiting next;
  while (order.pop(next, all)) tracker.track(next.record, next.number);
}

std::shared_ptr<Snapshot> conclude(AnalysisState&& followed, SourceFacts&& facts) {
  const AnalysisOptions& options = followed.options;
  Totals& totals = followed.totals;
  CmTracker& managers = followed.managers;
  auto snapshot = std::make_shared<Snapshot>();
  followed.follow_ordered(true);
  const std::optional<std::int64_t> end_ns =
      totals.any_time ? std::optional(totals.last_time_ns) : std::nullopt;
  Tracker::Result result = followed.tracker.finish(std::max(end_ns, options.known_end_ns));
  totals.take_out(result.not_roce);
  totals.take_as_trimmed(result.trimmed);
  totals.diagnostics.add(DiagnosticId::flows_evicted, result.departed.flows - result.departed.idle_flows);
  totals.diagnostics.add(DiagnosticId::flows_retired, result.departed.idle_flows);
  totals.diagnostics.add(DiagnosticId::incidents_dropped, result.incidents_dropped);
  totals.diagnostics.add(DiagnosticId::clock_stepped, facts.clock_steps.count());
  snapshot->interrupted = (facts.interrupted && !options.live) || options.known_interrupted;
  snapshot->stop_reason = options.known_interrupted ? options.known_stop_reason : facts.stop_reason;
  if (snapshot->interrupted) totals.diagnostics.add(stop_diagnostic(snapshot->stop_reason));
  if (options.known != nullptr)
    totals.diagnostics.add(DiagnosticId::verdicts_not_kept, options.known->lost());
  const std::vector<std::string> clocks = clock_texts(result.clocks, facts.files, facts.interfaces);
  const std::vector<std::string> copies = copy_texts(result.connections, facts.files, facts.interfaces);
  totals.diagnostics.add(DiagnosticId::several_points, copies.size());
  totals.diagnostics.add(DiagnosticId::clocks_differ, clocks.size());
  for (Connection& connection : result.connections) {
    const bool split = connection.split && of_several_files(facts.files, facts.interfaces, connection.points);
    connection.split = split || connection.answers_first;
    if (connection.split) totals.diagnostics.add(DiagnosticId::order_by_clocks);
  }
  snapshot->clocks = std::move(result.clocks);
  snapshot->icrc_checked = options.check_icrc;
  snapshot->trimmed_dscps = options.dissecting.trimmed_dscps;
  snapshot->frames_read = followed.frames;
  if (facts.any_time) snapshot->first_read_ns = facts.first_time_ns;
  snapshot->skipped_packets = facts.statistics.skipped;
  snapshot->filter = options.filter_text;
  snapshot->same_packets = options.same_packets;
  snapshot->files = std::move(facts.files);
  snapshot->interfaces = std::move(facts.interfaces);
  snapshot->evicted_flows = result.departed.flows;
  snapshot->evicted_packets = result.departed.packets;
  snapshot->departed = result.departed;
  snapshot->strays = std::move(result.strays);
  snapshot->flows = std::move(result.flows);
  for (Flow& flow : snapshot->flows) {
    const dissect::Ulp agreed = managers.ulp_of(flow.key.dst, flow.key.dst_qp);
    if (agreed != dissect::Ulp::none) flow.upper = agreed;
  }
  give_outer_marks(followed.outer, snapshot->flows);
  snapshot->flow_points = followed.points.finish(snapshot->flows, result.departed.flows != 0);
  snapshot->flow_points_dropped = followed.points.dropped();
  snapshot->connections = std::move(result.connections);
  for (Connection& connection : snapshot->connections) {
    if (connection.cm) connection.cm = managers.place_of(*connection.cm);
  }
  snapshot->exchanges = managers.take_exchanges();
  for (Connection& connection : snapshot->connections) {
    if (connection.cm && connection.state != Connection::State::failed &&
        snapshot->exchanges[*connection.cm].state == CmExchange::State::disconnected) {
      connection.state = Connection::State::closed;
    }
  }
  leave_ends_open(*snapshot);
  settle_incidents(result.incidents, snapshot->connections);
  std::erase_if(result.incidents, [](const Incident& each) { return !each.selected; });
  snapshot->incidents = std::move(result.incidents);
  snapshot->incidents_dropped = result.incidents_dropped;
  snapshot->incidents_in_progress = result.incidents_in_progress;
  snapshot->series = std::move(result.series);
  snapshot->gaps = std::move(result.gaps);
  followed.links.publish(*snapshot, totals);
  if (followed.mrc.any()) snapshot->mrc = std::make_shared<const Mrc>(std::move(followed.mrc).finish());
  if (followed.exports.any()) {
    if (snapshot->mrc != nullptr) add_losses(*snapshot->mrc, result.lost_packets);
    snapshot->exports = std::move(followed.exports).finish(std::move(result.lost_packets));
    join_drops(snapshot->exports, std::move(result.perhaps_lost), false);  // what no proved loss explains
    totals.diagnostics.add(DiagnosticId::exports_dropped, snapshot->exports.beyond_limits());
  }
  snapshot->numbered = std::move(followed.numbered).finish();
  snapshot->mad_classes = followed.mad_classes;
  snapshot->markings = MarkingMatrix::of(snapshot->flows);
  snapshot->congestion = std::move(result.congestion);
  sum_up(snapshot->congestion, snapshot->flows, snapshot->connections);
  snapshot->diagnostics = list_diagnostics(totals.diagnostics, facts.statistics, facts.errors);
  for (Diagnostic& diagnostic : snapshot->diagnostics) {
    if (diagnostic.id == "clocks_differ") diagnostic.details = clocks;
    if (diagnostic.id == "several_points") diagnostic.details = copies;
    if (diagnostic.id == "clock_stepped") diagnostic.details = facts.clock_steps.texts();
  }
  snapshot->errors = std::move(facts.errors);
  snapshot->totals = std::move(totals);
  if (options.policy) {
    snapshot->policy = options.policy;
    snapshot->violations = find_violations(*options.policy, snapshot->flows, snapshot->markings);
    for (RuleViolation& violation :
         find_violations_elsewhere(*options.policy, snapshot->flows, snapshot->flow_points)) {
      snapshot->violations.push_back(std::move(violation));
    }
  }
  snapshot->completeness = completeness_of(*snapshot);
  settle_losses(*snapshot, options.verdicts);
  find_all(*snapshot);
  diagnose(*snapshot);
  return snapshot;
}

}  // namespace roce::analyze
