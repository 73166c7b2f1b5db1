// SPDX-License-Identifier: Apache-2.0
#include "analyze/tracker/pairing.hpp"

#include <tsl/robin_map.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace roce::analyze {
namespace {

std::uint64_t mix(std::uint64_t h, std::uint64_t word) noexcept {
  h = (h ^ word) * 0xff51afd7ed558ccdU;
  return h ^ h >> 32U;
}

std::uint64_t hash_of(const dissect::IpAddress& address) noexcept {
  std::uint64_t words[2];
  static_assert(sizeof words == sizeof address.bytes);
  std::memcpy(words, address.bytes.data(), sizeof words);
  return mix(mix(0x9e3779b97f4a7c15U, words[0]), words[1]);
}

/// The same for both directions.
std::uint64_t pair_hash(const FlowKey& key) noexcept {
  return mix(hash_of(key.src) + hash_of(key.dst), static_cast<std::uint64_t>(key.transport));
}

/// The flow's addresses in their order.
FlowKey direction_of(const FlowKey& key) noexcept {
  FlowKey direction = key;
  direction.dst_qp = 0;
  return direction;
}
struct DirectionHash {
  std::size_t operator()(const FlowKey& key) const noexcept { return key.hash(); }
};

using Places = std::vector<std::uint32_t>;

/// Places by key. Each knows where it stands in its list: all flows may be between two addresses, and each
/// leaves one day.
class PlaceLists {
 public:
  void add(std::uint64_t key, std::uint32_t place) {
    Places& places = lists_[key];
    if (place >= positions_.size()) positions_.resize(std::size_t{place} + 1);
    positions_[place] = static_cast<std::uint32_t>(places.size());
    places.push_back(place);
  }
  void remove(std::uint64_t key, std::uint32_t place) {
    const auto found = lists_.find(key);
    if (found == lists_.end() || place >= positions_.size()) return;
    Places& places = found.value();
    const std::uint32_t at = positions_[place];
    ++steps_;
    if (at >= places.size() || places[at] != place) return;
    places[at] = places.back();
    positions_[places[at]] = at;
    places.pop_back();
    if (places.empty()) lists_.erase(found);
  }
  [[nodiscard]] std::span<const std::uint32_t> find(std::uint64_t key) const {
    const auto found = lists_.find(key);
    if (found == lists_.end()) return {};
    return found->second;
  }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

 private:
  tsl::robin_map<std::uint64_t, Places> lists_;
  std::vector<std::uint32_t> positions_;  ///< by place
  std::uint64_t steps_ = 0;
};

}  // namespace

struct UnpairedFlows::Impl {
  PlaceLists by_addresses;
  PlaceLists by_port;
  PlaceLists by_favourite;
  tsl::robin_map<FlowKey, std::size_t, DirectionHash> requesters;
  /// Of a source port: the two numbers seen first, which may be those of one connection between many hosts,
  /// and how many flows go to others.
  struct Port {
    std::array<std::uint32_t, 2> qpns{};
    unsigned known = 0;
    std::uint64_t others = 0;
  };
  tsl::robin_map<std::uint16_t, Port> ports;
  std::uint64_t flows = 0;
};

std::uint64_t way_of(const FlowKey& key, bool back) noexcept {
  const std::uint64_t from = hash_of(back ? key.dst : key.src), to = hash_of(back ? key.src : key.dst);
  return mix(mix(from, to), static_cast<std::uint64_t>(key.transport));
}

UnpairedFlows::UnpairedFlows() : impl_(std::make_unique<Impl>()) {}
UnpairedFlows::UnpairedFlows(const UnpairedFlows& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
UnpairedFlows::UnpairedFlows(UnpairedFlows&&) noexcept = default;
UnpairedFlows& UnpairedFlows::operator=(UnpairedFlows&&) noexcept = default;
UnpairedFlows::~UnpairedFlows() = default;

void UnpairedFlows::add(std::uint32_t place, const PacketRecord& record) {
  const std::uint64_t hash = pair_hash(record.key);
  impl_->by_addresses.add(hash, place);
  if (record.has(PacketRecord::has_ports)) impl_->by_port.add(mix(hash, record.udp_source), place);
}

void UnpairedFlows::remove(std::uint32_t place, const PacketRecord& record) {
  const std::uint64_t hash = pair_hash(record.key);
  impl_->by_addresses.remove(hash, place);
  if (record.has(PacketRecord::has_ports)) impl_->by_port.remove(mix(hash, record.udp_source), place);
}

void UnpairedFlows::note_port(const PacketRecord& record) {
  if (!record.has(PacketRecord::has_ports)) return;
  ++impl_->flows;
  Impl::Port& port = impl_->ports[record.udp_source];
  for (unsigned i = 0; i < port.known; ++i) {
    if (port.qpns.at(i) == record.key.dst_qp) return;
  }
  if (port.known < port.qpns.size()) {
    port.qpns.at(port.known++) = record.key.dst_qp;
  } else {
    ++port.others;
  }
}

bool UnpairedFlows::on_shared_port(const PacketRecord& record) const {
  const auto port = impl_->ports.find(record.udp_source);
  // Both directions of this connection, and another one that has the port by chance; the more, the more
  // flows. Numbers given in turn do not spread evenly over all ports, but none gets so large a part.
  constexpr std::uint64_t few = 4, part = 256;
  return port != impl_->ports.end() && port->second.others > few + impl_->flows / part;
}

std::span<const std::uint32_t> UnpairedFlows::between(const PacketRecord& record) const {
  return impl_->by_addresses.find(pair_hash(record.key));
}

std::span<const std::uint32_t> UnpairedFlows::on_port(const PacketRecord& record) const {
  if (!record.has(PacketRecord::has_ports)) return {};
  return impl_->by_port.find(mix(pair_hash(record.key), record.udp_source));
}

void UnpairedFlows::add_requester(const PacketRecord& record) {
  ++impl_->requesters[direction_of(record.key)];
}

void UnpairedFlows::remove_requester(const PacketRecord& record) {
  const auto found = impl_->requesters.find(direction_of(record.key));
  if (found == impl_->requesters.end()) return;
  if (--found.value() == 0) impl_->requesters.erase(found);
}

std::size_t UnpairedFlows::requesters_to(const PacketRecord& record) const {
  FlowKey opposite = direction_of(record.key);
  std::swap(opposite.src, opposite.dst);
  const auto found = impl_->requesters.find(opposite);
  return found == impl_->requesters.end() ? 0 : found->second;
}

void UnpairedFlows::change_favourite(std::uint32_t place, std::uint32_t before, std::uint32_t after,
                                     std::uint32_t none) {
  if (before == after) return;
  if (before != none) impl_->by_favourite.remove(before, place);
  if (after != none) impl_->by_favourite.add(after, place);
}

std::span<const std::uint32_t> UnpairedFlows::with_favourite(std::uint32_t favourite) const {
  return impl_->by_favourite.find(favourite);
}

std::uint64_t UnpairedFlows::steps() const noexcept {
  return impl_->by_addresses.steps() + impl_->by_port.steps();
}

}  // namespace roce::analyze
