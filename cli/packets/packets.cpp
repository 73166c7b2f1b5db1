// SPDX-License-Identifier: Apache-2.0
#include "cli/packets/packets.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "analyze/base/units.hpp"
#include "analyze/filter/filter.hpp"
#include "analyze/packet/verdict_store.hpp"
#include "analyze/pipeline/packet_walk.hpp"
#include "analyze/record/packet_record.hpp"
#include "analyze/results/capture_health.hpp"
#include "analyze/tracker/tracker.hpp"
#include "capture/core/comments.hpp"
#include "capture/core/source.hpp"
#include "capture/write/capture_writer.hpp"
#include "capture/write/output_file.hpp"
#include "cli/core/analyze_options.hpp"
#include "cli/core/command.hpp"
#include "cli/core/confined_inputs.hpp"
#include "cli/core/input_files.hpp"
#include "cli/core/interrupt.hpp"
#include "cli/core/link_options.hpp"
#include "cli/core/output.hpp"
#include "cli/core/output_files.hpp"
#include "cli/packets/field_list.hpp"
#include "cli/packets/packet_printer.hpp"
#include "cli/packets/pipe_follower.hpp"
#include "cli/packets/sidecar.hpp"
#include "dissect/dissect.hpp"

namespace roce::cli {
namespace {

analyze::TimeRange times_of(const PacketsOptions& options) {
  analyze::TimeRange times;
  if (!options.from.empty()) times.from = parse_time(options.from);
  if (!options.to.empty()) times.to = parse_time(options.to);
  return times;
}

/// The captures of the command.
struct PacketsInput {
  std::vector<std::string> files;
  bool twice = false;  ///< regular files, which can be read again
  std::unique_ptr<capture::CaptureSource> source;
};

/// A capture is not replaced without --force, not even an earlier one of -w: it may be the name of an input,
/// after a forgotten name of the output.
capture::OutputRules rules_of(const PacketsOptions& options) {
  return {
      .inputs = inputs_of(options.files, {options.policy}), .may_replace = nullptr, .force = options.force};
}

capture::Compression compression_of(const PacketsOptions& options) {
  return capture::compression_of_word(options.compress).value_or(capture::compression_of_name(options.write));
}

class Run {
 public:
  Run(const PacketsOptions& options, std::unique_ptr<PacketPrinter> printer,
      std::optional<analyze::Filter> filter, PacketsInput input,
      std::shared_ptr<const analyze::MarkingPolicy> policy, std::unique_ptr<capture::OutputFile> output,
      std::unique_ptr<Sidecar> sidecar)
      : options_(options),
        printer_(std::move(printer)),
        filter_(std::move(filter)),
        source_(std::move(input.source)),
        input_(std::move(input)),
        policy_(std::move(policy)),
        output_(std::move(output)),
        sidecar_(std::move(sidecar)),
        limits_(options.reading.limits()),
        most_(limits_.frames) {
    dissect_options_ = options.dissecting.with(policy_.get());
    walk_.emplace(dissect_options_);
    times_ = times_of(options);
    link_speed_bps_ = parse_link_speed(options.link_speed).value_or(0);
    icrc_for_filter_ = !options.no_icrc && filter_ && filter_->needs_icrc();
    icrc_for_output_ = !options.no_icrc && (sidecar_ || (printer_ && printer_->needs_icrc()));
    needs_flow_ = sidecar_ || (filter_ && filter_->needs_flow()) || (printer_ && printer_->needs_flow());
    needs_analysis_ = !options.no_analysis && (sidecar_ || (filter_ && filter_->needs_analysis()) ||
                                               (printer_ && printer_->needs_analysis()));
  }

