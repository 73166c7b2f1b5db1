// SPDX-License-Identifier: Apache-2.0
// What the analysis says of each packet, in a file for Wireshark (docs/wireshark.md has its format).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyze/filter/field_registry.hpp"
#include "analyze/filter/value.hpp"
#include "analyze/packet/packet_view.hpp"
#include "capture/core/error.hpp"
#include "capture/write/output_file.hpp"
#include "cli/packets/packets.hpp"

namespace roce::cli {

/// What is wrong with these options, if a sidecar is to be written; else empty.
[[nodiscard]] std::string sidecar_error(const PacketsOptions& options);

/// Writes one row per packet: what identifies it, and the values of all roce fields that are no address.
/// The packets need their ICRC, flow and verdict. Not thread-safe.
class Sidecar {
 public:
  /// The file of `options.sidecar`, which appears when finish() succeeds.
  [[nodiscard]] static capture::Expected<std::unique_ptr<Sidecar>> create(const PacketsOptions& options);

  /// All packets of the capture from the first on, in order. After a failure nothing more is written.
  void append(const analyze::PacketView& packet);
  /// `whole`: there was no packet behind the last one.
  [[nodiscard]] capture::Expected<void> finish(bool whole);

  [[nodiscard]] capture::OutputFile& file() noexcept { return *file_; }

 private:
  explicit Sidecar(std::unique_ptr<capture::OutputFile> file);
  void append_text(const std::string& text);

  std::unique_ptr<capture::OutputFile> file_;
  std::vector<analyze::FieldRef> fields_;
  analyze::Values values_;
  std::string row_;
  std::uint64_t rows_ = 0;
  capture::Expected<void> written_;
};

}  // namespace roce::cli
