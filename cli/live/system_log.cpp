// SPDX-License-Identifier: Apache-2.0
#include "cli/live/system_log.hpp"

#include <fmt/format.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "analyze/results/severity_counts.hpp"
#include "cli/core/output.hpp"
#include "cli/core/page.hpp"
#include "cli/live/live_figures.hpp"
#include "cli/live/live_screen.hpp"
#include "cli/live/live_summary.hpp"

namespace roce::cli {
namespace {

constexpr std::size_t longest = 900;         // columns of a text: RFC 3164 limits messages to 1024 bytes
constexpr std::size_t most_bytes = 1 << 20;  // queued for a stalled log
constexpr std::chrono::seconds patience{5};  // at the end

/// A value of logfmt: quoted if needed.
std::string value(std::string_view text) {
  // printable(): no line breaks or control characters, valid UTF-8.
  std::string safe = cut_text(printable(text), longest);
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/,@%+";
  if (!safe.empty() && safe.find_first_not_of(plain) == std::string::npos) return safe;
  std::replace(safe.begin(), safe.end(), '"', '\'');
  return '"' + safe + '"';
}

}  // namespace

int log_priority(analyze::Severity severity) noexcept {
  constexpr int priorities[] = {LOG_INFO, LOG_NOTICE, LOG_WARNING, LOG_ERR};
  return priorities[static_cast<std::size_t>(severity)];
}

std::string log_line(const std::string& device, const analyze::FindingNews& news) {
  const analyze::Finding& finding = news.finding;
  std::string packets;
  for (const std::uint64_t number : finding.packets)
    packets += fmt::format("{}{}", packets.empty() ? "" : ",", number);
  return fmt::format("finding={} severity={} device={} news={} count={} subject={} packets={} text={}",
                     finding.id, severity_name(finding.severity), value(device), value(why_name(news.why)),
                     finding.count, value(finding.subject), value(packets), value(finding.explanation));
}

std::string log_line_of_end(const std::string& device, const analyze::Snapshot& snapshot) {
  const analyze::SeverityCounts found = analyze::severity_counts(snapshot);
  const auto of = [&found](analyze::Severity severity) { return found[static_cast<std::size_t>(severity)]; };
  using analyze::Severity;
  const analyze::Diagnosis* worst = analyze::worst_diagnosis(snapshot);
  return fmt::format(
      "capture=ended device={} diagnosis={} severity={} text={} packets={} roce_packets={} dropped={} "
      "errors={} warnings={} notices={}",
      value(device), worst ? worst->cause : "none",
      worst ? analyze::consequence_names[worst->severity] : "none", value(verdict_line(snapshot)),
      snapshot.totals.packets, snapshot.totals.roce_packets, snapshot.dropped().value_or(0),
      of(Severity::error), of(Severity::warning), of(Severity::notice));
}

SystemLog::~SystemLog() {
  if (writer_ != nullptr && writer_->flush()) ::closelog();  // else a thread is still blocked in syslog()
}

/// Queues a message, with its priority as the first character.
void SystemLog::log(int priority, const std::string& text) {
  (void)writer_->post(static_cast<char>('0' + priority) + text);
}

capture::Expected<void> SystemLog::on_start(const CaptureStart& start) {
  device_ = start.device;
  if (::access(_PATH_LOG, F_OK) != 0) {
    print_error(fmt::format("--syslog: no system log is listening at {}: messages are lost until one does",
                            _PATH_LOG));
  }
  ::openlog("roceanalyze", LOG_PID | LOG_NDELAY, LOG_DAEMON);  // connects now, not with the first message
  writer_ = std::make_unique<BackgroundWriter>(
      [](std::string_view message) {
        ::syslog(message.front() - '0', "%s", std::string(message.substr(1)).c_str());
      },
      most_bytes, patience);
  log(LOG_INFO, fmt::format("capture=started device={} file={}", value(device_), value(start.write)));
  return {};
}

void SystemLog::on_finding(const analyze::FindingNews& news, const analyze::Snapshot&) {
  log(log_priority(news.finding.severity), log_line(device_, news));
}

void SystemLog::on_end(const analyze::Snapshot& snapshot) {
  log(LOG_INFO, log_line_of_end(device_, snapshot));
  (void)writer_->flush();
  if (const std::uint64_t dropped = writer_->dropped(); dropped != 0) {
    print_error(
        fmt::format("--syslog: {} messages were lost because the system log did not accept them", dropped));
  }
}

}  // namespace roce::cli
