// SPDX-License-Identifier: Apache-2.0
#include "cli/capture/capture_run.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

#include "analyze/base/units.hpp"
#include "analyze/report/json/json_report.hpp"
#include "analyze/results/new_findings.hpp"
#include "capture/write/recording_source.hpp"
#include "capture/write/tee_recording.hpp"
#include "cli/capture/capture_control.hpp"
#include "cli/capture/capture_limits.hpp"
#include "cli/capture/capture_recording.hpp"
#include "cli/capture/capture_triggers.hpp"
#include "cli/core/fail_on.hpp"
#include "cli/core/input_files.hpp"
#include "cli/core/link_options.hpp"
#include "cli/core/output.hpp"
#include "cli/core/output_files.hpp"
#include "cli/report/report.hpp"

namespace roce::cli {
namespace {

using analyze::Snapshot;
using Clock = std::chrono::steady_clock;

// A host has thousands of peers at most, fewer than a file may have; and the capture may run for days.
constexpr std::size_t live_flow_limit = 64 * 1024;
constexpr std::chrono::minutes default_idle_limit{10};
// Queue for summaries and reports that are not read yet.
constexpr std::size_t most_output_bytes = std::size_t{16} << 20U;

// If packets go to a file only, a few packets must not wake a thread each time: they are written after about
// half a second (see LiveOptions::gather_time).
constexpr std::chrono::milliseconds recording_gather_time{500};
constexpr std::chrono::milliseconds recording_tick_time{500};

/// Whether the reading end of a pipe was closed.
bool nobody_reads(int descriptor) {
  pollfd output{descriptor, 0, 0};
  return ::poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

/// Writes to the descriptor; reports an error once.
BackgroundWriter::Write report_writer(int descriptor, Encoding encoding) {
  return [descriptor, encoding, told = 0](std::string_view text) mutable {
    Output out(encoding, descriptor);
    out.write(text);
    out.flush();
    if (std::exchange(told, out.error()) != out.error()) (void)out.finish();
  };
}

/// The comment for a finding. Its packet numbers are those of the file, unless that is one of a ring.
std::string finding_comment(const analyze::Finding& finding) {
  return fmt::format("finding: {} {}: {}: {} Packets {}.", analyze::severity_name(finding.severity),
                     finding.id, finding.subject, finding.explanation, fmt::join(finding.packets, ", "));
}

/// One live capture from its device to its report.
class CaptureRun {
 public:
  CaptureRun(const CaptureOptions& options, CaptureSetup setup)
      : options_(options), setup_(std::move(setup)), triggers_(options.trigger) {}

  int run() {
    if (!prepare()) return exit_usage;
    control_.emplace();
    messages_.emplace();
    output_.emplace(report_writer(options_.report_descriptor(), report_encoding()), most_output_bytes);
    if (const int status = open(); status != exit_ok) return status;
    if (const int status = start(); status != exit_ok) return status;
    if (options_.capture_only) {
      record_only();
    } else {
      analyse();
    }
    const bool whole = !files_.recording || files_.recording->finish(source_->interfaces()).has_value();
    // From here on no other thread writes, and a signal ends the program as usual.
    control_->end();
    tell_notices();
    write_what_waits();
    const int recorded = tell_recorded(whole);
    const int status = options_.capture_only ? report_errors(errors_) : report();
    if (options_.capture_only) print_counts();
    control_.reset();
    return recorded != exit_ok ? recorded : status;
  }

 private:
  /// Whether packets go to a file only. With a pipe a reader may be waiting for them.
  [[nodiscard]] bool only_to_file() const { return options_.capture_only && options_.write != "-"; }
  /// Whether standard output is the only output: then its reader decides when the capture ends.
  [[nodiscard]] bool only_to_reader() const {
    return options_.write == "-" || (options_.write.empty() && !setup_.served);
  }
  [[nodiscard]] bool prepare();
  [[nodiscard]] int open();
  [[nodiscard]] capture::Expected<CaptureFiles> open_files();
  [[nodiscard]] int start();
  void record_only();
  void analyse();
  [[nodiscard]] int tell_recorded(bool whole);
  [[nodiscard]] static int report_errors(const std::vector<capture::Error>& errors);
  [[nodiscard]] int report();
  void print_counts() const;

  void take_snapshot(const std::shared_ptr<const Snapshot>& snapshot);
  void tell_news(const Snapshot& snapshot);
  void report_now();
  void hang_up();
  void tell_notices();
  void tick();
  void write_what_waits();
  void write_report(const Snapshot& snapshot, const analyze::ReportSink& sink) const;
  [[nodiscard]] std::string file_of_all() const;
  [[nodiscard]] int print(const Snapshot& snapshot);
  [[nodiscard]] Encoding report_encoding() const noexcept {
    return options_.json ? Encoding::utf8 : Encoding::locale;
  }

  const CaptureOptions& options_;
  CaptureSetup setup_;
  std::optional<analyze::Filter> filter_;
  std::optional<analyze::AnalysisOptions> analysis_;
  capture::LiveSource* live_ = nullptr;  ///< owned by limited_
  std::size_t notices_told_ = 0;
  std::size_t file_notices_told_ = 0;
  std::unique_ptr<capture::CaptureSource> limited_;  ///< limited by -c
  CaptureFiles files_;
  std::unique_ptr<capture::CaptureSource> recorded_;
  capture::CaptureSource* source_ = nullptr;  ///< the last of these
  std::vector<capture::Error> errors_;        ///< with --capture-only

  std::mutex mutex_;  ///< guards what observers and summaries use:
  std::shared_ptr<const Snapshot> latest_ = [] {
    auto none = std::make_shared<Snapshot>();
    none->final = false;
    return none;
  }();
  analyze::NewFindings watch_;
  TriggerWatch triggers_;
  std::shared_ptr<const Snapshot> final_;

  std::optional<MessagesInBackground> messages_;  ///< during the capture, as the next one
  std::optional<BackgroundWriter> output_;
  std::optional<CaptureControl> control_;  ///< destroyed first: its threads use the rest
};

/// Everything that needs no device. False after an error, which was printed.
bool CaptureRun::prepare() {
  if (const std::string wrong = capture_usage_error(options_); !wrong.empty()) {
    print_error("capture: " + wrong);
    return false;
  }
  if (!compile_filter(options_.analyze, filter_)) return false;
  if (filter_ && filter_->needs_analysis()) {
    print_error(
        "-Y: roce.connection, roce.direction and roce.analysis.* need two passes, which a live capture does "
        "not have: record it with -w and filter the file");
    return false;
  }
  analysis_ = analysis_options(options_.analyze);
  if (!analysis_) return false;
  analysis_->filter = filter_ ? &*filter_ : nullptr;
  analysis_->filter_text = options_.analyze.filter;
  analysis_->live = true;
  analysis_->flow_limit = live_flow_limit;
  const auto idle = parse_duration(options_.idle_limit);
  analysis_->idle_limit = idle ? std::chrono::nanoseconds(*idle) : default_idle_limit;
  analysis_->marks = setup_.marks;
  analysis_->publish = [this](std::shared_ptr<const Snapshot> snapshot) { take_snapshot(snapshot); };
  return true;
}

int CaptureRun::open() {
  capture::LiveOptions device = options_.live;
  if (only_to_file()) {
    device.gather_time = recording_gather_time;
    device.own_thread = false;
  }
  auto live = setup_.open(device);
  if (!live) {
    print_error(live.error());
    return exit_input;
  }
  live_ = live->get();
  tell_notices();
  const CaptureLimits stop = parse_limits(options_.stop).value_or(CaptureLimits{});
  std::uint64_t count = options_.count;
  if (stop.packets != 0) count = count == 0 ? stop.packets : std::min(count, stop.packets);
  limited_ = limited(std::move(*live), count);
  source_ = limited_.get();
  auto files = open_files();
  if (!files) return output_error(files.error());
  files_ = std::move(*files);
  if (files_.recording) {
    recorded_ = capture::recorded(*limited_, *files_.recording);
    source_ = recorded_.get();
  }
  return exit_ok;
}

/// Opening a FIFO blocks until it has a reader: nothing is captured yet, so signals must kill the process
/// meanwhile.
class KillableWhileWaiting {
 public:
  explicit KillableWhileWaiting(const std::string& path) {
    struct stat facts {};
    sigset_t deadly;
    sigemptyset(&deadly);
    for (const int number : {SIGINT, SIGTERM}) sigaddset(&deadly, number);
    const bool waits = ::stat(path.c_str(), &facts) == 0 && S_ISFIFO(facts.st_mode);
    if (waits) pthread_sigmask(SIG_UNBLOCK, &deadly, &before_);
    if (!waits) pthread_sigmask(SIG_SETMASK, nullptr, &before_);
  }
  ~KillableWhileWaiting() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  KillableWhileWaiting(const KillableWhileWaiting&) = delete;
  KillableWhileWaiting& operator=(const KillableWhileWaiting&) = delete;

 private:
  sigset_t before_;
};

/// The first file is owned by the user of -Z, like all later ones; if that user may not write there, by root.
capture::Expected<CaptureFiles> CaptureRun::open_files() {
  const KillableWhileWaiting killable(options_.tee.empty() ? options_.write : options_.tee);
  std::unique_ptr<capture::Recording> pipe;
  if (!options_.tee.empty()) {
    auto opened = open_tee(options_.tee, live_->interfaces());
    if (!opened) return tl::unexpected<capture::Error>(std::move(opened.error()));
    pipe = std::move(*opened);
  }
  capture::Expected<CaptureFiles> files{};
  if (setup_.user) {
    const capture::FilesAs as(*setup_.user);
    files = open_capture_files(options_, live_->interfaces());
  }
  if (!setup_.user || (!files && files.error().system_errno == EACCES))
    files = open_capture_files(options_, live_->interfaces());
  if (files && pipe) files->recording = capture::tee(std::move(files->recording), std::move(pipe));
  return files;
}

int CaptureRun::start() {
  CaptureControl::Actions actions;
  actions.stop = [this] { source_->request_stop(); };
  actions.report = [this] { report_now(); };
  actions.hang_up = [this] { hang_up(); };
  actions.tick = [this] { tick(); };
  if (only_to_file()) actions.tick_time = recording_tick_time;
  const CaptureLimits stop = parse_limits(options_.stop).value_or(CaptureLimits{});
  if (stop.duration_ns != 0) actions.deadline = Clock::now() + std::chrono::nanoseconds(stop.duration_ns);
  if (options_.stop_with_input) actions.input = STDIN_FILENO;
  if (auto started = control_->start(std::move(actions)); !started) {
    print_error(started.error());
    return exit_input;
  }
  CaptureStart facts;
  facts.device = options_.live.device;
  facts.write = options_.write;
  facts.interfaces = live_->interfaces();
  facts.output = &*output_;
  facts.counts = [this] {
    const capture::LiveCounts counts = live_->counts();
    return CaptureCounts{counts.delivered, counts.dropped()};
  };
  if (files_.trigger != nullptr)
    facts.trigger = [this](std::string reason) { files_.trigger->trigger_now(std::move(reason)); };
  const std::lock_guard lock(mutex_);
  for (const auto& observer : setup_.observers) {
    if (auto begun = observer->on_start(facts); !begun) {
      print_error(begun.error());
      return exit_input;
    }
  }
  return exit_ok;
}

void CaptureRun::record_only() {
  capture::FrameBatch batch;
  while (true) {
    batch.clear();
    const auto got = source_->next_batch(batch, analysis_->epoch_frames);
    if (!got) errors_.push_back(got.error());
    if (got && *got == 0) return;
  }
}

void CaptureRun::analyse() {
  final_ = analyze::analyze(*source_, *analysis_);
  // Findings that appeared after the last interim snapshot are reported, too.
  const std::lock_guard lock(mutex_);
  tell_news(*final_);
}

/// Reports the contents of the closed files; returns an exit status.
int CaptureRun::tell_recorded(bool whole) {
  if (!files_.recording) return exit_ok;
  const capture::RecordingSummary summary = files_.recording->summary();
  if (summary.refused_triggers != 0) {
    print_error(fmt::format("{} not written: the limits of files or bytes were reached",
                            analyze::plural(summary.refused_triggers, "trigger was", "triggers were")));
  }
  const std::optional<capture::Error> error = whole ? std::nullopt : files_.recording->error();
  // As with all output, a closed pipe is no error.
  const bool reader_left = error && options_.write == "-" && error->system_errno == EPIPE;
  if (!whole && !reader_left) {
    if (error) print_error(*error);
    // With triggers the share of all packets would be meaningless.
    print_error(stopped_text(summary, error ? error->system_errno : 0, files_.trigger == nullptr));
    return exit_input;
  }
  print_error("recorded: " + recording_text(summary));
  return exit_ok;
}

int CaptureRun::report() {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& observer : setup_.observers) observer->on_report();
    for (const auto& observer : setup_.observers) observer->on_end(*final_);
  }
  int status = report_errors(final_->errors);
  if (status == exit_ok && reaches(*final_, options_.fail_on)) status = exit_findings;
  const int written = print(*final_);
  return written != exit_ok ? written : status;
}

int CaptureRun::report_errors(const std::vector<capture::Error>& errors) {
  for (const capture::Error& error : errors) print_error(error);
  return errors.empty() ? exit_ok : exit_input;
}

/// The report of --capture-only.
void CaptureRun::print_counts() const {
  const capture::LiveCounts counts = live_->counts();
  print_error(fmt::format(
      "{} packets captured, {} dropped by the kernel, {} by the interface, {} because writing was too slow",
      counts.delivered, counts.dropped_by_kernel, counts.dropped_by_interface, counts.dropped_by_queue));
}

/// Called by the thread that makes snapshots.
void CaptureRun::take_snapshot(const std::shared_ptr<const Snapshot>& snapshot) {
  const std::lock_guard lock(mutex_);
  latest_ = snapshot;
  for (const auto& observer : setup_.observers) observer->on_snapshot(snapshot);
  tell_news(*snapshot);
}

/// Passes new findings to files and observers. The caller holds mutex_.
void CaptureRun::tell_news(const Snapshot& snapshot) {
  const std::vector<analyze::FindingNews> news = watch_.look(snapshot, Clock::now());
  if (files_.trigger != nullptr) {
    for (TriggerEvent& event : triggers_.look(snapshot, news))
      files_.trigger->trigger(std::move(event.reason), event.time_ns);
  } else if (files_.recording) {
    for (const analyze::FindingNews& each : news) files_.recording->comment(finding_comment(each.finding));
  }
  for (const auto& observer : setup_.observers) {
    for (const analyze::FindingNews& each : news) observer->on_finding(each, snapshot);
  }
}

void CaptureRun::report_now() {
  if (options_.capture_only) return print_counts();
  std::shared_ptr<const Snapshot> snapshot;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& observer : setup_.observers) observer->on_report();
    snapshot = latest_;
  }
  std::string text;
  write_report(*snapshot, {text});
  (void)output_->post(std::move(text));
}

