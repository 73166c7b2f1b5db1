// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace roce::analyze {

/// A cell of CSV (RFC 4180), quoted if need be. What a spreadsheet would run as a formula, that is what
/// begins with = + - @ tab or CR and is not a plain number, gets a single quote in front: spreadsheets show
/// such cells as text. Names in a capture are anybody's.
void append_csv(std::string& out, std::string_view cell);

}  // namespace roce::analyze
