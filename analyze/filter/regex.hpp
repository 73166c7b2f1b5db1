// SPDX-License-Identifier: Apache-2.0
// Regular expressions of `matches`: RE2, whose time is linear in the subject and whose memory is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace re2 {
class RE2;
}

namespace roce::analyze {

struct RegexError {
  std::size_t offset = 0;  ///< byte of the pattern
  std::string message;
};

/// A pattern in RE2's syntax. Works on bytes; upper and lower case of ASCII are the same, those of no other
/// character. Copies share the compiled pattern.
class Regex {
 public:
  static constexpr unsigned max_repeat = 1000;           ///< RE2's own limit of {m,n}, nested ones multiplied
  static constexpr std::int64_t max_memory = 256 << 10;  ///< bytes of program and cached states

  [[nodiscard]] static tl::expected<Regex, RegexError> compile(std::string_view pattern);

  /// Whether it matches anywhere in `subject`, in time linear in its size. Thread-safe.
  [[nodiscard]] bool search(std::string_view subject) const;

 private:
  explicit Regex(std::shared_ptr<const re2::RE2> compiled);

  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace roce::analyze