/// SIGHUP: begins a new file; without files it ends the capture, as the terminal is gone.
void CaptureRun::hang_up() {
  if (files_.recording && options_.write != "-") {
    files_.recording->rotate();
  } else {
    source_->request_stop();
  }
}

/// Prints the notices of device and files that were not printed yet. One thread at a time.
void CaptureRun::tell_notices() {
  const auto tell = [this](const std::vector<std::string>& all, std::size_t& told) {
    const std::lock_guard lock(mutex_);
    for (; told < all.size(); ++told) {
      print_error(all[told]);
      for (const auto& observer : setup_.observers) observer->on_notice(all[told]);
    }
  };
  tell(live_->notices(), notices_told_);
  if (files_.recording) tell(files_.recording->summary().notices, file_notices_told_);
}

void CaptureRun::tick() {
  // Without packets nothing is written, so a closed pipe would only be noticed with the next packet.
  if (only_to_reader() && nobody_reads(STDOUT_FILENO)) source_->request_stop();
  if (files_.recording) {
    files_.recording->tick();
    // After an error or at a limit: stop without waiting for the next packet.
    if (files_.recording->ended()) source_->request_stop();
  }
  tell_notices();
  const std::lock_guard lock(mutex_);
  for (const auto& observer : setup_.observers) observer->on_tick();
}

