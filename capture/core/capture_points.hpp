// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "capture/core/source.hpp"

// Internal: which interfaces are one place of capture.
namespace roce::capture {

/// What stands behind the name of an interface whose frames were sent by the device, while those it received
/// are of an interface with the name alone: one place of capture, described twice.
inline constexpr std::string_view sent_suffix = " (sent)";

/// Hands out Frame::point. Interfaces that deliver at the same time are places of their own: their packets
/// can be two views of one transmission. What was described in a file (or a section of it) that had ended
/// before this one began is the same place, if nothing told of the two contradicts that: a capture that was
/// cut, or a ring of files. Not thread-safe.
class CapturePoints {
 public:
  struct Place {
    std::uint16_t file = 0;
    std::uint32_t section = 0;  ///< of the file
    std::uint32_t ordinal = 0;  ///< of the interface in its section
  };

  /// The point of an interface. `apart`: its packets are no continuation of anything.
  std::uint16_t claim(const Place& place, const InterfaceInfo& interface, const FileInfo& file,
                      bool apart = false);
  /// Nothing of the file will come any more: another may continue it.
  void ended(std::uint16_t file);

 private:
  struct Point {
    std::uint16_t number = 0;
    Place place;  ///< who has it, or had it last
    std::uint16_t link_type = 0;
    std::string path;
    std::string name, description, hardware;  ///< of the interface
    std::string machine, operating_system;    ///< of the section
    static constexpr std::size_t no_match = std::numeric_limits<std::size_t>::max();
  };
  [[nodiscard]] bool is_free(const Point& point, const Place& place) const;
  [[nodiscard]] static std::size_t likeness(const Point& point, const Point& wanted);
  [[nodiscard]] static bool is_other_direction(const Point& point, const Point& wanted);

  /// Points that may be continued, the one claimed last at the back. Bounded: the oldest go first.
  static constexpr std::size_t limit = 512;
  std::vector<Point> points_;
  std::uint16_t next_ = 0;
  std::vector<bool> ended_;  ///< by file
};

}  // namespace roce::capture
