// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow/flow_table.hpp"

#include <tsl/robin_set.h>

#include <algorithm>
#include <utility>

namespace roce::analyze {

struct FlowTable::Index {
  struct Hash {
    const StableVector<Flow>* flows;
    std::size_t operator()(std::uint32_t place) const noexcept { return (*flows)[place].key.hash(); }
    std::size_t operator()(const FlowKey& key) const noexcept { return key.hash(); }
  };
  struct Equal {
    using is_transparent = void;
    const StableVector<Flow>* flows;
    bool operator()(std::uint32_t a, std::uint32_t b) const noexcept { return a == b; }
    bool operator()(std::uint32_t place, const FlowKey& key) const noexcept {
      return (*flows)[place].key == key;
    }
    bool operator()(const FlowKey& key, std::uint32_t place) const noexcept {
      return (*flows)[place].key == key;
    }
  };

  explicit Index(const StableVector<Flow>& flows) : places(0, Hash{&flows}, Equal{&flows}) {}

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

/// Removes the place from the index, unless its key belongs to another place by now.
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
    if (!flows_[place].in_use) continue;  // evicted together with another
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
