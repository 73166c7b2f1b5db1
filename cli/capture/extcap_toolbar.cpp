// SPDX-License-Identifier: Apache-2.0
#include "cli/capture/extcap_toolbar.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "analyze/base/units.hpp"
#include "analyze/results/severity_counts.hpp"
#include "cli/live/live_summary.hpp"

namespace roce::cli {
namespace {

using Command = ToolbarMessage::Command;

constexpr char sync_byte = 'T';
constexpr std::size_t message_header = 4;       // sync byte and a length of three bytes
constexpr std::size_t message_fixed = 2;        // control and command, which the length counts
constexpr std::size_t most_payload = 4096 - 6;  // PIPE_BUF: taken as a whole or not at all
constexpr std::size_t most_log_lines = 1000;

struct Control {
  std::string_view type;
  std::string_view title;
  std::string_view tooltip;
};
constexpr Control toolbar_controls[] = {
    {"{type=string}", "Counts", "Packets captured and dropped so far"},
    {"{type=button}", "Trigger", "Show the packets around this moment (captures with a trigger)"},
    {"{type=button}{role=logger}", "Log", "Notices, findings and drops of the capture"}};

capture::Expected<capture::OwnedDescriptor> open_pipe(const std::string& path, int flags) {
  capture::OwnedDescriptor pipe(path.empty() ? -1 : ::open(path.c_str(), flags | O_NONBLOCK | O_CLOEXEC));
  if (!path.empty() && pipe.get() < 0) {
    capture::Error error;
    error.kind = capture::ErrorKind::not_writable;
    error.path = path;
    error.system_errno = errno;
    error.message = fmt::format("the toolbar's pipe cannot be opened: {}", std::strerror(errno));
    return tl::unexpected<capture::Error>(std::move(error));
  }
  return pipe;
}

}  // namespace

std::string extcap_controls() {
  std::string text;
  int number = 0;
  for (const Control& each : toolbar_controls)
    text += fmt::format("control {{number={}}}{}{{display={}}}{{tooltip={}}}\n", number++, each.type,
                        each.title, each.tooltip);
  return text;
}

std::string encode_toolbar_message(ToolbarControl control, Command command, std::string_view payload) {
  std::size_t size = std::min(payload.size(), most_payload);
  // Not inside of a character of UTF-8.
  while (size < payload.size() && size > 0 && (static_cast<unsigned char>(payload[size]) & 0xc0U) == 0x80U)
    --size;
  const std::size_t length = size + message_fixed;
  std::string message{sync_byte,
                      static_cast<char>(length >> 16U),
                      static_cast<char>(length >> 8U),
                      static_cast<char>(length),
                      static_cast<char>(control),
                      static_cast<char>(command)};
  return message.append(payload.substr(0, size));
}

std::vector<ToolbarMessage> take_toolbar_messages(std::string& bytes) {
  std::vector<ToolbarMessage> messages;
  std::size_t at = 0;
  while (true) {
    at = std::min(bytes.find(sync_byte, at), bytes.size());
    if (bytes.size() - at < message_header + message_fixed) break;
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[at + i]); };
    const std::size_t length = std::size_t{byte(1)} << 16U | std::size_t{byte(2)} << 8U | byte(3);
    if (length < message_fixed) {
      ++at;
      continue;
    }
    if (bytes.size() - at < message_header + length) break;
    messages.push_back(
        {byte(4), byte(5), bytes.substr(at + message_header + message_fixed, length - message_fixed)});
    at += message_header + length;
  }
  bytes.erase(0, at);
  return messages;
}

capture::Expected<void> ExtcapToolbar::on_start(const CaptureStart& start) {
  auto in = open_pipe(in_path_, O_RDONLY);
  if (!in) return tl::unexpected<capture::Error>(std::move(in.error()));
  // For reading, too: Wireshark opens its end later, and until then the pipe holds what was sent.
  auto out = open_pipe(out_path_, O_RDWR);
  if (!out) return tl::unexpected<capture::Error>(std::move(out.error()));
  in_ = std::move(*in);
  out_ = std::move(*out);
  counts_ = start.counts;
  trigger_ = start.trigger;
  if (!trigger_) (void)send(ToolbarControl::trigger, Command::disable, {});
  on_tick();
  return {};
}

void ExtcapToolbar::on_finding(const analyze::FindingNews& news, const analyze::Snapshot& snapshot) {
  log(finding_line(news.finding, analyze::shown_severity(news.finding, snapshot)));
}

void ExtcapToolbar::on_notice(const std::string& text) {
  log(text);
}

void ExtcapToolbar::on_tick() {
  obey();
  tell_counts();
  tell_log();
}

void ExtcapToolbar::on_end(const analyze::Snapshot&) {
  on_tick();
}

/// Does what the toolbar's buttons ask for.
void ExtcapToolbar::obey() {
  std::array<char, 4096> bytes{};
  while (in_.get() >= 0) {
    const ssize_t got = ::read(in_.get(), bytes.data(), bytes.size());
    if (got <= 0) break;
    received_.append(bytes.data(), static_cast<std::size_t>(got));
    for (const ToolbarMessage& each : take_toolbar_messages(received_)) {
      const bool pressed = each.control == static_cast<std::uint8_t>(ToolbarControl::trigger) &&
                           each.command == static_cast<std::uint8_t>(Command::set);
      if (!pressed || !trigger_) continue;
      trigger_("trigger: the button in Wireshark's toolbar");
      log("trigger: the button in Wireshark's toolbar");
    }
  }
}

void ExtcapToolbar::log(std::string text) {
  if (log_.size() == most_log_lines) {
    log_.pop_front();
    ++log_lost_;
  }
  log_.push_back(std::move(text) + "\n");
}

void ExtcapToolbar::tell_counts() {
  const CaptureCounts counts = counts_();
  if (counts.dropped > drops_told_) {
    const std::string text = analyze::plural(counts.dropped, "packet was dropped", "packets were dropped");
    if (drops_told_ == 0) log(text);
    if (send(ToolbarControl::counts, Command::status, text)) drops_told_ = counts.dropped;
  }
  std::string text = fmt::format("{} captured, {} dropped", counts.captured, counts.dropped);
  if (text == counts_told_) return;
  if (send(ToolbarControl::counts, Command::set, text)) counts_told_ = std::move(text);
}

void ExtcapToolbar::tell_log() {
  if (log_lost_ != 0 && send(ToolbarControl::log, Command::add,
                             fmt::format("{} lines of this log were not read in time\n", log_lost_)))
    log_lost_ = 0;
  while (!log_.empty() && send(ToolbarControl::log, Command::add, log_.front())) log_.pop_front();
}

/// False: the pipe is full.
bool ExtcapToolbar::send(ToolbarControl control, Command command, std::string_view payload) {
  if (out_.get() < 0) return true;
  const std::string message = encode_toolbar_message(control, command, payload);
  return ::write(out_.get(), message.data(), message.size()) == static_cast<ssize_t>(message.size());
}

}  // namespace roce::cli