  int run() {
    if (output_) {
      auto writer = capture::create_capture_writer(
          std::move(output_),
          {.format =
               capture::capture_format_of(options_.write_format).value_or(capture::CaptureFormat::pcapng),
           .compression = compression_of(options_),
           .application = "roceanalyze",
           .comments = section_comments_.news(source_->files())});
      if (!writer) return fail(writer.error());
      writer_ = std::move(*writer);
    }
    // Which flow a packet is of may show only behind it, where queue pair numbers are used again.
    if ((needs_analysis_ || (needs_flow_ && !options_.no_analysis)) && input_.twice) {
      if (const std::optional<int> status = analyze_first()) return *status;
    } else if (needs_analysis_) {
      print_error(
          "a pipe is read only once: results that depend on packets far behind (roce.analysis.response, late "
          "pairing of directions) are missing; save it to a file for these, or use --no-analysis");
      pipe_.emplace(dissect_options_, !options_.no_icrc);
    }
    source_ = within(std::move(source_), {0, limits_.deadline});
    if (needs_flow_ && !pipe_) tracker_.emplace();  // flow numbers are those of the report
    if (printer_) printer_->begin(out_.buffer());
    {
      const Interruptible interruptible(*source_);
      read_all();
    }
    report_incompleteness_of_source();
    const std::string wrong = range_error(times_, walk_->count(), walk_->first_time());
    if (!wrong.empty()) {
      print_error(wrong);
      status_ = std::max<int>(status_, exit_usage);
    }
    if (writer_ && status_of_writer_ == exit_ok) {
      if (const auto finished = writer_->finish(source_->interfaces()); !finished)
        status_of_writer_ = fail(finished.error());
      for (const std::string& omission : writer_->omissions())
        print_error(fmt::format("{}: {}", options_.write, omission));
    }
    const int status_of_output = std::max(out_.finish(), finish_sidecar());
    if (chosen_frames_ == 0 && status_ == exit_ok && options_.format == "text") print_error(nothing_text());
    return std::max({status_, status_of_writer_, status_of_output});
  }

 private:
  /// Why no packet was printed or written. On standard error: lines of the output are packets.
  [[nodiscard]] std::string nothing_text() const {
    if (walk_->count() == 0) return "no packets";
    return fmt::format("no packet matches: {} read",
                       analyze::plural(walk_->count(), "packet was", "packets were"));
  }
  /// Prints the error and returns the status; a closed pipe with `-w -` is no error.
  static int fail(const capture::Error& error) {
    return error.system_errno == EPIPE ? int{exit_ok} : output_error(error);
  }

  int finish_sidecar() {
    if (!sidecar_) return exit_ok;
    const bool whole = status_ == exit_ok && at_end_ && (most_ == 0 || walk_->count() < most_);
    const auto written = sidecar_->finish(whole);
    return written ? int{exit_ok} : output_error(written.error());
  }

  /// The first pass: a verdict for each packet that will be read. Returns a status if there is no second
  /// pass.
  std::optional<int> analyze_first() {
    verdicts_.emplace();
    analyze::AnalysisOptions analysis;
    analysis.jobs = options_.jobs;
    analysis.check_icrc = !options_.no_icrc;
    analysis.dissecting = dissect_options_;
    analysis.verdicts = &*verdicts_;
    // No more than N packets are printed, so none are missing.
    source_ = within(limited(std::move(source_), most_), {0, limits_.half_time()});
    const auto pass = first_pass_ = run_pass(*source_, analysis, first_pass_label);
    if (pass->interrupted && pass->stop_reason == capture::StopReason::time_limit) {
      ended_ = pass->stop_reason;
    } else if (pass->interrupted) {
      print_error(
          fmt::format("interrupted in the first pass, after {} packets: nothing was {}; --no-analysis "
                      "prints without a first pass",
                      pass->frames_read, writer_ ? "written" : "printed"));
      return exit_input;
    }
    status_ = std::max(status_, report_lost_verdicts(*verdicts_));
    auto again = open_timed(input_.files, options_.clock);
    if (!again) return fail(again.error());
    // A file that grows has packets without a verdict behind those of the first pass. Errors of the files are
    // reported by the second one.
    source_ = capture::reread(std::move(*again), pass->frames_read);
    return std::nullopt;
  }

  /// What was not read is in no line of the output: so a message and the status report it.
  void report_incompleteness_of_source() {
    if (source_->stopped()) ended_ = source_->stop_reason();
    if (ended_) {
      print_error(
          fmt::format("incomplete: {} after {} packets", analyze::stop_text(*ended_), walk_->count()));
      status_ = std::max<int>(status_, exit_input);
    }
    if (const std::uint64_t skipped = source_->statistics().skipped; skipped != 0) {
      print_error(
          fmt::format("incomplete: {} packets name an interface that the capture never describes and "
                      "were skipped",
                      skipped));
      status_ = std::max<int>(status_, exit_input);
    }
  }

  /// Copies the comments of sections that begin here. False on failure.
  bool write_section_comments(std::vector<std::string> comments) {
    if (!writer_ || comments.empty()) return true;
    if (const auto written = writer_->begin_section(source_->interfaces(), std::move(comments)); !written) {
      stop_writing(written.error());
      return false;
    }
    return true;
  }

  void stop_writing(const capture::Error& error) {
    status_of_writer_ = fail(error);
    writer_.reset();  // removes the temporary file
  }

