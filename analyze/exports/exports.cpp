// SPDX-License-Identifier: Apache-2.0
#include "analyze/exports/exports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "dissect/enum_names.hpp"
#include "dissect/ipfix.hpp"

namespace roce::analyze {
namespace {

constexpr double wide = 1.96;  // 95 in 100

std::uint64_t hash_of(const FlowKey& key, std::uint32_t psn) {
  return key.hash() ^ std::uint64_t{psn} * 0x9e3779b97f4a7c15U;
}

}  // namespace

Estimate ExportSource::packets() const noexcept {
  const double scale = one_in();
  return {samples, static_cast<double>(samples) * scale,
          wide * std::sqrt(static_cast<double>(samples)) * scale};
}

std::uint64_t Exports::samples() const noexcept {
  return std::accumulate(sources.begin(), sources.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const ExportSource& each) { return sum + each.samples; });
}

std::uint64_t Exports::matched_drops() const noexcept {
  return static_cast<std::uint64_t>(std::count_if(
      drops.begin(), drops.end(), [](const ExportDrop& each) { return each.loss_shown_by != 0; }));
}

std::uint64_t Exports::switches() const noexcept {
  std::set<dissect::IpAddress> addresses;
  for (const ExportAgent& agent : agents) addresses.insert(agent.address);
  return addresses.size();
}

double Exports::one_in() const noexcept {
  double packets = 0;
  for (const ExportSource& each : sources) packets += each.packets().value;
  const std::uint64_t count = samples();
  return count == 0 ? 0 : packets / static_cast<double>(count);
}

Estimate sampled_share(std::uint64_t part, std::uint64_t whole) noexcept {
  if (whole == 0) return {};
  const double share = static_cast<double>(part) / static_cast<double>(whole);
  return {whole, share, wide * std::sqrt(share * (1 - share) / static_cast<double>(whole))};
}

namespace {

/// Whether a loss that shows at that time is of drop `a` rather than of `b`: it was dropped before, and just
/// before; if both notifications came later, of the earlier one.
bool explains_sooner(const ExportDrop& a, const ExportDrop& b, std::int64_t shown_ns) noexcept {
  const bool before = a.time_ns <= shown_ns;
  if (before != (b.time_ns <= shown_ns)) return before;
  return before ? a.time_ns > b.time_ns : a.time_ns < b.time_ns;
}

}  // namespace

/// A packet that is dropped again when it is sent again has as many losses as drops, but for drops that
/// nobody missed.
void join_drops(Exports& exports, std::vector<LostTransmission> losses, bool proved) {
  std::stable_sort(losses.begin(), losses.end(), [](const LostTransmission& a, const LostTransmission& b) {
    return a.shown_by < b.shown_by;
  });
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_packet;  // drops, as they came
  for (std::size_t i = 0; i < exports.drops.size(); ++i) {
    const ExportDrop& drop = exports.drops[i];
    if (drop.roce && drop.loss_shown_by == 0) by_packet[hash_of(drop.key, drop.psn)].push_back(i);
  }
  for (const LostTransmission& loss : losses) {
    const auto found = by_packet.find(hash_of(loss.key, loss.psn));
    if (found == by_packet.end()) continue;
    ExportDrop* best = nullptr;
    for (const std::size_t i : found->second) {
      ExportDrop& drop = exports.drops[i];
      if (drop.loss_shown_by != 0 || !(drop.key == loss.key) || drop.psn != loss.psn) continue;
      if (best == nullptr || explains_sooner(drop, *best, loss.time_ns)) best = &drop;
    }
    if (best == nullptr) continue;
    best->loss_shown_by = loss.shown_by;
    best->proved = proved;
    best->connection = loss.connection;
  }
}

std::string_view protocol_name(ExportProtocol protocol) noexcept {
  using enum ExportProtocol;
  static constexpr EnumNames<ExportProtocol, 3> names(
      {{sflow, "sFlow"}, {ipfix, "IPFIX"}, {netflow9, "NetFlow 9"}});
  return names[protocol];
}

std::string export_protocols_text(const Exports& exports) {
  std::set<ExportProtocol> all;
  for (const ExportAgent& agent : exports.agents) all.insert(agent.protocol);
  std::string text;
  for (const ExportProtocol each : all)
    text += fmt::format("{}{}", text.empty() ? "" : " and ", protocol_name(each));
  return text.empty() ? "exports" : text;  // all of them unreadable
}

