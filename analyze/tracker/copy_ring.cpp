// SPDX-License-Identifier: Apache-2.0
#include "analyze/tracker/copy_ring.hpp"

#include <algorithm>

namespace roce::analyze {

std::uint64_t key_of(const PacketRecord& r) noexcept {
  const auto mix = [](std::uint64_t h, std::uint64_t word) {
    h = (h ^ word) * 0x9e3779b97f4a7c15U;
    return h ^ h >> 32U;
  };
  std::uint64_t h = mix(r.psn, std::uint64_t{r.opcode} << 32U | r.payload);
  h = mix(h, r.has(PacketRecord::has_ip_id) ? std::uint64_t{r.ip_id} + 1 : 0);
  h = mix(h, r.has(PacketRecord::has_aeth) ? std::uint64_t{r.aeth} + 1 : 0);
  return mix(h, r.has(PacketRecord::has_reth) ? std::uint64_t{r.dma_length} << 32U | r.r_key : 0);
}

bool CopyRing::grow(CopyBudget& budget) {
  const std::size_t wanted = slots_.empty() ? first_size : slots_.size() * 2;
  const std::size_t more = (wanted - slots_.size()) * slot_bytes;
  if (wanted > largest_size || more > budget.left) return false;
  std::vector<Sighting> kept;
  kept.reserve(end_ - begin_);
  for_each([&](const Sighting& sighting) { kept.push_back(sighting); });
  slots_.assign(wanted, Sighting{});
  buckets_.assign(wanted, 0);
  places_.assign(wanted, 0);
  budget.left -= more;
  begin_ = end_ = 1;
  for (const Sighting& sighting : kept) put(sighting);
  return true;
}

void CopyRing::put(Sighting sighting) noexcept {
  std::uint32_t& bucket = buckets_[sighting.key & mask()];
  sighting.older = bucket;
  bucket = end_;
  std::uint32_t& newest = places_[sighting.psn_place & mask()];
  sighting.older_place = newest;
  newest = end_;
  slots_[end_ & mask()] = sighting;
  ++end_;
}

std::optional<Sighting> CopyRing::add(const Sighting& sighting, CopyBudget& budget) {
  std::optional<Sighting> gone;
  constexpr std::uint32_t last = 0xf0000000;
  if (end_ >= last) [[unlikely]] {  // begins to count anew
    std::vector<Sighting> kept;
    for_each([&](const Sighting& one) { kept.push_back(one); });
    std::fill(buckets_.begin(), buckets_.end(), 0);
    std::fill(places_.begin(), places_.end(), 0);
    begin_ = end_ = 1;
    for (const Sighting& one : kept) put(one);
  }
  if (end_ - begin_ >= slots_.size() && !grow(budget)) {
    if (slots_.empty()) return sighting;  // no memory at all: forgotten at once
    gone = slots_[begin_ & mask()];
    ++begin_;
  }
  put(sighting);
  return gone;
}

const Sighting* CopyRing::newest_at(std::uint32_t psn_place) const noexcept {
  if (slots_.empty()) return nullptr;
  std::uint32_t at = places_[psn_place & mask()];
  for (unsigned looks = 0; looks < most_looks && is_kept(at); ++looks) {
    const Sighting& sighting = slots_[at & mask()];
    if (sighting.psn_place == psn_place) return &sighting;
    if (sighting.older_place >= at) break;
    at = sighting.older_place;
  }
  return nullptr;
}

Sighting* CopyRing::find_frame(std::uint64_t frame) noexcept {
  std::uint32_t from = begin_, to = end_;
  while (from != to) {
    const std::uint32_t middle = from + (to - from) / 2;
    if (slots_[middle & mask()].frame < frame) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  if (from == end_ || slots_[from & mask()].frame != frame) return nullptr;
  return &slots_[from & mask()];
}

void CopyRing::release(CopyBudget& budget) noexcept {
  budget.left += slots_.size() * slot_bytes;
  slots_ = {};
  buckets_ = {};
  places_ = {};
  begin_ = end_ = 1;
}

}  // namespace roce::analyze
