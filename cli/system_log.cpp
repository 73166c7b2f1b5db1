// SPDX-License-Identifier: Apache-2.0
#include "cli/system_log.hpp"

#include <fmt/format.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "cli/live_figures.hpp"
#include "cli/live_screen.hpp"
#include "cli/live_summary.hpp"
#include "cli/output.hpp"
#include "cli/page.hpp"

namespace roce::cli {
namespace {

constexpr std::size_t longest = 900;  // of a text: RFC 3164 has messages of 1024 bytes

/// Bare where that is clear, else in quotes.
std::string value(std::string_view text) {
  // No line breaks, no escapes, valid UTF-8.
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
  const SeverityCounts found = severity_counts(snapshot);
  const auto of = [&found](analyze::Severity severity) { return found[static_cast<std::size_t>(severity)]; };
  using analyze::Severity;
  return fmt::format(
      "capture=ended device={} packets={} roce_packets={} dropped={} errors={} warnings={} notices={} "
      "text={}",
      value(device), snapshot.totals.packets, snapshot.totals.roce_packets, snapshot.dropped().value_or(0),
      of(Severity::error), of(Severity::warning), of(Severity::notice), value(verdict_line(snapshot)));
}

SystemLog::~SystemLog() {
  if (open_) ::closelog();
}

capture::Expected<void> SystemLog::on_start(const CaptureStart& start) {
  device_ = start.device;
  if (::access(_PATH_LOG, F_OK) != 0) {
    print_error(fmt::format("--syslog: no system log listens at {}: what is logged before one does is lost",
                            _PATH_LOG));
  }
  ::openlog("roceanalyze", LOG_PID | LOG_NDELAY, LOG_DAEMON);  // now, not with the first message
  open_ = true;
  ::syslog(LOG_INFO, "%s",
           fmt::format("capture=started device={} file={}", value(device_), value(start.write)).c_str());
  return {};
}

void SystemLog::on_finding(const analyze::FindingNews& news, const analyze::Snapshot&) {
  ::syslog(log_priority(news.finding.severity), "%s", log_line(device_, news).c_str());
}

void SystemLog::on_end(const analyze::Snapshot& snapshot) {
  ::syslog(LOG_INFO, "%s", log_line_of_end(device_, snapshot).c_str());
}

}  // namespace roce::cli
