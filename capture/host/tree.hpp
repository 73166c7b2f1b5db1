// SPDX-License-Identifier: Apache-2.0
// Reads files of sysfs, procfs and configfs below a root: "/", a copy of another machine's tree, or a hostile
// one. Nothing read here can hang, grow without bound or lead out of the root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/host/facts.hpp"

namespace roce::capture {

/// Collects problems while it reads. Not thread-safe.
class HostTree {
 public:
  static constexpr std::size_t most_bytes = 64 * 1024;  ///< of one file
  static constexpr std::size_t most_entries = 4096;     ///< of one folder
  static constexpr std::size_t most_problems = 1000;    ///< kept; further ones are counted
  /// Files and folders opened in all: bounds the time for a tree with many devices and ports.
  static constexpr std::size_t most_openings = 1'000'000;

  explicit HostTree(std::string root, std::size_t openings = most_openings);
  ~HostTree();
  HostTree(const HostTree&) = delete;
  HostTree& operator=(const HostTree&) = delete;

  enum class Absent : std::uint8_t {
    fine,     ///< many machines do not have it
    strange,  ///< its absence is a problem
  };
  /// The text of a file without leading and trailing white space; none if it cannot be read, is not text or
  /// is too long, which is added to problems(). Paths are relative to the root: "sys/class/net".
  [[nodiscard]] std::optional<std::string> text(const std::string& path, Absent absent = Absent::fine);
  /// A whole decimal or 0x number.
  [[nodiscard]] std::optional<std::uint64_t> number(const std::string& path, Absent absent = Absent::fine);
  /// Names in a folder in natural order: mlx5_2 before mlx5_10. Empty if there is no such folder.
  [[nodiscard]] std::vector<std::string> names(const std::string& path, Absent absent = Absent::fine);
  /// The last component of a symbolic link's target.
  [[nodiscard]] std::optional<std::string> link(const std::string& path);
  [[nodiscard]] bool exists(const std::string& path);
  /// Whether it exists and is no folder; text() reports other file types.
  [[nodiscard]] bool is_file(const std::string& path);

  void problem(std::string path, std::string message);
  [[nodiscard]] const std::string& root() const noexcept { return root_; }
  [[nodiscard]] std::vector<HostProblem>& problems() noexcept { return problems_; }
  [[nodiscard]] std::uint64_t problems_dropped() const noexcept { return problems_dropped_; }

 private:
  [[nodiscard]] int open_below(const std::string& path, int flags);
  void failed(const std::string& path, int error, Absent absent);

  std::string root_;
  std::size_t most_openings_;
  int descriptor_ = -1;
  std::size_t openings_ = 0;
  std::vector<HostProblem> problems_;
  std::uint64_t problems_dropped_ = 0;
};

/// A decimal or 0x number without any other characters.
[[nodiscard]] std::optional<std::uint64_t> whole_number(std::string_view text) noexcept;
/// Without white space at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;
/// The lines of a text, trimmed, empty ones left out.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);
/// Words between white space.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

}  // namespace roce::capture