/// All packets are written: from here on output may block, as in any program.
void CaptureRun::write_what_waits() {
  (void)output_->flush();
  if (const std::uint64_t dropped = output_->dropped(); dropped != 0)
    print_error(fmt::format("{} summaries or reports were dropped because they were not read", dropped));
  messages_.reset();
}

void CaptureRun::write_report(const Snapshot& snapshot, const analyze::ReportSink& sink) const {
  if (options_.json) return report_json(snapshot, options_.pretty, sink);
  const int descriptor = options_.report_descriptor();
  sink.text += report_text(snapshot, {text_width(descriptor), want_color(options_.analyze.color, descriptor),
                                      options_.top, file_of_all()});
}

/// The file that has the whole capture, for commands in the report; empty if there is none.
std::string CaptureRun::file_of_all() const {
  if (!files_.recording || files_.trigger != nullptr) return {};
  const capture::RecordingSummary summary = files_.recording->summary();
  return summary.files == 1 && summary.removed_files == 0 ? summary.last_path : std::string();
}

int CaptureRun::print(const Snapshot& snapshot) {
  Output out(report_encoding(), options_.report_descriptor());
  write_report(snapshot, out.sink());
  return out.finish();
}

}  // namespace

int run_capture(const CaptureOptions& options, CaptureSetup setup) {
  return CaptureRun(options, std::move(setup)).run();
}

