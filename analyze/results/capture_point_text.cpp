// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/capture_point_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analyze/base/units.hpp"

namespace roce::analyze {

std::string point_name(const std::vector<capture::FileInfo>& files,
                       const std::vector<capture::InterfaceInfo>& interfaces, std::uint16_t point) {
  const auto found = std::find_if(interfaces.begin(), interfaces.end(), [&](const auto& interface) {
    return interface.point == point && interface.packets != 0;
  });
  if (found == interfaces.end() || found->file >= files.size()) return fmt::format("point {}", point);
  const std::string& path = files[found->file].path;
  std::string name = path.substr(path.find_last_of('/') + 1);
  const bool alone = std::count_if(interfaces.begin(), interfaces.end(),
                                   [&](const auto& interface) { return interface.file == found->file; }) == 1;
  if (alone) return name;
  return name +
         (found->name.empty() ? fmt::format(" interface {}", found - interfaces.begin()) : " " + found->name);
}

bool of_several_files(const std::vector<capture::FileInfo>& files,
                      const std::vector<capture::InterfaceInfo>& interfaces,
                      const std::vector<std::uint16_t>& points) {
  const auto holds = [&](std::size_t file, std::uint16_t point) {
    return std::any_of(interfaces.begin(), interfaces.end(), [&](const capture::InterfaceInfo& one) {
      return one.file == file && one.point == point;
    });
  };
  for (std::size_t file = 0; file < files.size(); ++file) {
    if (std::all_of(points.begin(), points.end(), [&](std::uint16_t point) { return holds(file, point); }))
      return false;
  }
  return true;
}

std::vector<std::string> copy_texts(const std::vector<Connection>& connections,
                                    const std::vector<capture::FileInfo>& files,
                                    const std::vector<capture::InterfaceInfo>& interfaces) {
  constexpr std::size_t most = 16;
  std::map<std::pair<std::size_t, std::vector<std::uint16_t>>, std::uint64_t> counts;  // by points
  for (const Connection& connection : connections) {
    const bool copies = connection.points.size() > connection.followed_points;
    if (copies) ++counts[{connection.followed_points, connection.points}];
  }
  std::vector<std::string> texts;
  for (const auto& [where, count] : counts) {
    if (texts.size() >= most) break;
    const std::size_t followed = where.first;
    const std::vector<std::uint16_t>& points = where.second;
    const auto names = [&](std::size_t from, std::size_t to) {
      std::string text;
      for (std::size_t i = from; i < to; ++i) {
        text += (i == from ? "" : ", ") + point_name(files, interfaces, points[i]);
      }
      return text;
    };
    texts.push_back(fmt::format("{} followed at {}, seen at {} too",
                                plural(count, "connection", "connections"), names(0, followed),
                                names(followed, points.size())));
  }
  return texts;
}

std::vector<std::string> clock_texts(const std::vector<ClockOffset>& clocks,
                                     const std::vector<capture::FileInfo>& files,
                                     const std::vector<capture::InterfaceInfo>& interfaces) {
  std::vector<std::string> texts;
  for (const ClockOffset& clock : clocks) {
    if (!clock.sure()) continue;
    const bool behind = clock.offset_ns < 0;
    const double offset_ms = static_cast<double>(behind ? -clock.offset_ns : clock.offset_ns) / 1e6;
    texts.push_back(fmt::format("the clock of {} is {:.3f} ms {} that of {} (+- {:.3f} ms, {} packets)",
                                point_name(files, interfaces, clock.ahead), offset_ms,
                                behind ? "behind" : "ahead of", point_name(files, interfaces, clock.of),
                                static_cast<double>(clock.error_ns) / 1e6, clock.copies));
  }
  return texts;
}

}  // namespace roce::analyze
