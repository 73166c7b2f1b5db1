// SPDX-License-Identifier: Apache-2.0
#include "analyze/compare/path_book.hpp"

namespace roce::analyze {

PathBook::Path* PathBook::at(std::uint32_t pair, std::uint16_t port) {
  constexpr unsigned port_bits = 16;
  const std::uint64_t key = std::uint64_t{pair} << port_bits | port;
  if (const auto found = places_.find(key); found != places_.end()) return &paths_[found->second];
  if (paths_.size() >= most_paths) {
    ++omitted_;
    return nullptr;
  }
  places_.emplace(key, static_cast<std::uint32_t>(paths_.size()));
  Path& path = paths_.emplace_back();
  path.pair = pair;
  path.port = port;
  return &path;
}

}  // namespace roce::analyze