std::string capture_usage_error(const CaptureOptions& options) {
  const bool to_output = options.write == "-";
  const CaptureLimits ring = parse_limits(options.ring).value_or(CaptureLimits{});
  const CaptureLimits stop = parse_limits(options.stop).value_or(CaptureLimits{});
  const CaptureLimits trigger = parse_limits(options.trigger_limits).value_or(CaptureLimits{});
  const bool files_change = ring.bytes != 0 || ring.duration_ns != 0 || ring.packets != 0;
  const std::string_view promised = compressed_ending(options.write);
  struct Rule {
    bool broken;
    std::string_view message;
  };
  const Rule rules[] = {
      {!options.listen.empty() && options.live.device != fmt::format("{}", fmt::join(options.listen, ",")),
       "-i and --listen exclude each other: a capture has one kind of source"},
      {!options.listen.empty() && !options.live.filter.empty(),
       "-f filters packets of a device; --listen takes all datagrams of its port"},
      {!options.listen.empty() && !options.ring_time.empty(),
       "--ring-time is of RDMA devices, not of --listen"},
      {options.live.device == "-",
       "-i needs a device; to read a capture from standard input: roceanalyze report -"},
      {options.write.empty() && (!options.ring.empty() || stop.bytes != 0 || stop.files != 0),
       "-b, -a filesize and -a files need -w FILE"},
      {options.compress.empty() && !promised.empty() && promised != ".zst",
       "-w: captures can be compressed with zstd only: name it .zst, or set --compress none or zstd"},
      {to_output && (!options.ring.empty() || stop.files != 0), "-w - is one file: no ring (-b)"},
      {!options.ring.empty() && !files_change,
       "-b files:N is the number of files kept; set when a new file begins, too: -b filesize:KB, "
       "duration:SECONDS or packets:N"},
      {options.whole_ring && ring.files == 0, "--whole-ring needs a limit of files: -b files:N"},
      {stop.files != 0 && !files_change,
       "-a files:N needs a ring: -b filesize:KB, duration:SECONDS or packets:N"},
      {!options.tee.empty() && (options.write.empty() || is_stream(options.write)),
       "--tee copies what is recorded: name the files with -w FILE"},
      {!options.trigger.empty() && options.write.empty(),
       "--trigger writes packets: to files with -w FILE, to a stream with -w -"},
      {!options.trigger.empty() && (!options.ring.empty() || stop.bytes != 0 || stop.files != 0),
       "--trigger writes one file per trigger: use --trigger-limit instead of -b, -a filesize and -a files"},
      {!options.trigger.empty() && options.capture_only,
       "--trigger needs the analysis that --capture-only leaves out"},
      {options.trigger.empty() && (!options.before.empty() || !options.after.empty() ||
                                   !options.trigger_limits.empty() || options.trigger_memory_mib),
       "--before, --after, --trigger-limit and --trigger-memory need --trigger"},
      {trigger.packets != 0, "--trigger-limit is files:N, filesize:KB or duration:SECONDS, not packets"},
      {options.write.empty() && !options.compress.empty(), "--compress needs -w FILE"},
      {options.capture_only && options.write.empty(), "--capture-only needs -w FILE"},
      {options.capture_only && (options.json || !options.fail_on.empty() || !options.every.empty() ||
                                !options.analyze.filter.empty() || !options.analyze.policy.empty()),
       "--capture-only has no report: --json, --every, --fail-on, --policy and -Y cannot be used with it"},
      {options.json && options.pretty && !options.every.empty(),
       "--every prints one object per line: --pretty cannot be used with it"},
      {to_output && ::isatty(1) == 1, "-w -: standard output is a terminal; use -w FILE or a pipe"},
  };
  for (const Rule& rule : rules) {
    if (rule.broken) return std::string(rule.message);
  }
  return {};
}

}  // namespace roce::cli
