// SPDX-License-Identifier: Apache-2.0
// Output formats of the command `packets`.
#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "analyze/packet/packet_view.hpp"
#include "cli/packets/packets.hpp"

namespace roce::cli {

/// Prints packets in one format. Not thread-safe.
class PacketPrinter {
 public:
  virtual ~PacketPrinter() = default;
  /// Appends what precedes the first packet.
  virtual void begin(std::string&) {}
  virtual void append(std::string& out, const analyze::PacketView& packet) = 0;
  [[nodiscard]] virtual bool needs_icrc() const = 0;
  [[nodiscard]] virtual bool needs_flow() const = 0;
  /// Whether it uses PacketView::verdict.
  [[nodiscard]] virtual bool needs_analysis() const = 0;
};

/// The printer for these options; null if nothing is to be printed (-w or --sidecar without -P). The error is
/// a message for wrong usage: an unknown field, format or option.
[[nodiscard]] tl::expected<std::unique_ptr<PacketPrinter>, std::string> make_printer(
    const PacketsOptions& options);

}  // namespace roce::cli