  void read_all() {
    const std::size_t limit = options_.tree || options_.hex ? 256 : 4096;
    std::uint64_t read = 0;
    for (;;) {
      std::size_t wanted = limit;
      if (most_ != 0)
        wanted = static_cast<std::size_t>(std::min<std::uint64_t>(limit, most_ - std::min(read, most_)));
      auto piece = std::make_shared<Piece>();
      const auto got = wanted != 0 ? source_->next_batch(piece->batch, wanted) : 0;
      if (!got) {
        print_error(got.error());
        status_ = exit_input;
      }
      const std::size_t frames = piece->batch.frames.size();
      read += frames;
      piece->comments = capture::BatchComments(piece->batch);
      const bool ends = got && *got == 0;
      at_end_ = ends;
      if (writer_ && (frames != 0 || ends))
        piece->section_comments = section_comments_.news(source_->files());
      if (!use_piece(std::move(piece), ends) || ends) return;
      // Fewer than requested: the input pauses or ends. Show what there is.
      if (frames < wanted) out_.flush();
      out_.flush_if_full();
      if (!out_.good()) return;
    }
  }

  /// False: stop reading.
  bool use_piece(std::shared_ptr<const Piece> piece, bool is_last) {
    if (!pipe_) {
      if (!write_section_comments(piece->section_comments)) return false;
      return std::all_of(piece->batch.frames.begin(), piece->batch.frames.end(),
                         [&](const capture::Frame& frame) { return use_frame(frame, piece->comments); });
    }
    pipe_->add(piece);
    if (is_last) pipe_->end();
    while (const std::optional<PipeFollower::Ready> ready = pipe_->next()) {
      const bool first = ready->frame == ready->piece->batch.frames.data();
      if (first && !write_section_comments(ready->piece->section_comments)) return false;
      flow_ = ready->flow;
      if (!use_frame(*ready->frame, ready->piece->comments)) return false;
    }
    return !is_last || !piece->batch.frames.empty() || write_section_comments(piece->section_comments);
  }

  /// Prints or writes the frame if it matches. False: stop reading.
  bool use_frame(const capture::Frame& captured, const capture::BatchComments& comments) {
    if (!show(captured, comments) || !writer_) return true;
    capture::Frame frame = captured;
    if (frame.time_ns == capture::no_time) frame.time_ns = 0;  // every format needs a time
    const auto written = writer_->write(frame, source_->interfaces()[frame.interface], comments.of(frame));
    if (!written) stop_writing(written.error());
    return written.has_value();
  }

  /// Whether the frame matches; prints it then.
  bool show(const capture::Frame& frame, const capture::BatchComments& comments) {
    analyze::PacketView view = walk_->next(frame, source_->interfaces(), comments,
                                           tracker_ && !options_.no_icrc ? &*tracker_ : nullptr);
    view.policy = policy_.get();
    if (link_speed_bps_ != 0) {
      link_ = view.interface != nullptr ? *view.interface : capture::InterfaceInfo();
      link_.speed_bps = link_speed_bps_;
      view.interface = &link_;
    }
    if (icrc_for_filter_) view.icrc = dissect::check_icrc(view.bytes(), *view.dissection);
    if (tracker_) follow(view);
    if (pipe_) view.flow = flow_;
    if (verdicts_) view.verdict = verdicts_->find(view.number);
    if (first_pass_ && view.flow && view.verdict) {
      const unsigned side = view.verdict->has(analyze::Verdict::b_to_a) ? 1 : 0;
      if (const auto flow = first_pass_->flow_of(view.verdict->connection, side)) view.flow = flow;
    }
    if (pipe_) view.verdict = pipe_->verdict();
    if (!times_.contains(frame.time_ns, view.first_time_ns)) return false;
    if (filter_ && !filter_->matches(view)) return false;
    ++chosen_frames_;
    if (icrc_for_output_ && !view.icrc) view.icrc = dissect::check_icrc(view.bytes(), *view.dissection);
    if (printer_) printer_->append(out_.buffer(), view);
    if (sidecar_) sidecar_->append(view);
    return true;
  }

  /// Sets the packet's flow.
  void follow(analyze::PacketView& view) {
    if (const analyze::CmExchange* made = walk_->connected())
      tracker_->connected(*made, walk_->index_of(*made));
    analyze::make_record(*view.frame, *view.dissection, record_);
    if (!record_.has(analyze::PacketRecord::valid)) return;
    if (!options_.no_icrc) {
      if (!view.icrc) view.icrc = dissect::check_icrc(view.bytes(), *view.dissection);
      record_.icrc = static_cast<std::uint8_t>(view.icrc->status);
    }
    view.flow = tracker_->flow_id(record_);
    tracker_->track_one(record_, view.number);
  }

