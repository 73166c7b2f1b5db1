// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "capture/core/source.hpp"

// Internal: which interfaces are one capture point.
namespace roce::capture {

/// A sniffed RDMA port is described as two interfaces: received frames under the port's name, sent frames
/// under the name with this suffix. Both are one capture point.
inline constexpr std::string_view sent_suffix = " (sent)";

/// Assigns Frame::point. Interfaces whose captures overlap in time are capture points of their own: their
/// packets can be two copies of one transmission. An interface continues the capture point of one in a file
/// (or section) that ended before this one began, unless their descriptions contradict that: pieces of a
/// split capture, or the files of a ring. Not thread-safe.
class CapturePoints {
 public:
  struct Place {
    std::uint16_t file = 0;
    std::uint32_t section = 0;  ///< of the file
    std::uint32_t ordinal = 0;  ///< of the interface in its section
  };

  /// The capture point of an interface. `apart`: it continues no other one.
  std::uint16_t claim(const Place& place, const InterfaceInfo& interface, const FileInfo& file,
                      bool apart = false);
  /// No more frames come from the file: another one may continue its capture points.
  void ended(std::uint16_t file);

 private:
  struct Point {
    std::uint16_t number = 0;
    Place place;  ///< of the interface that uses it, or used it last
    std::uint16_t link_type = 0;
    std::string path;
    std::string name, description, hardware;  ///< of the interface
    std::string machine, operating_system;    ///< of the section
    static constexpr std::size_t no_match = std::numeric_limits<std::size_t>::max();
  };
  [[nodiscard]] bool is_free(const Point& point, const Place& place) const;
  [[nodiscard]] static std::size_t likeness(const Point& point, const Point& wanted);
  [[nodiscard]] static bool is_other_direction(const Point& point, const Point& wanted);

  /// Points that may be continued, the one claimed last at the back. At `limit` the oldest are evicted.
  static constexpr std::size_t limit = 512;
  std::vector<Point> points_;
  std::uint16_t next_ = 0;
  std::vector<bool> ended_;  ///< by file
};

}  // namespace roce::capture