std::string exports_text(const Exports& exports) {
  if (!exports.any()) return {};
  const std::string protocols = export_protocols_text(exports),
                    switches = plural(exports.switches(), "switch", "switches");
  if (exports.samples() == 0) return fmt::format("{} of {}", protocols, switches);
  const double one_in = exports.one_in();
  return one_in == 0 ? fmt::format("{} samples of {}, one in how many is not told", protocols, switches)
                     : fmt::format("{} samples of {}, about 1 in {}", protocols, switches,
                                   std::max<long long>(1, std::llround(one_in)));
}

std::string export_source_text(const Exports& exports, const ExportSource& source) {
  namespace element = dissect::ipfix::element;
  if (exports.agents[source.agent].protocol == ExportProtocol::sflow)
    return source.source_class == 0 ? fmt::format("port {}", source.index)
                                    : fmt::format("{}:{}", source.source_class, source.index);
  switch (source.source_class) {
    case element::selection_sequence:
      return fmt::format("selection sequence {}", source.index);
    case element::selector:
      return fmt::format("selector {}", source.index);
    case element::sampler_id:
      return fmt::format("sampler {}", source.index);
    default:
      return "not named";
  }
}

DropReason::Kind DropReason::kind() const noexcept {
  using enum Kind;
  struct Row {
    DropReason reason;
    Kind kind;
  };
  constexpr Row rows[] = {{{List::sflow, dissect::sflow::reason_no_buffer}, no_buffer},
                          {{List::sflow, dissect::sflow::reason_red}, early},
                          {{List::sflow, dissect::sflow::reason_too_big}, too_big},
                          {{List::forwarding_status, dissect::ipfix::status_wred}, early},
                          {{List::forwarding_status, dissect::ipfix::status_too_big}, too_big},
                          {{List::mirror_on_drop, dissect::ipfix::mirror_ingress_limit}, no_buffer},
                          {{List::mirror_on_drop, dissect::ipfix::mirror_egress_limit}, no_buffer}};
  const auto found =
      std::find_if(std::begin(rows), std::end(rows), [this](const Row& row) { return row.reason == *this; });
  return found == std::end(rows) ? other : found->kind;
}

std::string_view drop_reasons_name(DropReason::List list) noexcept {
  using enum DropReason::List;
  static constexpr EnumNames<DropReason::List, 3> names(
      {{sflow, "sflow"}, {forwarding_status, "forwarding_status"}, {mirror_on_drop, "mirror_on_drop"}});
  return names[list];
}

std::string drop_reason_text(const DropReason& reason) {
  std::string_view name, where;
  std::uint32_t code = reason.code;
  switch (reason.list) {
    case DropReason::List::sflow:
      name = dissect::sflow::drop_reason_name(code);
      break;
    case DropReason::List::forwarding_status:
      name = dissect::ipfix::forwarding_status_name(code);
      break;
    case DropReason::List::mirror_on_drop:
      name = dissect::ipfix::mirror_reason_name(code);
      where = dissect::ipfix::mirror_pipeline_name(code);
      if (code == 0) return "the switch says no reason";
      code &= dissect::ipfix::mirror_code_bits;
      break;
    case DropReason::List::count_:
      break;
  }
  if (!name.empty()) return std::string(name);
  return fmt::format("{}reason {}", where, code);
}

std::vector<ExportDropGroup> drop_groups(const Exports& exports) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t, DropReason>,
           ExportDropGroup>
      all;
  for (std::size_t i = 0; i < exports.drops.size(); ++i) {
    const ExportDrop& drop = exports.drops[i];
    const std::uint32_t input = drop.output == 0 ? drop.input : 0;
    ExportDropGroup& group =
        all[{drop.agent, drop.output, input, drop.queue ? *drop.queue + std::uint64_t{1} : 0, drop.reason}];
    group.agent = drop.agent;
    group.input = input;
    group.output = drop.output;
    group.queue = drop.queue;
    group.reason = drop.reason;
    ++group.packets;
    group.roce += drop.roce ? 1 : 0;
    group.matched += drop.loss_shown_by != 0 ? 1 : 0;
    group.drops.push_back(i);
  }
  std::vector<ExportDropGroup> groups;
  for (auto& [key, group] : all) groups.push_back(std::move(group));
  std::stable_sort(groups.begin(), groups.end(),
                   [](const ExportDropGroup& a, const ExportDropGroup& b) { return a.packets > b.packets; });
  return groups;
}

