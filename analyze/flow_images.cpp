// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow_images.hpp"

namespace roce::analyze {

FlowImages::FlowImages() : sets_(set_count) {}
FlowImages::~FlowImages() = default;

std::uint32_t FlowImages::put(std::uint64_t hash, std::span<const std::uint64_t> words, std::uint32_t point,
                              std::uint32_t place, std::uint32_t path) {
  constexpr auto relaxed = std::memory_order_relaxed;
  constexpr auto release = std::memory_order_release;
  Set& set = sets_[hash % set_count];
  if (++last_number_ == 0) ++last_number_;
  // That of the same flow, an empty one, or the older one.
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::uint32_t number = set[i].number.load(relaxed);
    if (number != 0 && set[i].place.load(relaxed) == place) {
      chosen = i;
      break;
    }
    if (last_number_ - number > last_number_ - set[chosen].number.load(relaxed)) chosen = i;
  }
  Image& image = set[chosen];
  image.number.store(0, relaxed);
  image.point.store(point, release);
  image.place.store(place, release);
  image.path.store(path, release);
  for (std::size_t i = 0; i < words.size(); ++i) image.words[i].store(words[i], release);
  image.number.store(last_number_, release);
  return last_number_;
}

}  // namespace roce::analyze
