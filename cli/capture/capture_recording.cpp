// SPDX-License-Identifier: Apache-2.0
#include "cli/capture/capture_recording.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>

#include "analyze/base/units.hpp"
#include "capture/write/recorder.hpp"
#include "cli/capture/capture_limits.hpp"
#include "cli/core/link_options.hpp"
#include "cli/core/output_files.hpp"
#include "cli/core/version.hpp"

namespace roce::cli {
namespace {

using analyze::plural;

/// Whether the file system failed or vanished: written data may not have reached the disk.
bool is_lost(int system_errno) {
  constexpr int gone[] = {EIO, ENODEV, ENXIO, EROFS, ESTALE, EREMOTEIO};
  return std::find(std::begin(gone), std::end(gone), system_errno) != std::end(gone);
}

std::string system_name() {
  utsname name{};
  if (::uname(&name) != 0) return {};
  return fmt::format("{} {}", name.sysname, name.release);
}

capture::SectionFacts section_facts(const std::vector<capture::InterfaceInfo>& interfaces) {
  capture::SectionFacts section;
  section.application = version_text().substr(0, version_text().find('\n'));
  section.operating_system = system_name();
  // The same as in the live report, so that a report of the file agrees with it.
  if (!interfaces.empty()) section.hardware = interfaces.front().hardware;
  return section;
}

}  // namespace

bool is_stream(const std::string& write) {
  struct stat facts {};
  return write == "-" || (::stat(write.c_str(), &facts) == 0 && S_ISFIFO(facts.st_mode));
}

capture::Expected<std::unique_ptr<capture::Recording>> open_tee(
    const std::string& pipe, const std::vector<capture::InterfaceInfo>& interfaces) {
  if (pipe == "-" || !is_stream(pipe)) {
    capture::Error error;
    error.kind = capture::ErrorKind::not_writable;
    error.path = pipe;
    error.message = "--tee needs a named pipe: mkfifo makes one";
    return tl::unexpected<capture::Error>(std::move(error));
  }
  capture::RecorderOptions recorder;
  recorder.path = pipe;
  recorder.section = section_facts(interfaces);
  auto made = capture::Recorder::create(std::move(recorder), interfaces);
  if (!made) return tl::unexpected<capture::Error>(std::move(made.error()));
  return std::unique_ptr<capture::Recording>(std::move(*made));
}

capture::Expected<CaptureFiles> open_capture_files(const CaptureOptions& options,
                                                   const std::vector<capture::InterfaceInfo>& interfaces) {
  CaptureFiles files;
  if (options.write.empty()) return files;
  // The texts were validated with the command line.
  const CaptureLimits ring = parse_limits(options.ring).value_or(CaptureLimits{});
  const CaptureLimits stop = parse_limits(options.stop).value_or(CaptureLimits{});
  capture::RecorderOptions recorder;
  recorder.path = options.write;
  recorder.compress = options.compress.empty() ? options.write.ends_with(".zst") : options.compress == "zstd";
  recorder.rules.inputs = inputs_of({}, {options.analyze.policy});
  recorder.rules.force = options.force;
  recorder.section = section_facts(interfaces);
  recorder.file_bytes = ring.bytes;
  recorder.file_time = std::chrono::nanoseconds(ring.duration_ns);
  recorder.file_packets = ring.packets;
  recorder.files_kept = ring.files;
  recorder.whole_ring = options.whole_ring;
  recorder.all_bytes = stop.bytes;
  recorder.all_files = stop.files;
  if (options.trigger.empty()) {
    auto made = capture::Recorder::create(std::move(recorder), interfaces);
    if (!made) return tl::unexpected<capture::Error>(std::move(made.error()));
    files.recording = std::move(*made);
    return files;
  }
  capture::TriggerOptions trigger;
  std::unique_ptr<capture::Recorder> stream;
  trigger.recorder = std::move(recorder);
  const auto set = [](std::chrono::nanoseconds& to, const std::string& text) {
    if (const auto ns = parse_duration(text)) to = std::chrono::nanoseconds(*ns);
  };
  set(trigger.before, options.before);
  set(trigger.after, options.after);
  if (options.trigger_memory_mib) trigger.memory_bytes = *options.trigger_memory_mib << 20U;
  const CaptureLimits limits = parse_limits(options.trigger_limits).value_or(CaptureLimits{});
  if (limits.files != 0) trigger.most_files = limits.files;
  if (limits.bytes != 0) trigger.most_bytes = limits.bytes;
  if (limits.duration_ns != 0) trigger.longest = std::chrono::nanoseconds(limits.duration_ns);
  if (is_stream(options.write)) {
    capture::RecorderOptions whole = trigger.recorder;
    whole.all_bytes = limits.bytes;
    if (limits.files == 0) trigger.most_files = 0;
    auto opened = capture::Recorder::create(std::move(whole), interfaces);
    if (!opened) return tl::unexpected<capture::Error>(std::move(opened.error()));
    stream = std::move(*opened);
  }
  auto made = std::make_unique<capture::TriggerRecorder>(std::move(trigger), std::move(stream));
  files.trigger = made.get();
  files.recording = std::move(made);
  return files;
}

std::string recording_text(const capture::RecordingSummary& summary) {
  if (summary.last_path.empty()) return "nothing was written";
  if (summary.files == 0) return "no file is left";
  std::string text = plural(summary.packets, "packet", "packets");
  if (summary.files == 1) {
    text += fmt::format(", {} in {}", plural(summary.bytes, "byte", "bytes"),
                        summary.last_path == "-" ? "standard output" : summary.last_path);
  } else {
    text += fmt::format(", {} in {}, the last is {}", plural(summary.bytes, "byte", "bytes"),
                        plural(summary.files, "file", "files"), summary.last_path);
  }
  if (summary.removed_files != 0) {
    text += fmt::format("; the ring removed {} with {}",
                        plural(summary.removed_files, "older file", "older files"),
                        plural(summary.removed_packets, "packet", "packets"));
  }
  if (summary.removed_earlier != 0)
    text += "; the ring removed " + plural(summary.removed_earlier, "file", "files") + " of earlier captures";
  return text;
}

std::string stopped_text(const capture::RecordingSummary& summary, int system_errno, bool all) {
  const std::string of = all ? fmt::format(" (of {} captured)", summary.given) : std::string();
  if (!is_lost(system_errno) || summary.packets == 0)
    return fmt::format("recording stopped; kept: {}{}", recording_text(summary), of);
  return fmt::format(
      "recording stopped; written until then: {}{}; data that the system had not yet written to the disk is "
      "lost",
      recording_text(summary), of);
}

}  // namespace roce::cli
