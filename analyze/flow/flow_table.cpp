// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow/flow_table.hpp"

#include <tsl/robin_set.h>

#include <utility>

namespace roce::analyze {
namespace {

/// Counts a whole message at its last packet; acknowledgements and CNPs carry none.
bool completes_message(const dissect::OpcodeInfo& info) noexcept {
  using dissect::Operation;
  return info.defined && info.ends_message() && info.operation != Operation::acknowledge &&
         info.operation != Operation::atomic_acknowledge && info.operation != Operation::cnp;
}

}  // namespace

void Flow::change_look(const PacketRecord& r, std::uint64_t number) {
  if (packets == 0) {
    first_psn = r.psn;
    source_mac = r.source_mac;
  }
  settle();
  const PacketRecord::Look now = r.look();
  look_word_ = now.word;
  look_flags_ = now.flags;
  if (r.has(PacketRecord::tagged) && !vlan) vlan = r.vlan_id();
  // So that another opcode comes to change_opcode(), which notes the first packet of its class.
  opcode_ = {r.opcode, r.opcode};
  classes_ = 0;
  note_class(r, number);
}

/// It becomes the second one.
void Flow::change_opcode(const PacketBrief& r, std::uint64_t number) {
  settle_opcodes();
  opcode_ = {opcode_[1], r.opcode};
  note_class(r, number);
}

void Flow::note_class(const PacketBrief& r, std::uint64_t number) {
  const TrafficClass of = traffic_class(r.opcode, key.dst_qp);
  const unsigned bit = 1U << static_cast<unsigned>(of);
  if ((classes_ & bit) != 0) return;
  classes_ = static_cast<std::uint8_t>(classes_ | bit);
  marks_.note(MarkCounts::key_of(look(), of), number, r.time_ns);
}

/// One that leaves the look as it is.
void Flow::count_apart(const PacketRecord& r, std::uint64_t number) {
  if (r.has(PacketRecord::tagged) && !vlan) vlan = r.vlan_id();
  add_look(r, 1);
  add_opcode(r.opcode, 1);
  const std::uint64_t row = MarkCounts::key_of(r.look(), traffic_class(r.opcode, key.dst_qp));
  marks_.note(row, number, r.time_ns);
  marks_.add(row, 1);
  count_sums(r);
  ++look_from_;
}

void Flow::learn_service(const PacketBrief& r) noexcept {
  const dissect::OpcodeInfo& info = dissect::opcode_info(r.opcode);
  if (info.operation == dissect::Operation::cnp) return;
  service = info.service;
  service_known = true;
}

void Flow::settle_look() {
  const std::uint32_t n = static_cast<std::uint32_t>(packets) - look_from_;
  look_from_ += n;
  if (n != 0) add_look(PacketRecord::of_look(look()), n);
}

void Flow::add_look(const PacketRecord& r, std::uint32_t n) {
  if (r.has(PacketRecord::has_ip_id) && !r.has(PacketRecord::dont_fragment)) clear_df += n;
  if (r.has(PacketRecord::tagged)) pcp.add(r.pcp(), n);
  ecn[r.traffic_class & 3U] += n;
  dscp.add(static_cast<std::uint8_t>(r.traffic_class >> 2U), n);
  if (r.has(PacketRecord::has_ports)) udp_sports.add(r.udp_source, n);
}

void Flow::settle_opcodes() {
  for (std::size_t i = 0; i < opcode_.size(); ++i) {
    const std::uint32_t n = std::exchange(opcode_packets_[i], 0);
    if (n == 0) continue;
    add_opcode(opcode_[i], n);
    marks_.add(MarkCounts::key_of(look(), traffic_class(opcode_[i], key.dst_qp)), n);
  }
}

void Flow::add_opcode(std::uint8_t opcode, std::uint32_t n) {
  opcodes.add(opcode, n);
  if (completes_message(dissect::opcode_info(opcode))) messages += n;
}

void SequenceCounts::add(const SequenceCounts& other) noexcept {
  for (std::size_t i = 0; i < retransmitted.size(); ++i) retransmitted[i] += other.retransmitted[i];
  for (std::size_t i = 0; i < lost.size(); ++i) lost[i] += other.lost[i];
  using Count = std::uint64_t SequenceCounts::*;
  for (const Count count :
       {&SequenceCounts::retransmitted_bytes, &SequenceCounts::spurious, &SequenceCounts::out_of_order,
        &SequenceCounts::duplicate_captures, &SequenceCounts::duplicate_network,
        &SequenceCounts::wasted_packets, &SequenceCounts::wasted_bytes, &SequenceCounts::gaps,
        &SequenceCounts::left_out}) {
    this->*count += other.*count;
  }
}

void Departed::add(Flow& flow) {
  if (flow.packets == 0) return;
  flow.settle();
  ++flows;
  packets += flow.packets;
  bytes += flow.bytes;
  payload_bytes += flow.payload_bytes;
  messages += flow.messages;
  icrc_mismatches += flow.icrc_mismatches;
  for (std::size_t i = 0; i < ecn.size(); ++i) ecn[i] += flow.ecn[i];
  cnps += flow.opcodes.of(dissect::opcode_cnp);
  sequence.add(flow.sequence());
}

/// Places by key. The keys stand only in the flows.
struct FlowTable::Index {
  struct Hash {
    const Chunks<Flow>* flows;
    std::size_t operator()(std::uint32_t place) const noexcept { return (*flows)[place].key.hash(); }
    std::size_t operator()(const FlowKey& key) const noexcept { return key.hash(); }
  };
  struct Equal {
    using is_transparent = void;
    const Chunks<Flow>* flows;
    bool operator()(std::uint32_t a, std::uint32_t b) const noexcept { return a == b; }
    bool operator()(std::uint32_t place, const FlowKey& key) const noexcept {
      return (*flows)[place].key == key;
    }
    bool operator()(const FlowKey& key, std::uint32_t place) const noexcept {
      return (*flows)[place].key == key;
    }
  };

