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
#include "cli/capture/capture_control.hpp"
#include "cli/capture/capture_limits.hpp"
#include "cli/capture/capture_recording.hpp"
#include "cli/capture/capture_triggers.hpp"
#include "cli/core/fail_on.hpp"
#include "cli/core/input_files.hpp"
#include "cli/core/link_options.hpp"
#include "cli/core/output.hpp"
#include "cli/report/report.hpp"

namespace roce::cli {
namespace {

using analyze::Snapshot;
using Clock = std::chrono::steady_clock;

// A host talks to thousands of others, not to as many as a file may show; and it runs for days.
constexpr std::size_t live_flow_limit = 64 * 1024;
constexpr std::chrono::minutes default_idle_limit{10};
constexpr std::size_t width_of_a_pipe = 100;
// Of summaries and reports that nobody reads yet.
constexpr std::size_t most_output_bytes = std::size_t{16} << 20U;

// Where packets go to a file and nowhere else, few of them shall not wake a thread each time: they are
// written after half a second, mostly (see LiveOptions::gather_time).
constexpr std::chrono::milliseconds recording_gather_time{500};
constexpr std::chrono::milliseconds recording_tick_time{500};
/// The reading end of a pipe was closed.
bool nobody_reads(int descriptor) {
  pollfd output{descriptor, 0, 0};
  return ::poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

/// What it fails with is told once.
BackgroundWriter::Write report_writer(int descriptor) {
  return [descriptor, told = 0](std::string_view text) mutable {
    Output out(descriptor);
    out.write(text);
    out.flush();
    if (std::exchange(told, out.error()) != out.error()) (void)out.finish();
  };
}

/// As it stands in the file, which has the same numbers of packets unless it is one of a ring.
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
    output_.emplace(report_writer(options_.report_descriptor()), most_output_bytes);
    if (const int status = open(); status != exit_ok) return status;
    if (const int status = start(); status != exit_ok) return status;
    if (options_.capture_only) {
      record_only();
    } else {
      analyse();
    }
    const bool whole = !files_.recording || files_.recording->finish(source_->interfaces()).has_value();
    // From here on nobody else writes, and a signal ends the program as usual.
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
  /// A pipe has a reader who may wait.
  [[nodiscard]] bool only_to_file() const { return options_.capture_only && options_.write != "-"; }
  /// Where nothing else comes of it, it is for who reads standard output.
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

  const CaptureOptions& options_;
  CaptureSetup setup_;
  std::optional<analyze::Filter> filter_;
  std::optional<analyze::AnalysisOptions> analysis_;
  capture::LiveSource* live_ = nullptr;  ///< inside of limited_
  std::size_t notices_told_ = 0;
  std::size_t file_notices_told_ = 0;
  std::unique_ptr<capture::CaptureSource> limited_;  ///< by -c
  CaptureFiles files_;
  std::unique_ptr<capture::CaptureSource> recorded_;
  capture::CaptureSource* source_ = nullptr;  ///< the last of these
  std::vector<capture::Error> errors_;        ///< without an analysis

  std::mutex mutex_;  ///< for all that observers and summaries use:
  std::shared_ptr<const Snapshot> latest_ = [] {
    auto none = std::make_shared<Snapshot>();
    none->final = false;
    return none;
  }();
  analyze::FindingWatch watch_;
  TriggerWatch triggers_;
  std::shared_ptr<const Snapshot> final_;

  std::optional<MessagesInBackground> messages_;  ///< while packets are taken, as the next one
  std::optional<BackgroundWriter> output_;
  std::optional<CaptureControl> control_;  ///< goes first: its threads use the rest
};

/// All that needs no device.
bool CaptureRun::prepare() {
  if (const std::string wrong = capture_usage_error(options_); !wrong.empty()) {
    print_error("capture: " + wrong);
    return false;
  }
  if (!compile_filter(options_.analyze, filter_)) return false;
  if (filter_ && filter_->needs_analysis()) {
    print_error(
        "-Y: roce.connection, roce.direction and roce.analysis.* are known after a first reading, which a "
        "live "
        "capture has not: record it with -w and filter the file");
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
  if (!files) {
    print_error(files.error());
    return exit_input;
  }
  files_ = std::move(*files);
  if (files_.recording) {
    recorded_ = capture::recorded(*limited_, *files_.recording);
    source_ = recorded_.get();
  }
  return exit_ok;
}

/// Opening a FIFO waits for its reader, maybe for ever: nothing is captured yet, and signals kill meanwhile.
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

/// The first file is the user's as all later ones are; where that user may not write, it is root's.
capture::Expected<CaptureFiles> CaptureRun::open_files() {
  const KillableWhileWaiting killable(options_.write);
  if (setup_.user) {
    const FilesAs as(*setup_.user);
    auto files = open_capture_files(options_, live_->interfaces());
    if (files || files.error().system_errno != EACCES) return files;
  }
  return open_capture_files(options_, live_->interfaces());
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
  // What nobody has seen coming is news as well.
  const std::lock_guard lock(mutex_);
  tell_news(*final_);
}

/// Says what the closed files hold.
int CaptureRun::tell_recorded(bool whole) {
  if (!files_.recording) return exit_ok;
  const capture::RecordingSummary summary = files_.recording->summary();
  if (summary.refused_triggers != 0) {
    print_error(fmt::format("{} not written: the limits of files or bytes were reached",
                            analyze::plural(summary.refused_triggers, "trigger was", "triggers were")));
  }
  const std::optional<capture::Error> error = whole ? std::nullopt : files_.recording->error();
  // As with all output: a reader that has enough is no error.
  const bool reader_left = error && options_.write == "-" && error->system_errno == EPIPE;
  if (!whole && !reader_left) {
    if (error) print_error(*error);
    // Triggers choose what goes to files: of how much says nothing then.
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

/// What a capture says that nobody looked into.
void CaptureRun::print_counts() const {
  const capture::LiveCounts counts = live_->counts();
  print_error(fmt::format(
      "{} packets captured, {} dropped by the kernel, {} by the interface, {} for want of time to write them",
      counts.delivered, counts.dropped_by_kernel, counts.dropped_by_interface, counts.dropped_by_queue));
}

/// On the thread that makes snapshots.
void CaptureRun::take_snapshot(const std::shared_ptr<const Snapshot>& snapshot) {
  const std::lock_guard lock(mutex_);
  latest_ = snapshot;
  for (const auto& observer : setup_.observers) observer->on_snapshot(snapshot);
  tell_news(*snapshot);
}

/// What is new in it goes to files and observers. With mutex_.
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

/// Files change; without files that could, the terminal is gone and so is who waits for the report.
void CaptureRun::hang_up() {
  if (files_.recording && options_.write != "-") {
    files_.recording->rotate();
  } else {
    source_->request_stop();
  }
}

/// Of the device and the files, those that were not told yet. On one thread at a time.
void CaptureRun::tell_notices() {
  const auto tell = [](const std::vector<std::string>& all, std::size_t& told) {
    for (; told < all.size(); ++told) print_error(all[told]);
  };
  tell(live_->notices(), notices_told_);
  if (files_.recording) tell(files_.recording->summary().notices, file_notices_told_);
}

void CaptureRun::tick() {
  // Without packets nothing is written, and one who has gone would be noticed with the next packet only.
  if (only_to_reader() && nobody_reads(STDOUT_FILENO)) source_->request_stop();
  if (files_.recording) {
    files_.recording->tick();
    // Its files failed, or are as many as wanted: not only when the next packet comes.
    if (files_.recording->ended()) source_->request_stop();
  }
  tell_notices();
  const std::lock_guard lock(mutex_);
  for (const auto& observer : setup_.observers) observer->on_tick();
}

/// Packets are safe by now: from here on the program waits for who reads it, as any other does.
void CaptureRun::write_what_waits() {
  (void)output_->flush();
  if (const std::uint64_t dropped = output_->dropped(); dropped != 0)
    print_error(
        fmt::format("{} summaries or reports were not written, for nobody read them meanwhile", dropped));
  messages_.reset();
}

void CaptureRun::write_report(const Snapshot& snapshot, const analyze::ReportSink& sink) const {
  if (options_.json) return report_json(snapshot, options_.pretty, sink);
  const int descriptor = options_.report_descriptor();
  const unsigned width = terminal_width(descriptor);
  sink.text +=
      report_text(snapshot, {width != 0 ? width : width_of_a_pipe,
                             want_color(options_.analyze.color, descriptor), options_.top, file_of_all()});
}

/// The file that holds all that was captured, if one does: what commands of the report can be tried on.
std::string CaptureRun::file_of_all() const {
  if (!files_.recording || files_.trigger != nullptr) return {};
  const capture::RecordingSummary summary = files_.recording->summary();
  return summary.files == 1 && summary.removed_files == 0 ? summary.last_path : std::string();
}

int CaptureRun::print(const Snapshot& snapshot) {
  Output out(options_.report_descriptor());
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
      {options.live.device == "-",
       "-i is a device; a capture that comes on standard input is read by: roceanalyze report -"},
      {options.write.empty() && (!options.ring.empty() || stop.bytes != 0 || stop.files != 0),
       "-b, -a filesize and -a files are about the files of -w, and there is none"},
      {options.compress.empty() && !promised.empty() && promised != ".zst",
       "-w: what is compressed while it comes is zstd: name it .zst, or say --compress none or zstd"},
      {to_output && (!options.ring.empty() || stop.files != 0), "standard output is one file: no ring (-b)"},
      {!options.ring.empty() && !files_change,
       "-b files:N says how many files stay; when does a new one begin? -b filesize:KB, duration:SECONDS or "
       "packets:N"},
      {options.whole_ring && ring.files == 0, "--whole-ring is about a ring of so many files: -b files:N"},
      {stop.files != 0 && !files_change,
       "-a files:N needs a ring: -b filesize:KB, duration:SECONDS or packets:N"},
      {!options.trigger.empty() && (options.write.empty() || to_output),
       "--trigger writes files: name them with -w FILE"},
      {!options.trigger.empty() && (!options.ring.empty() || stop.bytes != 0 || stop.files != 0),
       "--trigger makes a file each time: -b, -a filesize and -a files do not go with it, --trigger-limit "
       "does"},
      {!options.trigger.empty() && options.capture_only,
       "--trigger needs the analysis that --capture-only leaves out"},
      {options.trigger.empty() && (!options.before.empty() || !options.after.empty() ||
                                   !options.trigger_limits.empty() || options.trigger_memory_mib),
       "--before, --after, --trigger-limit and --trigger-memory are about --trigger"},
      {trigger.packets != 0, "--trigger-limit is files:N, filesize:KB or duration:SECONDS, not packets"},
      {options.write.empty() && !options.compress.empty(),
       "--compress is about the files of -w, and there is none"},
      {options.capture_only && options.write.empty(), "--capture-only needs -w FILE"},
      {options.capture_only && (options.json || !options.fail_on.empty() || !options.every.empty() ||
                                !options.analyze.filter.empty() || !options.analyze.policy.empty()),
       "--capture-only makes no report: --json, --every, --fail-on, --policy and -Y do not go with it"},
      {options.json && options.pretty && !options.every.empty(),
       "--every prints an object a line: not --pretty"},
      {to_output && ::isatty(1) == 1,
       "standard output is a terminal: packets would only disturb it (-w FILE, or a pipe)"},
  };
  for (const Rule& rule : rules) {
    if (rule.broken) return std::string(rule.message);
  }
  return {};
}

}  // namespace roce::cli
