// SPDX-License-Identifier: Apache-2.0
// All field names for -e, -Y and --sort of `packets`: the fields of dissect's header tables, their headers
// (presence), Wireshark's combined fields (ip.addr, eth.addr, udp.port), frame.* and roce.*. The registry is
// built once and constant; all functions are thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/filter/value.hpp"
#include "analyze/packet/packet_view.hpp"

namespace roce::analyze {

/// A field found by name; cheap to copy, valid for the whole run.
class FieldRef {
 public:
  constexpr explicit FieldRef(std::uint32_t index) noexcept : index_(index) {}
  [[nodiscard]] constexpr std::uint32_t index() const noexcept { return index_; }
  constexpr bool operator==(const FieldRef&) const noexcept = default;

 private:
  std::uint32_t index_;
};

/// FieldFacts::max_bytes of a field whose values may have any length.
inline constexpr std::uint32_t unbounded_bytes = ~std::uint32_t{0};

struct FieldFacts {
  std::string_view name;
  std::string_view label;
  ValueType type = ValueType::number;
  bool hex = false;  ///< numbers are printed as 0x…
  std::uint8_t hex_digits = 0;
  std::span<const std::string_view> words;  ///< possible values of a text; empty = any
  std::uint64_t max = 0;                    ///< largest possible number, 0 = not a number
  /// Bytes of a value of bytes, text or an address: the fewest and the most that are possible.
  std::uint32_t min_bytes = 0, max_bytes = unbounded_bytes;
  bool restates = false;        ///< left out where all fields are shown: others have its values
  bool needs_icrc = false;      ///< PacketView::icrc must be filled
  bool needs_flow = false;      ///< PacketView::flow must be filled
  bool needs_upper = false;     ///< dissect_ulp() must have been called for the packet
  bool needs_analysis = false;  ///< PacketView::verdict must be filled
};

/// The field of that name, case-sensitive as in Wireshark. A name may refer to several header fields
/// (infiniband.reth.va exists in RETH and AtomicETH; ip.addr is source and destination).
[[nodiscard]] std::optional<FieldRef> find_field(std::string_view name);
[[nodiscard]] const FieldFacts& field_facts(FieldRef field);
/// All fields, sorted by name; for completion and for `packets --list-fields`.
[[nodiscard]] const std::vector<FieldRef>& all_fields();
/// Names similar to a mistyped one, best first, at most `limit`.
[[nodiscard]] std::vector<std::string_view> similar_fields(std::string_view name, std::size_t limit);

/// Appends every occurrence of `field` in the packet to `out`, which the caller has cleared.
void extract(const PacketView& packet, FieldRef field, Values& out);

/// Appends the value as printed by `tshark -T fields` 4.0.
void append_value(std::string& out, const FieldFacts& facts, const Value& value);

}  // namespace roce::analyze