  explicit Index(const Chunks<Flow>& flows) : places(0, Hash{&flows}, Equal{&flows}) {}

  tsl::robin_set<std::uint32_t, Hash, Equal, std::allocator<std::uint32_t>, true> places;
};

FlowTable::FlowTable(std::size_t limit)
    : limit_(std::max<std::size_t>(1, limit)),
      index_(std::make_unique<Index>(flows_)),
      recent_(recent_size) {}
FlowTable::FlowTable(const FlowTable& other)
    : limit_(other.limit_),
      flows_(other.flows_),
      index_(std::make_unique<Index>(flows_)),
      recent_(other.recent_),
      unused_(other.unused_),
      next_id_(other.next_id_),
      departed_(other.departed_) {
  index_->places.reserve(other.index_->places.size());
  for (const std::uint32_t place : other.index_->places) index_->places.insert(place);
}
FlowTable::~FlowTable() = default;

std::uint32_t FlowTable::find(const FlowKey& key, std::uint64_t hash) const {
  const auto known = index_->places.find(key, hash);
  if (known == index_->places.end()) return none;
  remember(hash, *known);
  return *known;
}

void FlowTable::remember(std::uint64_t hash, std::uint32_t place) const noexcept {
  std::array<Recent, 2>& both = recent_[hash % recent_size];
  both[1] = both[0];
  both[0] = {tag_of(hash), place};
}

std::uint32_t FlowTable::place_of(const PacketRecord& record) {
  std::uint32_t place = find(record);
  if (place != none) return place;
  place = static_cast<std::uint32_t>(flows_.size());
  if (unused_.empty()) {
    flows_.emplace_back();
  } else {
    place = unused_.back();
    unused_.pop_back();
  }
  Flow& flow = flows_[place];
  flow.id = next_id_++;
  flow.key = record.key;
  flow.in_use = true;
  index_->places.insert(place);
  remember(record.key_hash, place);
  return place;
}

/// Takes the place out of the index, unless its key belongs to another one by now.
void FlowTable::unlist(std::uint32_t place) {
  const FlowKey& key = flows_[place].key;
  const auto known = index_->places.find(key, key.hash());
  if (known != index_->places.end() && *known == place) index_->places.erase(known);
}

void FlowTable::retire(std::uint32_t place) {
  unlist(place);
}

void FlowTable::free(std::uint32_t place) {
  Flow& flow = flows_[place];
  if (!flow.in_use) return;
  departed_.add(flow);
  unlist(place);
  flow = Flow{};
  unused_.push_back(place);
}

void FlowTable::evict(const LastUse& last_use, const std::function<void(std::uint32_t)>& leaving) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> places;
  places.reserve(size());
  for (std::uint32_t place = 0; place < flows_.size(); ++place) {
    if (!flows_[place].in_use) continue;
    if (const auto used_at = last_use(place)) places.emplace_back(*used_at, place);
  }
  if (places.empty()) return;
  const std::size_t count = std::max<std::size_t>(1, std::min(places.size(), size() / 16));
  std::nth_element(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count - 1), places.end());
  places.resize(count);
  std::sort(places.begin(), places.end());
  for (const auto& [used_at, place] : places) {
    if (!flows_[place].in_use) continue;  // went with another
    if (leaving) leaving(place);
    free(place);
  }
}

std::vector<Flow> FlowTable::take_sorted() {
  std::vector<Flow> all;
  index_ = std::make_unique<Index>(flows_);
  all.reserve(size());
  flows_.drain([&](Flow& flow) {
    if (!flow.in_use || flow.packets == 0) return;
    flow.settle();
    all.push_back(std::move(flow));
  });
  unused_.clear();
  std::fill(recent_.begin(), recent_.end(), std::array<Recent, 2>{});
  std::sort(all.begin(), all.end(), [](const Flow& a, const Flow& b) { return a.id < b.id; });
  return all;
}

}  // namespace roce::analyze
