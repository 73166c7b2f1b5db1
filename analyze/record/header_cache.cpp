// SPDX-License-Identifier: Apache-2.0
#include "analyze/record/header_cache.hpp"

namespace roce::analyze {

HeaderCache::HeaderCache() : images_(std::size_t{ways} << slot_bits) {}
HeaderCache::~HeaderCache() = default;

std::uint32_t HeaderCache::put(std::uint64_t hash, std::span<const std::uint64_t> words, std::uint32_t point,
                               const Alike& alike) {
  constexpr auto relaxed = std::memory_order_relaxed;
  constexpr auto release = std::memory_order_release;
  if (++last_number_ == 0) ++last_number_;
  // The slot of the same flow, an empty one, or the older one.
  unsigned chosen = 0;
  std::uint32_t oldest = 0;
  for (unsigned way = 0; way < ways; ++way) {
    const auto [number, place] = std::bit_cast<Name>(images_[slot_of(hash, way)].name.load(relaxed));
    if (number != 0 && place == alike.place) {
      chosen = way;
      break;
    }
    if (way == 0 || last_number_ - number > last_number_ - oldest) {
      chosen = way;
      oldest = number;
    }
  }
  Image& image = images_[slot_of(hash, chosen)];
  image.name.store(0, relaxed);
  image.seen.store(std::bit_cast<std::uint64_t>(SeenAt{alike.path, point}), release);
  image.facts.store(alike.facts, release);
  for (std::size_t i = 0; i < words.size(); ++i) image.words[i].store(words[i], release);
  image.name.store(std::bit_cast<std::uint64_t>(Name{last_number_, alike.place}), release);
  return last_number_;
}

}  // namespace roce::analyze