  const PacketsOptions& options_;
  std::unique_ptr<PacketPrinter> printer_;
  std::optional<analyze::Filter> filter_;
  std::unique_ptr<capture::CaptureSource> source_;
  PacketsInput input_;  ///< its source is source_
  std::shared_ptr<const analyze::MarkingPolicy> policy_;
  std::unique_ptr<capture::OutputFile> output_;  ///< of -w, until the writer has it
  std::unique_ptr<Sidecar> sidecar_;
  std::unique_ptr<capture::CaptureWriter> writer_;
  capture::ReadingLimits limits_;
  std::uint64_t most_;                         ///< frames that are read; 0 = all
  std::optional<capture::StopReason> ended_;   ///< why reading ended before the end and before `most_`
  capture::SectionComments section_comments_;  ///< those that were written
  std::uint64_t link_speed_bps_ = 0;           ///< of all links; 0 = as described in the capture
  capture::InterfaceInfo link_;                ///< interface of the present frame, with that speed
  dissect::Options dissect_options_;
  analyze::TimeRange times_;
  bool icrc_for_filter_ = false;
  bool icrc_for_output_ = false;
  bool needs_flow_ = false;
  bool needs_analysis_ = false;
  std::optional<analyze::VerdictStore> verdicts_;  ///< of the first pass, if there was one
  std::shared_ptr<const analyze::Snapshot> first_pass_;
  std::optional<PipeFollower> pipe_;         ///< for a single pass
  std::optional<std::uint64_t> flow_;        ///< of the present frame, if so
  std::optional<analyze::Tracker> tracker_;  ///< else for flow numbers

