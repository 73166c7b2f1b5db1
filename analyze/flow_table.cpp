// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow_table.hpp"

#include <tsl/robin_map.h>

#include <algorithm>
#include <utility>

#include "analyze/chunks.hpp"

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

}  // namespace

void count_packet(Flow& flow, const PacketRecord& r) {
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

struct FlowTable::Impl {
  std::size_t limit;
  tsl::robin_map<FlowKey, std::uint32_t, KeyHash, std::equal_to<>,
                 std::allocator<std::pair<FlowKey, std::uint32_t>>, true>
      index;
  Chunks<Flow> flows;                 ///< by place
  std::vector<std::uint32_t> unused;  ///< places that were freed
  std::uint64_t next_id = 0;
  std::uint64_t evicted_flows = 0;
  std::uint64_t evicted_packets = 0;

  [[nodiscard]] std::size_t used() const noexcept { return flows.size() - unused.size(); }

  std::uint32_t find_or_insert(const PacketRecord& record) {
    const auto known = index.find(record.key, record.key_hash);
    if (known != index.end()) [[likely]]
      return known->second;
    auto place = static_cast<std::uint32_t>(flows.size());
    if (unused.empty()) {
      flows.emplace_back();
    } else {
      place = unused.back();
      unused.pop_back();
    }
    index.emplace(record.key, place);
    Flow& flow = flows[place];
    flow.id = next_id++;
    flow.key = record.key;
    flow.in_use = true;
    return place;
  }

  void free(std::uint32_t place) {
    Flow& flow = flows[place];
    evicted_flows += flow.packets != 0 ? 1U : 0U;
    evicted_packets += flow.packets;
    const auto known = index.find(flow.key);
    if (known != index.end() && known->second == place) index.erase(known);
    flow = Flow{};
    unused.push_back(place);
  }

  void evict(const LastUse& last_use, const std::function<void(std::uint32_t)>& leaving) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> places;
    places.reserve(used());
    for (std::uint32_t place = 0; place < flows.size(); ++place) {
      if (!flows[place].in_use) continue;
      if (const auto used_at = last_use(place)) places.emplace_back(*used_at, place);
    }
    if (places.empty()) return;
    const std::size_t count = std::max<std::size_t>(1, std::min(places.size(), used() / 16));
    std::nth_element(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count - 1), places.end());
    places.resize(count);
    std::sort(places.begin(), places.end());
    for (const auto& [used_at, place] : places) {
      if (!flows[place].in_use) continue;  // went with another
      if (leaving) leaving(place);
      free(place);
    }
  }
};

FlowTable::FlowTable(std::size_t limit) : impl_(std::make_unique<Impl>()) {
  impl_->limit = std::max<std::size_t>(1, limit);
}
FlowTable::FlowTable(FlowTable&&) noexcept = default;
FlowTable& FlowTable::operator=(FlowTable&&) noexcept = default;
FlowTable::~FlowTable() = default;

std::uint32_t FlowTable::place_of(const PacketRecord& record) {
  return impl_->find_or_insert(record);
}

std::uint32_t FlowTable::find(const PacketRecord& record) const {
  const auto known = impl_->index.find(record.key, record.key_hash);
  return known == impl_->index.end() ? none : known->second;
}

std::uint32_t FlowTable::find(const FlowKey& key) const {
  const auto known = impl_->index.find(key);
  return known == impl_->index.end() ? none : known->second;
}

Flow& FlowTable::at(std::uint32_t place) noexcept {
  return impl_->flows[place];
}

const Flow& FlowTable::at(std::uint32_t place) const noexcept {
  return impl_->flows[place];
}

void FlowTable::retire(std::uint32_t place) {
  const auto known = impl_->index.find(impl_->flows[place].key);
  if (known != impl_->index.end() && known->second == place) impl_->index.erase(known);
}

bool FlowTable::full() const noexcept {
  return impl_->used() >= impl_->limit;
}

void FlowTable::evict(const LastUse& last_use, const std::function<void(std::uint32_t)>& leaving) {
  impl_->evict(last_use, leaving);
}

void FlowTable::free(std::uint32_t place) {
  if (impl_->flows[place].in_use) impl_->free(place);
}

void FlowTable::count_evicted(std::uint64_t packets) noexcept {
  impl_->evicted_packets += packets;
}

std::uint64_t FlowTable::id_of(const PacketRecord& record) {
  Impl& t = *impl_;
  if (full() && !t.index.contains(record.key, record.key_hash)) {
    const auto by_time = [&](std::uint32_t place) {
      return std::optional(static_cast<std::uint64_t>(t.flows[place].last_time_ns) ^ 1ULL << 63U);
    };
    t.evict(by_time, nullptr);
  }
  return t.flows[t.find_or_insert(record)].id;
}

std::uint64_t FlowTable::add(const PacketRecord& record) {
  const std::uint64_t id = id_of(record);
  if (record.has(PacketRecord::selected)) count_packet(impl_->flows[impl_->find_or_insert(record)], record);
  return id;
}

void FlowTable::add_all(std::span<const PacketRecord> records) {
  for (const PacketRecord& record : records) {
    if (record.has(PacketRecord::valid)) add(record);
  }
}

std::vector<Flow> FlowTable::take_sorted() {
  std::vector<Flow> all;
  for (std::size_t i = 0; i < impl_->flows.size(); ++i) {
    Flow& flow = impl_->flows[i];
    if (flow.in_use && flow.packets != 0) all.push_back(std::move(flow));
  }
  impl_->flows.clear();
  impl_->unused.clear();
  impl_->index.clear();
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
  return impl_->used();
}

}  // namespace roce::analyze
