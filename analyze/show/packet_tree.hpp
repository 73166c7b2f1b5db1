// SPDX-License-Identifier: Apache-2.0
// A packet as a tree: headers, their fields with explanations, and the bytes of each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/packet/packet_view.hpp"

namespace roce::analyze {

/// One line of the tree. `offset` and `length` are its bytes in the frame; length 0: a computed line.
struct TreeLine {
  std::string text;
  std::uint32_t depth = 0;
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  std::string_view field;  ///< name in display filters; empty for notes
};

/// The tree in the order of the bytes, the ICRC last, then notes on the analysis and the dissection.
[[nodiscard]] std::vector<TreeLine> packet_tree(const PacketView& packet);

/// The tree as text, indented by four spaces per level, each line with a newline.
void append_tree(std::string& out, const PacketView& packet);

/// The captured bytes as in `tshark -x`: offset, sixteen bytes, printable characters.
void append_hex_dump(std::string& out, dissect::Bytes bytes);

}  // namespace roce::analyze
