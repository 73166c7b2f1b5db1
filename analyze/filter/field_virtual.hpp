// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "analyze/filter/field_registry.hpp"
#include "analyze/filter/value.hpp"
#include "analyze/packet/packet_view.hpp"

// Internal: fields that are computed rather than read from one header: frame.*, roce.*.
namespace roce::analyze {

struct VirtualField {
  FieldFacts facts;
  void (*extract)(const PacketView& packet, Values& out);
};

/// What one packet and its capture say.
[[nodiscard]] std::span<const VirtualField> virtual_fields();
/// What the packets around it say: roce.connection, roce.direction and roce.analysis.*.
[[nodiscard]] std::span<const VirtualField> analysis_fields();

/// A name that gathers fields of one header kind, as Wireshark's ip.addr does; in the order of `parts`.
/// The name may be that of its first part (ip.version is also IPv6's).
struct CombinedField {
  std::string_view name;
  std::string_view label;
  std::string_view parts[2];
};

[[nodiscard]] std::span<const CombinedField> combined_fields();

}  // namespace roce::analyze
