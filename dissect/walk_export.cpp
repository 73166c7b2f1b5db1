// SPDX-License-Identifier: Apache-2.0
#include "dissect/walk_export.hpp"

#include <algorithm>

#include "dissect/headers/ip.hpp"

namespace roce::dissect {

Part udp_payload(const Walk& walk) noexcept {
  const std::uint8_t* const udp = walk.base + walk.out.layers[walk.out.udp].offset;
  std::uint32_t declared = walk.declared - std::min(walk.declared, walk.offset);
  if (walk.out.has(Note::fragmented))
    declared = std::max<std::uint32_t>(declared, read<Udp::length>(udp) - std::uint32_t{Udp::size});
  return {{walk.at(), std::min(walk.left(), declared)}, declared};
}

void note_end(Walk& walk, End end, HeaderId id) noexcept {
  if (end == End::complete || walk.out.stop != Stop::complete) return;
  walk.out.stop = end == End::cut ? Stop::cut_by_capture : Stop::contradicts_itself;
  walk.out.stopped_at = id;
}

bool add_export(Walk& walk, HeaderId id, std::uint32_t offset, std::size_t length) noexcept {
  if (walk.out.layer_count >= max_layers_of_exports) {
    walk.out.stop = Stop::too_deep;
    walk.out.stopped_at = id;
    return false;
  }
  walk.offset = offset;
  walk.push(id, static_cast<std::uint32_t>(length));
  return true;
}

bool walk_exported(Walk& walk, Bytes bytes, std::uint32_t wire, Step step) noexcept {
  const auto offset = static_cast<std::uint32_t>(bytes.data() - walk.base);
  const auto end = static_cast<std::uint32_t>(offset + bytes.size());
  constexpr std::uint32_t longest = 0xffff;
  const std::uint32_t length = wire == 0 ? longest : std::min(wire, longest);
  const std::uint32_t declared = std::max(offset + length, end);
  Dissection inner;
  inner.reset();
  Walk within{walk.base, offset, end, declared, declared, inner, walk.options, true};
  take_steps(within, step);
  for (const Layer& layer : inner.all()) {
    if (!add_export(walk, layer.id, layer.offset, layer.length)) return false;
    walk.out.layers[walk.out.layer_count - 1U].sampled = true;
  }
  return true;
}

}  // namespace roce::dissect
