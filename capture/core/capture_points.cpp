// SPDX-License-Identifier: Apache-2.0
#include "capture/core/capture_points.hpp"

#include <algorithm>
#include <utility>

namespace roce::capture {
namespace {

/// How many bytes two paths have in common at their beginning and end: files of one ring, or pieces of one
/// file, differ in a few digits only.
std::size_t common_bytes(const std::string& a, const std::string& b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t front = 0, back = 0;
  while (front < most && a[front] == b[front]) ++front;
  while (back < most - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  return front + back;
}

}  // namespace

bool CapturePoints::is_free(const Point& point, const Place& place) const {
  if (point.place.file == place.file) return point.place.section < place.section;
  return point.place.file < ended_.size() && ended_[point.place.file];
}

/// How well `wanted` fits as a continuation of `point`; no_match if their descriptions differ.
std::size_t CapturePoints::likeness(const Point& point, const Point& wanted) {
  if (point.link_type != wanted.link_type) return Point::no_match;
  std::size_t agreed = 0;
  const std::pair<const std::string*, const std::string*> told[] = {
      {&point.name, &wanted.name},
      {&point.description, &wanted.description},
      {&point.hardware, &wanted.hardware},
      {&point.machine, &wanted.machine},
      {&point.operating_system, &wanted.operating_system}};
  for (const auto& [one, other] : told) {
    if (one->empty() || other->empty()) continue;  // pcap files have no such field
    if (*one != *other) return Point::no_match;
    ++agreed;
  }
  const bool same_ordinal = point.place.ordinal == wanted.place.ordinal;
  if (!same_ordinal && (point.name.empty() || wanted.name.empty())) return Point::no_match;
  constexpr std::size_t longest_path = 4096;
  return (2 * agreed + (same_ordinal ? 1U : 0U)) * longest_path +
         std::min(common_bytes(point.path, wanted.path), longest_path - 1);
}

/// Two interfaces of one section: the frames that a device sent, and those that it received.
bool CapturePoints::is_other_direction(const Point& point, const Point& wanted) {
  if (point.place.file != wanted.place.file || point.place.section != wanted.place.section) return false;
  if (point.link_type != wanted.link_type || point.hardware != wanted.hardware) return false;
  const auto is_sent_of = [](std::string_view sent, std::string_view received) {
    return !received.empty() && sent.size() == received.size() + sent_suffix.size() &&
           sent.starts_with(received) && sent.ends_with(sent_suffix);
  };
  return is_sent_of(point.name, wanted.name) || is_sent_of(wanted.name, point.name);
}

std::uint16_t CapturePoints::claim(const Place& place, const InterfaceInfo& interface, const FileInfo& file,
                                   bool apart) {
  Point wanted;
  wanted.place = place;
  wanted.link_type = interface.link_type;
  wanted.path = file.path;
  wanted.name = interface.name;
  wanted.description = interface.description;
  wanted.hardware = interface.hardware;
  wanted.machine = file.hardware;
  wanted.operating_system = file.operating_system;

  const auto other = std::find_if(points_.rbegin(), points_.rend(),
                                  [&](const Point& point) { return is_other_direction(point, wanted); });
  if (other != points_.rend()) {
    wanted.number = other->number;
    if (points_.size() >= limit) points_.erase(points_.begin());
    points_.push_back(std::move(wanted));
    return points_.back().number;
  }

  auto best = points_.end();
  std::size_t best_likeness = 0;
  for (auto point = points_.begin(); point != points_.end() && !apart; ++point) {
    if (!is_free(*point, place)) continue;
    const std::size_t how_alike = likeness(*point, wanted);
    if (how_alike == Point::no_match) continue;
    if (best != points_.end() && how_alike < best_likeness) continue;
    best = point;
    best_likeness = how_alike;
  }
  if (best != points_.end()) {
    wanted.number = best->number;
    points_.erase(best);
  } else {
    // A number that is in use must not be assigned again: the packets would count as copies of those of the
    // other interface. When the numbers run out the remaining interfaces share the last one.
    wanted.number = next_;
    if (next_ < std::numeric_limits<std::uint16_t>::max()) ++next_;
    if (points_.size() >= limit) points_.erase(points_.begin());
  }
  points_.push_back(std::move(wanted));
  return points_.back().number;
}

void CapturePoints::ended(std::uint16_t file) {
  if (file >= ended_.size()) ended_.resize(std::size_t{file} + 1);
  ended_[file] = true;
}

}  // namespace roce::capture
