// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "dissect/field.hpp"

// Internal to packet_tree: meanings that no list of names can give, because they are computed.
namespace roce::analyze {

/// Appends " [640000 ns]", " [6 credits]", " [GID of 10.77.0.1]" ... for fields that have such a
/// meaning. `bytes` are those of the value.
void append_field_meaning(std::string& out, const dissect::Field& field, std::uint64_t value,
                          dissect::Bytes bytes);

}  // namespace roce::analyze
