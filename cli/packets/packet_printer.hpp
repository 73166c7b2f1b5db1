// SPDX-License-Identifier: Apache-2.0
// The forms in which `packets` prints a packet.
#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "analyze/packet/packet_view.hpp"
#include "cli/packets/packets.hpp"

namespace roce::cli {

class PacketPrinter {
 public:
  virtual ~PacketPrinter() = default;
  /// What stands before the first packet.
  virtual void begin(std::string&) {}
  virtual void append(std::string& out, const analyze::PacketView& packet) = 0;
  [[nodiscard]] virtual bool needs_icrc() const = 0;
  [[nodiscard]] virtual bool needs_flow() const = 0;
  /// PacketView::verdict is looked at.
  [[nodiscard]] virtual bool needs_analysis() const = 0;
};

/// The printer that the options ask for; null where nothing is to be printed (-w without -P).
/// Fails with a message for wrong usage: an unknown field, form or option.
[[nodiscard]] tl::expected<std::unique_ptr<PacketPrinter>, std::string> make_printer(
    const PacketsOptions& options);

}  // namespace roce::cli
