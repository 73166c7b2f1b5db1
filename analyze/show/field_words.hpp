// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "dissect/field.hpp"

// Internal to packet_tree: explanations of field values that are computed, not taken from a table of names.
namespace roce::analyze {

/// Appends " [640000 ns]", " [6 credits]", " [RoCE GID of 10.77.0.1]" ... if there is an explanation for the
/// field. `bytes` are those of the value.
void append_field_meaning(std::string& out, const dissect::Field& field, std::uint64_t value,
                          dissect::Bytes bytes);

}  // namespace roce::analyze
