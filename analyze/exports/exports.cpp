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

/// A packet that is dropped again when it is sent again has as many losses as drops: the earliest goes to the
/// earliest.
void join_drops(Exports& exports, std::vector<LostTransmission> losses) {
  std::stable_sort(losses.begin(), losses.end(), [](const LostTransmission& a, const LostTransmission& b) {
    return a.shown_by < b.shown_by;
  });
  std::unordered_multimap<std::uint64_t, std::size_t> by_packet;
  for (std::size_t i = 0; i < losses.size(); ++i) by_packet.emplace(hash_of(losses[i].key, losses[i].psn), i);
  for (ExportDrop& drop : exports.drops) {
    if (!drop.roce) continue;
    const auto [first, last] = by_packet.equal_range(hash_of(drop.key, drop.psn));
    auto best = last;
    for (auto at = first; at != last; ++at) {
      const LostTransmission& loss = losses[at->second];
      if (loss.key == drop.key && loss.psn == drop.psn && (best == last || at->second < best->second))
        best = at;
    }
    if (best == last) continue;
    drop.loss_shown_by = losses[best->second].shown_by;
    drop.connection = losses[best->second].connection;
    by_packet.erase(best);
  }
}

std::string exports_text(const Exports& exports) {
  if (!exports.any()) return {};
  if (exports.samples() == 0)
    return fmt::format("sFlow of {}", plural(exports.switches(), "switch", "switches"));
  return fmt::format("sFlow samples of {}, about 1 in {}", plural(exports.switches(), "switch", "switches"),
                     std::max<long long>(1, std::llround(exports.one_in())));
}

std::string drop_reason_text(std::uint32_t reason) {
  const std::string_view name = dissect::sflow::drop_reason_name(reason);
  return name.empty() ? fmt::format("reason {}", reason) : std::string(name);
}

std::vector<ExportDropGroup> drop_groups(const Exports& exports) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t, std::uint32_t>,
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
  std::uint64_t datagrams = 0, samples = 0, dropped = 0;
  for (const ExportAgent& agent : exports.agents) datagrams += agent.missing;
  for (const ExportSource& source : exports.sources) {
    samples += source.missing;
    dropped += source.dropped;
  }
  std::string text;
  if (datagrams != 0 || samples != 0)
    text = fmt::format("{} and {} were lost on the way to the collector",
                       plural(datagrams, "datagram", "datagrams"), plural(samples, "sample", "samples"));
  if (dropped != 0)
    text += fmt::format("{}{} not sent by the switches for lack of resources", text.empty() ? "" : "; ",
                        plural(dropped, "sample was", "samples were"));
  return text;
}

}  // namespace roce::analyze
