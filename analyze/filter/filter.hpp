// SPDX-License-Identifier: Apache-2.0
// Display filters in Wireshark's syntax (docs/filters.md).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "analyze/packet/packet_view.hpp"

namespace roce::analyze {

class FieldRef;

/// Why a filter does not compile: the position, and what was expected there.
struct FilterError {
  std::size_t column = 0;  ///< from 1, in characters of the expression
  std::size_t length = 1;  ///< of the offending text
  std::string message;  ///< "expected a value after '=='", "no field 'infiniband.bth.psm'; did you mean ...?"

  /// The expression, a line with a caret under the column, and the message.
  [[nodiscard]] std::string describe(std::string_view expression) const;
};

/// A compiled filter. matches() is thread-safe (its scratch memory is thread-local).
class Filter {
 public:
  [[nodiscard]] static tl::expected<Filter, FilterError> compile(std::string_view expression);

  Filter(Filter&&) noexcept;
  Filter& operator=(Filter&&) noexcept;
  ~Filter();

  [[nodiscard]] bool matches(const PacketView& packet) const;
  /// The fields it uses; see field_registry.hpp.
  [[nodiscard]] std::vector<FieldRef> fields() const;
  [[nodiscard]] bool needs_icrc() const noexcept;
  [[nodiscard]] bool needs_flow() const noexcept;
  /// Upper-layer headers must have been added to the dissection (CmTracker, dissect_ulp()).
  [[nodiscard]] bool needs_upper() const noexcept;
  /// PacketView::verdict must be filled: the capture must have been analysed, to its end if verdicts that
  /// later packets correct matter.
  [[nodiscard]] bool needs_analysis() const noexcept;
  /// The result for one packet depends on the packets before it.
  [[nodiscard]] bool needs_history() const noexcept {
    return needs_flow() || needs_upper() || needs_analysis();
  }

 private:
  struct Program;
  explicit Filter(std::unique_ptr<Program> program);
  std::unique_ptr<Program> program_;
};

}  // namespace roce::analyze
