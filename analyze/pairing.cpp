// SPDX-License-Identifier: Apache-2.0
#include "analyze/pairing.hpp"

#include <tsl/robin_map.h>

#include <algorithm>
#include <cstring>

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

using Places = std::vector<std::uint32_t>;

void erase_place(tsl::robin_map<std::uint64_t, Places>& map, std::uint64_t key, std::uint32_t place) {
  const auto found = map.find(key);
  if (found == map.end()) return;
  Places& places = found.value();
  const auto at = std::find(places.begin(), places.end(), place);
  if (at == places.end()) return;
  *at = places.back();
  places.pop_back();
  if (places.empty()) map.erase(found);
}

}  // namespace

struct UnpairedFlows::Impl {
  tsl::robin_map<std::uint64_t, Places> by_addresses;
  tsl::robin_map<std::uint64_t, Places> by_port;
};

UnpairedFlows::UnpairedFlows() : impl_(std::make_unique<Impl>()) {}
UnpairedFlows::UnpairedFlows(UnpairedFlows&&) noexcept = default;
UnpairedFlows& UnpairedFlows::operator=(UnpairedFlows&&) noexcept = default;
UnpairedFlows::~UnpairedFlows() = default;

void UnpairedFlows::add(std::uint32_t place, const PacketRecord& record) {
  const std::uint64_t hash = pair_hash(record.key);
  impl_->by_addresses[hash].push_back(place);
  if (record.has(PacketRecord::has_ports)) impl_->by_port[mix(hash, record.udp_source)].push_back(place);
}

void UnpairedFlows::remove(std::uint32_t place, const PacketRecord& record) {
  const std::uint64_t hash = pair_hash(record.key);
  erase_place(impl_->by_addresses, hash, place);
  if (record.has(PacketRecord::has_ports)) {
    erase_place(impl_->by_port, mix(hash, record.udp_source), place);
  }
}

std::span<const std::uint32_t> UnpairedFlows::between(const PacketRecord& record) const {
  const auto found = impl_->by_addresses.find(pair_hash(record.key));
  if (found == impl_->by_addresses.end()) return {};
  return found->second;
}

std::span<const std::uint32_t> UnpairedFlows::on_port(const PacketRecord& record) const {
  if (!record.has(PacketRecord::has_ports)) return {};
  const auto found = impl_->by_port.find(mix(pair_hash(record.key), record.udp_source));
  if (found == impl_->by_port.end()) return {};
  return found->second;
}

}  // namespace roce::analyze
