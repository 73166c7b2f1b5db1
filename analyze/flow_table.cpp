// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow_table.hpp"

#include <tsl/robin_map.h>

#include <algorithm>
#include <utility>

namespace roce::analyze {
namespace {

struct KeyHash {
  std::size_t operator()(const FlowKey& key) const noexcept { return key.hash(); }
};

/// Counts a whole message at its last packet; acknowledgements and CNPs carry none.
bool completes_message(const dissect::OpcodeInfo& info) noexcept {
  using dissect::Operation;
  return info.defined && info.ends_message() && info.operation != Operation::acknowledge &&
         info.operation != Operation::atomic_acknowledge && info.operation != Operation::cnp;
}

void count(Flow& flow, const PacketRecord& r) {
  const dissect::OpcodeInfo& info = dissect::opcode_info(r.opcode);
  if (flow.packets == 0) flow.first_psn = r.psn;
  if (!flow.service_known && info.operation != dissect::Operation::cnp) {
    flow.service = info.service;
    flow.service_known = true;
  }
  if (r.upper != 0 && flow.upper == dissect::Ulp::none) flow.upper = static_cast<dissect::Ulp>(r.upper);
  if (r.has(PacketRecord::tagged)) {
    if (!flow.vlan) flow.vlan = r.vlan_id;
    flow.pcp.add(r.pcp);
  }
  ++flow.packets;
  flow.bytes += r.wire;
  flow.payload_bytes += r.payload;
  if (completes_message(info)) ++flow.messages;
  if (r.time_ns != capture::no_time) {
    if (!flow.any_time) flow.first_time_ns = flow.last_time_ns = r.time_ns;
    flow.any_time = true;
    flow.first_time_ns = std::min(flow.first_time_ns, r.time_ns);
    flow.last_time_ns = std::max(flow.last_time_ns, r.time_ns);
  }
  flow.last_psn = r.psn;
  if (r.icrc == static_cast<std::uint8_t>(dissect::CrcStatus::mismatch)) ++flow.icrc_mismatches;
  ++flow.ecn[r.traffic_class & 3U];
  flow.dscp.add(static_cast<std::uint8_t>(r.traffic_class >> 2U));
  flow.opcodes.add(r.opcode);
  if (r.has(PacketRecord::has_ports)) flow.udp_sports.add(r.udp_source);
}

}  // namespace

struct FlowTable::Impl {
  std::size_t limit;
  tsl::robin_map<FlowKey, std::uint32_t, KeyHash, std::equal_to<>,
                 std::allocator<std::pair<FlowKey, std::uint32_t>>, true>
      index;
  std::vector<Flow> flows;
  std::uint64_t next_id = 0;
  std::uint64_t evicted_flows = 0;
  std::uint64_t evicted_packets = 0;

  std::uint32_t find_or_insert(const PacketRecord& record) {
    const auto known = index.find(record.key, record.key_hash);
    if (known != index.end()) [[likely]]
      return known->second;
    const auto place = static_cast<std::uint32_t>(flows.size());
    index.emplace(record.key, place);
    Flow& flow = flows.emplace_back();
    flow.id = next_id++;
    flow.key = record.key;
    return place;
  }

  /// Removes the sixteenth that was idle longest; ties go by id, so the result is the same everywhere.
  void evict() {
    const std::size_t leaving = std::max<std::size_t>(1, flows.size() / 16);
    const auto older = [](const Flow& a, const Flow& b) {
      return std::pair(a.last_time_ns, a.id) < std::pair(b.last_time_ns, b.id);
    };
    std::nth_element(flows.begin(), flows.begin() + static_cast<std::ptrdiff_t>(leaving), flows.end(), older);
    for (std::size_t i = 0; i < leaving; ++i) {
      evicted_flows += flows[i].packets != 0 ? 1U : 0U;
      evicted_packets += flows[i].packets;
    }
    flows.erase(flows.begin(), flows.begin() + static_cast<std::ptrdiff_t>(leaving));
    index.clear();
    for (std::uint32_t i = 0; i < flows.size(); ++i) index.emplace(flows[i].key, i);
  }
};

FlowTable::FlowTable(std::size_t limit) : impl_(std::make_unique<Impl>()) {
  impl_->limit = std::max<std::size_t>(1, limit);
}
FlowTable::FlowTable(FlowTable&&) noexcept = default;
FlowTable& FlowTable::operator=(FlowTable&&) noexcept = default;
FlowTable::~FlowTable() = default;

std::uint64_t FlowTable::id_of(const PacketRecord& record) {
  Impl& t = *impl_;
  if (t.flows.size() >= t.limit && !t.index.contains(record.key, record.key_hash)) t.evict();
  return t.flows[t.find_or_insert(record)].id;
}

std::uint64_t FlowTable::add(const PacketRecord& record) {
  const std::uint64_t id = id_of(record);
  if (record.has(PacketRecord::selected)) count(impl_->flows[impl_->find_or_insert(record)], record);
  return id;
}

void FlowTable::add_all(std::span<const PacketRecord> records) {
  constexpr std::size_t group = 16;
  Impl& t = *impl_;
  std::array<std::uint32_t, group> found{};
  while (!records.empty()) {
    const std::span<const PacketRecord> some = records.first(std::min(group, records.size()));
    records = records.subspan(some.size());
    if (t.flows.size() + group > t.limit) {
      // Something may have to leave between looking up and counting: one at a time then.
      for (const PacketRecord& record : some) {
        if (record.has(PacketRecord::valid)) add(record);
      }
      continue;
    }
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (!some[i].has(PacketRecord::valid)) continue;
      // Packets of one flow come in bursts.
      const bool again = i > 0 && some[i - 1].has(PacketRecord::valid) &&
                         some[i].key_hash == some[i - 1].key_hash && some[i].key == some[i - 1].key;
      found[i] = again ? found[i - 1] : t.find_or_insert(some[i]);
      const auto* flow = reinterpret_cast<const char*>(&t.flows[found[i]]);
      __builtin_prefetch(flow, 1);
      __builtin_prefetch(flow + 64, 1);
      __builtin_prefetch(flow + 128, 1);
    }
    for (std::size_t i = 0; i < some.size(); ++i) {
      constexpr unsigned both = PacketRecord::valid | PacketRecord::selected;
      if ((some[i].flags & both) == both) count(t.flows[found[i]], some[i]);
    }
  }
}

std::vector<Flow> FlowTable::take_sorted() {
  std::vector<Flow> all = std::move(impl_->flows);
  impl_->flows.clear();
  impl_->index.clear();
  std::erase_if(all, [](const Flow& flow) { return flow.packets == 0; });
  std::sort(all.begin(), all.end(), [](const Flow& a, const Flow& b) { return a.id < b.id; });
  return all;
}

std::uint64_t FlowTable::evicted_flows() const noexcept {
  return impl_->evicted_flows;
}
std::uint64_t FlowTable::evicted_packets() const noexcept {
  return impl_->evicted_packets;
}
std::size_t FlowTable::size() const noexcept {
  return impl_->flows.size();
}

}  // namespace roce::analyze
