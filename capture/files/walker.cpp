// SPDX-License-Identifier: Apache-2.0
#include "capture/files/walker.hpp"

namespace roce::capture {

WalkResult Walker::unfinished(const Window& window, std::size_t position, std::size_t wanted) {
  if (!window.at_end) return {position, WalkState::need_more, wanted};
  const std::size_t left = window.size - position;
  if (left == 0 && header_seen_) return {position, WalkState::end, 0};
  context_.count(Incident::cut_short);
  const char* const what = header_seen_ ? "a record" : "its header";
  return fail(position, ErrorKind::cut_short, window.offset + position,
              "the capture ends inside " + std::string(what) + ": it has only " + std::to_string(left) +
                  " of at least " + std::to_string(wanted) + " bytes");
}

std::uint16_t Walker::describe_interface(std::size_t ordinal, InterfaceInfo info) {
  auto& ids = *context_.interface_ids;
  if (ordinal < ids.size()) return static_cast<std::uint16_t>(ids[ordinal]);
  auto& interfaces = *context_.interfaces;
  if (interfaces.size() >= largest_interface_count) {
    InterfaceInfo& last = interfaces.back();
    last.name.clear();
    last.description = "this and all further interfaces";
    last.speed_bps = 0;
    last.snap_length = 0;
    last.filter.clear();
    return static_cast<std::uint16_t>(interfaces.size() - 1);
  }
  info.file = context_.file_index;
  interfaces.push_back(std::move(info));
  ids.push_back(static_cast<std::uint32_t>(interfaces.size() - 1));
  return static_cast<std::uint16_t>(ids.back());
}

std::uint16_t Walker::claim_point(std::uint16_t interface, std::uint32_t section, std::size_t ordinal,
                                  bool apart) {
  InterfaceInfo& info = (*context_.interfaces)[interface];
  info.point = interface;
  if (context_.points != nullptr) {
    info.point = context_.points->claim({context_.file_index, section, static_cast<std::uint32_t>(ordinal)},
                                        info, *context_.file, apart || context_.apart);
  }
  return info.point;
}

}  // namespace roce::capture