std::string drop_place_text(const Exports& exports, const ExportDropGroup& group) {
  std::string text = address_text(exports.agents[group.agent].address);
  if (group.output == dissect::sflow::Port::own ||
      (group.output == 0 && group.input == dissect::sflow::Port::own)) {
    text += " itself";
  } else if (group.output != 0) {
    text += fmt::format(" port {}", group.output);
  } else if (group.input != 0) {
    text += fmt::format(" coming in at port {}", group.input);
  }
  if (group.queue) text += fmt::format(", queue {}", *group.queue);
  return text;
}

std::string estimate_text(const Estimate& estimate) {
  if (estimate.samples == 0) return {};
  if (!estimate.told()) return "seen";
  const double percent = 100 * estimate.error / std::max(estimate.value, 1e-9);
  return fmt::format("{:.0f} ± {:.{}f} %", estimate.value, percent, percent < 10 ? 1 : 0);
}

std::string sample_shares_text(const Exports& exports) {
  constexpr auto ect0 = static_cast<std::size_t>(dissect::Ecn::ect0),
                 ect1 = static_cast<std::size_t>(dissect::Ecn::ect1);
  std::uint64_t all = 0, capable = 0, marked = 0, cnps = 0, naks = 0, rnr_naks = 0;
  for (const ExportFlow& flow : exports.flows) {
    const SampleCounts& counts = flow.counts;
    all += counts.samples;
    const std::uint64_t ce = counts.ecn[static_cast<std::size_t>(dissect::Ecn::ce)];
    capable += ce + counts.ecn[ect0] + counts.ecn[ect1];
    marked += ce;
    cnps += counts.cnps;
    naks += counts.naks;
    rnr_naks += counts.rnr_naks;
  }
  if (all == 0) return {};
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    const Estimate estimate = sampled_share(part, whole);
    return part < Estimate::least_samples
               ? fmt::format("seen {}", plural(part, "time", "times"))
               : fmt::format("{:.2f} ± {:.2f} %", 100 * estimate.value, 100 * estimate.error);
  };
  std::string text = capable == 0  ? "ECN: not used by any packet that was sampled"
                     : marked == 0 ? fmt::format("CE: on none of {} samples that may be marked", capable)
                                   : "CE: " + share(marked, capable) + " of the packets that may be marked";
  if (cnps != 0) text += "; CNPs: " + share(cnps, all) + " of the packets";
  if (naks != 0) text += fmt::format("; NAKs: seen {}", plural(naks, "time", "times"));
  if (rnr_naks != 0) text += fmt::format("; RNR NAKs: seen {}", plural(rnr_naks, "time", "times"));
  return text;
}

std::string export_gaps_text(const Exports& exports) {
  std::uint64_t datagrams = 0, records = 0, samples = 0, dropped = 0;
  for (const ExportAgent& agent : exports.agents)
    (agent.protocol == ExportProtocol::ipfix ? records : datagrams) += agent.missing;
  for (const ExportSource& source : exports.sources) {
    samples += source.missing;
    dropped += source.dropped;
  }
  std::string lost;
  const auto add = [&lost](std::uint64_t count, std::string_view one, std::string_view several) {
    if (count != 0) lost += fmt::format("{}{}", lost.empty() ? "" : " and ", plural(count, one, several));
  };
  add(datagrams, "datagram", "datagrams");
  add(samples, "sample", "samples");
  add(records, "record of IPFIX", "records of IPFIX");
  std::string text;
  if (!lost.empty())
    text = fmt::format("{} {} lost on the way to the collector", lost,
                       datagrams + records + samples == 1 ? "was" : "were");
  if (dropped != 0)
    text += fmt::format("{}{} not sent by the switches for lack of resources", text.empty() ? "" : "; ",
                        plural(dropped, "sample was", "samples were"));
  return text;
}

std::string export_records_text(const Exports& exports) {
  std::string text;
  if (exports.sets_without_template != 0)
    text = fmt::format("{} came before {} template, which says what is in {}: not read",
                       plural(exports.sets_without_template, "set of data", "sets of data"),
                       exports.sets_without_template == 1 ? "its" : "their",
                       exports.sets_without_template == 1 ? "it" : "them");
  if (exports.flow_records != 0)
    text += fmt::format(
        "{}{}, {} of them of RoCE (UDP port 4791): they count flows and show no packet, so nothing is "
        "estimated from them",
        text.empty() ? "" : "; ", plural(exports.flow_records, "flow record", "flow records"),
        exports.roce_flow_records);
  return text;
}

}  // namespace roce::analyze
