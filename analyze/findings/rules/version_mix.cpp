// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/hosts_seen.hpp"

namespace roce::analyze {
namespace {

/// A port has other addresses in v1 (the GID of its MAC) than in v2 (IP): what both share is the MAC.
struct Port {
  std::uint64_t mac = 0;       ///< 0 = unknown
  dissect::IpAddress address;  ///< only where the MAC is unknown
  [[nodiscard]] auto operator<=>(const Port&) const noexcept = default;
};

struct Mix {
  std::uint64_t v1 = 0;
  std::uint64_t v2 = 0;
  dissect::IpAddress a, b;  ///< of the first flow
  Proof proof;
  std::vector<std::uint32_t> connections;
};

/// fe80::5054:ff:fe00:a01 is derived from 52:54:00:00:0a:01; 0 for other addresses.
std::uint64_t mac_in(const dissect::IpAddress& address) noexcept {
  const auto& b = address.bytes;
  if (b[0] != 0xfe || b[1] != 0x80 || b[11] != 0xff || b[12] != 0xfe) return 0;
  std::uint64_t mac = static_cast<std::uint64_t>(b[8] ^ 2U);
  for (const std::size_t i : {9U, 10U, 13U, 14U, 15U}) mac = mac << 8U | b[i];
  return mac;
}

class HostsByMac {
 public:
  explicit HostsByMac(const Snapshot& snapshot) {
    for (const Flow& flow : snapshot.flows) {
      if (flow.source_mac != 0) macs_.emplace(flow.key.src, flow.source_mac);
    }
  }
  [[nodiscard]] Port of(const dissect::IpAddress& address) const {
    if (const std::uint64_t mac = mac_in(address)) return {mac, {}};
    const auto found = macs_.find(address);
    return found == macs_.end() ? Port{0, address} : Port{found->second, {}};
  }

 private:
  std::map<dissect::IpAddress, std::uint64_t> macs_;
};

using Mixes = std::map<std::pair<Port, Port>, Mix>;

Mix& mix_of(Mixes& mixes, const HostsByMac& ports, const dissect::IpAddress& a, const dissect::IpAddress& b) {
  return mixes[std::minmax(ports.of(a), ports.of(b))];
}

void count_flows(const Snapshot& snapshot, const HostsByMac& ports, Mixes& mixes) {
  for (const Flow& flow : snapshot.flows) {
    const bool v1 = flow.key.transport == dissect::Transport::roce_v1;
    if (!v1 && !is_v2(flow.key.transport)) continue;
    Mix& mix = mix_of(mixes, ports, flow.key.src, flow.key.dst);
    if (mix.v1 + mix.v2 == 0) std::tie(mix.a, mix.b) = std::tie(flow.key.src, flow.key.dst);
    (v1 ? mix.v1 : mix.v2) += flow.packets;
  }
}

/// Flows keep no packet numbers; their connections and CM exchanges do.
void prove(const Snapshot& snapshot, const HostsByMac& ports, Mixes& mixes) {
  for (const Connection& c : snapshot.connections) {
    const auto mix = mixes.find(std::minmax(ports.of(c.ends[0].address), ports.of(c.ends[1].address)));
    if (mix == mixes.end()) continue;
    mix->second.proof.add_frame(c.first_frame);
    mix->second.proof.add_time(c.first_time_ns);
    mix->second.proof.add_time(c.last_time_ns);
    constexpr std::size_t named = 8;
    if (mix->second.connections.size() < named) mix->second.connections.push_back(c.id);
  }
  for (const CmExchange& e : snapshot.exchanges) {
    const auto mix = mixes.find(std::minmax(ports.of(e.client), ports.of(e.server)));
    if (mix == mixes.end() || !e.req) continue;
    mix->second.proof.add_frame(e.req.frame);
    mix->second.proof.add_time(e.req.time_ns);
  }
}

Finding mix_finding(const Mix& mix) {
  const std::string a = address_text(mix.a);
  const std::string b = address_text(mix.b);
  Finding finding;
  finding.severity = Severity::notice;
  finding.subject = fmt::format("{} - {}", a, b);
  finding.count = std::min(mix.v1, mix.v2);
  finding.packets = mix.proof.frames;
  finding.first_time_ns = mix.proof.first_time_ns;
  finding.last_time_ns = mix.proof.last_time_ns;
  finding.confidence = 0.9;
  finding.connections = mix.connections;
  finding.explanation = fmt::format(
      "{} and {} exchange RoCE v1 ({}) and RoCE v2 ({}) at the same time. The two carry their priority "
      "differently (v1: VLAN tag only; v2: DSCP too), use different queues, and v1 cannot be routed.",
      a, b, packets_text(mix.v1), packets_text(mix.v2));
  finding.advice =
      "Use v2 everywhere unless something needs v1: show_gids lists the GID index of each version; programs "
      "choose by index (ib_write_bw -x N, NCCL_IB_GID_INDEX, UCX_IB_GID_INDEX), RDMA-CM by the default mode "
      "of the device: cma_roce_mode -d DEV. The version of each flow: roceanalyze flows FILE.";
  return finding;
}

}  // namespace

void find_version_mix(const Snapshot& snapshot, FindingSink& sink) {
  const auto packets = [&](dissect::Transport t) {
    return snapshot.totals.by_transport[static_cast<std::size_t>(t)];
  };
  if (packets(dissect::Transport::roce_v1) == 0) return;
  const HostsByMac ports(snapshot);
  Mixes mixes;
  count_flows(snapshot, ports, mixes);
  std::erase_if(mixes, [](const auto& entry) { return entry.second.v1 == 0 || entry.second.v2 == 0; });
  if (mixes.empty()) return;
  prove(snapshot, ports, mixes);
  if (mixes.size() <= told_apart) {
    for (const auto& [ports_of, mix] : mixes) sink.add(mix_finding(mix));
    return;
  }
  Mix all = mixes.begin()->second;
  for (auto at = std::next(mixes.begin()); at != mixes.end(); ++at) {
    all.v1 += at->second.v1;
    all.v2 += at->second.v2;
    all.proof.add(at->second.proof);
  }
  Finding finding = mix_finding(all);
  finding.subject = fmt::format("{} pairs of hosts", mixes.size());
  finding.explanation =
      fmt::format("{} pairs of hosts mix versions. The first: {}", mixes.size(), finding.explanation);
  sink.add(std::move(finding));
}

}  // namespace roce::analyze