  Output out_{options_.format == "text" ? Encoding::locale : Encoding::utf8};
  analyze::PacketRecord record_;
  std::optional<analyze::PacketWalk> walk_;
  std::uint64_t chosen_frames_ = 0;  ///< printed or written
  bool at_end_ = false;              ///< nothing stopped the reading before
  int status_ = exit_ok;
  int status_of_writer_ = exit_ok;
};

}  // namespace

int run_packets(const PacketsOptions& options) {
  if (options.list_fields) return list_fields();
  if (options.files.empty()) return usage_error("packets: no FILE given (- is standard input)");
  for (const std::string* text : {&options.from, &options.to}) {
    if (const std::string wrong = text->empty() ? std::string() : time_error(*text); !wrong.empty())
      return usage_error(wrong);
  }
  if (const std::string wrong = range_error(times_of(options)); !wrong.empty()) return usage_error(wrong);
  auto printer = make_printer(options);
  if (!printer) return usage_error(printer.error());
  if (options.write.empty() && !(options.write_format.empty() && options.compress.empty()))
    return usage_error(fmt::format("{} needs -w FILE", options.compress.empty() ? "-F" : "--compress"));
  if (options.compress.empty() && compression_of(options) == capture::Compression::none &&
      !compressed_ending(options.write).empty())
    return usage_error(
        "-w: captures can be compressed with gzip, zstd and lz4: name it .gz, .zst or .lz4, or set "
        "--compress");
  if (options.write == "-" && *printer)
    return usage_error("-w - writes the capture to standard output: packets cannot be printed as well");

  if (const std::string wrong = sidecar_error(options); !wrong.empty()) return usage_error(wrong);
  if (writes_to_input(options.files, {options.policy})) return exit_usage;
  std::optional<analyze::Filter> filter;
  if (!options.filter.empty()) {
    auto compiled = analyze::Filter::compile(options.filter);
    if (!compiled) {
      print_filter_error(compiled.error(), options.filter);
      return exit_usage;
    }
    filter.emplace(std::move(*compiled));
  }
  if (options.no_analysis && filter && filter->needs_analysis())
    return usage_error(
        "-Y: roce.connection, roce.direction and roce.analysis.* cannot be used with --no-analysis");
  std::shared_ptr<const analyze::MarkingPolicy> policy;
  if (!options.policy.empty()) {
    policy = read_policy(options.policy);
    if (!policy) return exit_usage;
  }
  std::unique_ptr<capture::OutputFile> output;
  if (!options.write.empty()) {
    auto file = capture::OutputFile::create(options.write, rules_of(options), capture::Readers::owner_only);
    if (!file) return output_error(file.error());
    output = std::move(*file);
  }
  std::unique_ptr<Sidecar> sidecar;
  if (!options.sidecar.empty()) {
    auto made = Sidecar::create(options);
    if (!made) return output_error(made.error());
    sidecar = std::move(*made);
  }
  std::vector<capture::PlacedOutput*> outputs = outputs_of(output.get());
  for (capture::PlacedOutput* const each : outputs_of(sidecar ? &sidecar->file() : nullptr))
    outputs.push_back(each);
  PacketsInput input{expanded_files(options.files), can_read_twice(options.files), nullptr};
  const ConfinedInputs confined(input.files, options.no_sandbox, std::move(outputs));
  auto source = open_timed(input.files, options.clock);
  if (!source) {
    print_error(source.error());
    return exit_input;
  }
  input.source = std::move(*source);
  return Run(options, std::move(*printer), std::move(filter), std::move(input), std::move(policy),
             std::move(output), std::move(sidecar))
      .run();
}

void add_packets(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "packets", "print packets as lines, trees, bytes, fields or JSON; filter them; write them to a file");
  auto options = std::make_shared<PacketsOptions>();
  add_input_files(*command, options->files);
  command->add_option("-Y", options->filter, "display filter: only packets that match")->type_name("EXPR");
  command->add_flag("-V", options->tree, "print the tree of each packet");
  command->add_flag("-x", options->hex, "print the bytes of each packet; in -T json the field \"frame\"");
  command->add_option("-T", options->format, "text, fields (with -e) or json (one object per line)")
      ->type_name("FORM");
  command->add_option("-e", options->fields, "a field to print; may be repeated")
      ->type_name("FIELD")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  command
      ->add_option("-E", options->field_options,
                   "for -T fields: header=y, separator=C, aggregator=C, quote=d|s, occurrence=f|l")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  command
      ->add_option("-t", options->time,
                   "time format: r since the first packet, d since the previous packet, e since the epoch, "
                   "a or ad local time without or with date, u or ud the same in UTC")
      ->type_name("FORM");
  options->reading.add_to(*command, "read at most N packets, counted before filters; no more are looked for");
  command->add_option("-w", options->write, "write the matching packets to a file instead of printing them")
      ->check(empty_error)
      ->type_name("FILE");
  command
      ->add_option("-F", options->write_format,
                   "format of -w: pcapng (default), pcap (microseconds) or nsecpcap (pcap with nanoseconds)")
      ->check(CLI::IsMember({"pcapng", "pcap", "nsecpcap"}))
      ->type_name("FORM");
  command
      ->add_option("--compress", options->compress,
                   "gzip, zstd, lz4 or none (default: by the end of FILE's name: .gz, .zst, .lz4)")
      ->check(CLI::IsMember({"gzip", "zstd", "lz4", "none"}))
      ->type_name("HOW");
  command
      ->add_option("--sidecar", options->sidecar,
                   "write what the analysis says of each packet to a file for Wireshark, instead of printing "
                   "(FILE.roce beside the capture FILE is found)")
      ->check(empty_error)
      ->type_name("FILE");
  add_force_option(*command, options->force);
  command->add_flag("-P", options->print, "print packets in addition to -w or --sidecar");
  command
      ->add_option("--from", options->from,
                   "only packets from this time on (a date, in UTC or with a zone, a time of day, epoch "
                   "seconds, or +SECONDS "
                   "after the first packet)")
      ->type_name("TIME");
  command->add_option("--to", options->to, "only packets up to this time")->type_name("TIME");
  command
      ->add_option("--link-speed", options->link_speed,
                   "speed of the links on which PAUSE and PFC frames are sent (default: as in the capture)")
      ->check(link_speed_error)
      ->type_name("SPEED");
  add_policy_option(*command, options->policy);
  command->add_flag("--no-icrc", options->no_icrc, "do not check ICRCs");
  add_sandbox_option(*command, options->no_sandbox);
  command->add_flag("--no-analysis", options->no_analysis,
                    "print at once, without a first pass that finds losses and retransmissions");
  command->add_option("--jobs", options->jobs, "threads of the first pass (default: one per core)")
      ->check(CLI::Range(1U, 256U))
      ->type_name("N");
  command->add_flag("-n", options->numeric, "no effect: names are never resolved (compatible with tshark)");
  command->add_flag("--list-fields", options->list_fields, "list all fields: name, type, label");
  options->dissecting.add_to(*command);
  add_time_option(*command, options->clock);
  command->callback([options, &action] { action = [options] { return run_packets(*options); }; });
}

}  // namespace roce::cli
