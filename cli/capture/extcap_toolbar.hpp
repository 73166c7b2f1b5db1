// SPDX-License-Identifier: Apache-2.0
// The toolbar of an external capture in Wireshark (doc/extcap.4: messages of its control pipes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/core/error.hpp"
#include "capture/write/output_place.hpp"
#include "cli/live/capture_observer.hpp"

namespace roce::cli {

/// Numbers of the controls, in the order of extcap_controls().
enum class ToolbarControl : std::uint8_t { counts, trigger, log };
/// The lines of --extcap-interfaces that describe the toolbar.
[[nodiscard]] std::string extcap_controls();

/// One message of the pipes between Wireshark's toolbar and an external capture.
struct ToolbarMessage {
  enum class Command : std::uint8_t { initialized, set, add, remove, enable, disable, status, information };
  std::uint8_t control = 0;
  std::uint8_t command = 0;  ///< a Command, or one that this program does not know
  std::string payload;
};
/// `payload` is cut so that a pipe takes the message as a whole (4096 bytes).
[[nodiscard]] std::string encode_toolbar_message(ToolbarControl control, ToolbarMessage::Command command,
                                                 std::string_view payload);
/// Takes the complete messages from the front of `bytes`; what is no message is skipped.
[[nodiscard]] std::vector<ToolbarMessage> take_toolbar_messages(std::string& bytes);

/// Serves Wireshark's toolbar: counts, a button that triggers, and a log of notices and findings. Never waits
/// for Wireshark: of what its pipe does not take, the newest 1000 lines of the log are kept.
class ExtcapToolbar : public CaptureObserver {
 public:
  /// Named pipes: `in` has messages of Wireshark, `out` those for it; either may be empty.
  ExtcapToolbar(std::string in, std::string out) : in_path_(std::move(in)), out_path_(std::move(out)) {}

  /// Fails if a pipe cannot be opened.
  [[nodiscard]] capture::Expected<void> on_start(const CaptureStart& start) override;
  void on_finding(const analyze::FindingNews& news, const analyze::Snapshot& snapshot) override;
  void on_notice(const std::string& text) override;
  void on_tick() override;
  void on_end(const analyze::Snapshot& snapshot) override;

 private:
  void obey();
  void log(std::string text);
  void tell_counts();
  void tell_log();
  [[nodiscard]] bool send(ToolbarControl control, ToolbarMessage::Command command, std::string_view payload);

  const std::string in_path_;
  const std::string out_path_;
  capture::OwnedDescriptor in_;
  capture::OwnedDescriptor out_;
  std::function<CaptureCounts()> counts_;
  std::function<void(std::string)> trigger_;
  std::string received_;     ///< not yet a whole message
  std::string counts_told_;  ///< the last text
  std::uint64_t drops_told_ = 0;
  std::deque<std::string> log_;  ///< lines not yet sent
  std::uint64_t log_lost_ = 0;
};

}  // namespace roce::cli
