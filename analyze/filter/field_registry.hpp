// SPDX-License-Identifier: Apache-2.0
// All names a user may type in -e, -Y and --sort of packets: the fields of dissect's tables, their
// headers (presence), Wireshark's combined fields (ip.addr, eth.addr, udp.port), frame.* and roce.*.
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

/// A field found by name; cheap to copy, valid for ever.
class FieldRef {
 public:
  constexpr explicit FieldRef(std::uint32_t index) noexcept : index_(index) {}
  [[nodiscard]] constexpr std::uint32_t index() const noexcept { return index_; }
  constexpr bool operator==(const FieldRef&) const noexcept = default;

 private:
  std::uint32_t index_;
};

struct FieldFacts {
  std::string_view name;
  std::string_view label;
  ValueType type = ValueType::number;
  bool hex = false;  ///< numbers print as 0x…
  std::uint8_t hex_digits = 0;
  std::span<const std::string_view> words;  ///< of a text: all that it can be; empty = anything
  std::uint64_t max = 0;                    ///< largest number the field can hold, 0 = not a number
  bool needs_icrc = false;                  ///< PacketView::icrc must be filled
  bool needs_flow = false;                  ///< PacketView::flow must be filled
  bool needs_upper = false;                 ///< upper-layer headers must have been looked for
  bool needs_analysis = false;              ///< PacketView::verdict must be filled
};

/// The field of that name, case-sensitive as in Wireshark. A name may stand for several rows
/// (infiniband.reth.va exists in RETH and AtomicETH; ip.addr is source and destination).
[[nodiscard]] std::optional<FieldRef> find_field(std::string_view name);
[[nodiscard]] const FieldFacts& field_facts(FieldRef field);
/// Every name, sorted; for completion and for `packets --list-fields`.
[[nodiscard]] const std::vector<FieldRef>& all_fields();
/// Known names close to a mistyped one, best first, at most `limit`.
[[nodiscard]] std::vector<std::string_view> similar_fields(std::string_view name, std::size_t limit);

/// Appends every occurrence of `field` in the packet to `out` (which the caller has cleared).
void extract(const PacketView& packet, FieldRef field, Values& out);

/// Appends the value as `tshark -T fields` of 4.0 prints it.
void append_value(std::string& out, const FieldFacts& facts, const Value& value);

}  // namespace roce::analyze
