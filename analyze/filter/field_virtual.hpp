// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "analyze/filter/field_registry.hpp"
#include "analyze/filter/value.hpp"
#include "analyze/packet/packet_view.hpp"

// Internal: fields that are not read from one header but computed: frame.*, roce.*.
namespace roce::analyze {

struct VirtualField {
  FieldFacts facts;
  void (*extract)(const PacketView& packet, Values& out);
};

/// Fields of the packet itself and of its capture record (field_virtual.cpp).
[[nodiscard]] std::span<const VirtualField> virtual_fields();
/// Names of protocols that are not dissected: present or not.
[[nodiscard]] std::span<const VirtualField> protocol_fields();
/// Fields of the analysis (field_analysis.cpp): roce.connection, roce.direction and roce.analysis.*.
[[nodiscard]] std::span<const VirtualField> analysis_fields();

/// Elements of the records that switches export (field_exported.cpp): as PacketView::exported has them.
[[nodiscard]] std::span<const VirtualField> exported_fields();

/// A name for two fields, as Wireshark's ip.addr; values in the order of `parts`. The name may be that of its
/// first part (ip.version also includes IPv6).
struct CombinedField {
  std::string_view name;
  std::string_view label;
  std::string_view parts[2];
};

[[nodiscard]] std::span<const CombinedField> combined_fields();

}  // namespace roce::analyze
