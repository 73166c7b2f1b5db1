// SPDX-License-Identifier: Apache-2.0
// The command `capture`: its options.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "capture/confine/sandbox.hpp"
#include "capture/devices/open_live.hpp"
#include "cli/capture/capture_limits.hpp"
#include "cli/capture/capture_run.hpp"
#include "cli/capture/capture_triggers.hpp"
#include "cli/capture/live_outputs.hpp"
#include "cli/capture/store_options.hpp"
#include "cli/core/command.hpp"
#include "cli/core/fail_on.hpp"
#include "cli/core/link_options.hpp"
#include "cli/core/output.hpp"
#include "cli/core/output_files.hpp"
#include "cli/live/every_summary.hpp"

namespace roce::cli {
namespace {

constexpr std::uint32_t whole_frames = 262'144;
/// Of a PSN space until the rows of an interval are made: the roundest of them is the mark.
constexpr std::size_t marks_of_an_interval = 4;

void add_device_options(CLI::App& command, CaptureOptions& options) {
  capture::LiveOptions& live = options.live;
  command.add_option("-i", live.device, "network interface (eth0, any) or RDMA device (mlx5_0, mlx5_0:2)")
      ->type_name("DEVICE");
  command
      .add_option("--listen", options.listen,
                  "instead of -i: take what switches export from a UDP port: sflow://:6343, "
                  "ipfix://10.0.0.1:4739, netflow://[fd00::1]:2055; may be repeated")
      ->check(capture::listen_error)
      ->allow_extra_args(false)
      ->type_name("URL");
  command.add_option("-f", live.filter, "capture filter (BPF): capture only packets that match")
      ->type_name("FILTER");
  command.add_option("-s", live.snap_length, "snap length: bytes kept of each packet (0 = all)")
      ->check(CLI::Range(0U, whole_frames))
      ->type_name("BYTES");
  command
      .add_option_function<unsigned>(
          "-B", [&live](unsigned mib) { live.kernel_buffer_bytes = std::size_t{mib} << 20U; },
          "network interface: kernel buffer in MiB (default: 64)")
      ->check(CLI::Range(1U, 2047U))
      ->type_name("MIB");
  command
      .add_option("--ring-time", options.ring_time,
                  "RDMA device: length of its ring, as a time at link speed (default: 50ms)")
      ->check(duration_error)
      ->type_name("TIME");
  command.add_flag_callback(
      "-p", [&live] { live.promiscuous = false; }, "no promiscuous mode");
  command.add_flag_callback(
      "-n", [] {}, "no effect: names are never resolved (compatible with tshark)");
}

void add_file_options(CLI::App& command, CaptureOptions& options) {
  command.add_option("-w", options.write, "write packets to a pcapng file; - is standard output")
      ->check(empty_error)
      ->type_name("FILE");
  command
      .add_option("--tee", options.tee,
                  "all packets also to this named pipe, for a reader beside the files of -w")
      ->check(empty_error)
      ->type_name("PIPE");
  add_force_option(command, options.force);
  command.add_option("--compress", options.compress, "zstd or none (default: zstd if FILE ends in .zst)")
      ->check(CLI::IsMember({"zstd", "none"}))
      ->type_name("HOW");
  command.add_option("-c", options.count, "stop after N packets")->check(count_error)->type_name("N");
  command
      .add_option("-a", options.stop,
                  "stop after duration:SECONDS, packets:N, filesize:KB (all files together) or files:N")
      ->check(limit_error)
      ->allow_extra_args(false)
      ->type_name("LIMIT");
  command
      .add_option("-b", options.ring,
                  "ring: begin a new file after filesize:KB, duration:SECONDS or packets:N; keep files:N")
      ->check(limit_error)
      ->allow_extra_args(false)
      ->type_name("LIMIT");
  command.add_flag(
      "--whole-ring", options.whole_ring,
      "-b files:N includes files of earlier captures with the ring's names, which are removed first");
  command.add_flag("--capture-only", options.capture_only, "record without analysis");
  command.add_flag("--stop-with-stdin", options.stop_with_input,
                   "stop when standard input ends: for parent processes that may not send signals");
}

void add_trigger_options(CLI::App& command, CaptureOptions& options) {
  command
      .add_option(
          "--trigger", options.trigger,
          "write only packets around an event: info, notice, warning, error (findings of this severity or "
          "above), the id of a finding, retransmission, loss, ce; separated by commas")
      ->delimiter(',')
      ->check(trigger_error)
      ->allow_extra_args(false)
      ->type_name("WHAT");
  command.add_option("--before", options.before, "time before a trigger (default: 5s)")
      ->check(duration_error)
      ->type_name("TIME");
  command.add_option("--after", options.after, "time after a trigger (default: 2s)")
      ->check(duration_error)
      ->type_name("TIME");
  command
      .add_option("--trigger-limit", options.trigger_limits,
                  "files:N and filesize:KB for all files together, duration:SECONDS for each (default: "
                  "files:100, filesize:10000000, duration:60)")
      ->check(limit_error)
      ->allow_extra_args(false)
      ->type_name("LIMIT");
  command
      .add_option("--trigger-memory", options.trigger_memory_mib,
                  "MiB to buffer packets before a trigger (default: 256)")
      ->check(CLI::Range(std::size_t{4}, std::size_t{1} << 20U))
      ->type_name("MIB");
}

void add_report_options(CLI::App& command, CaptureOptions& options) {
  options.analyze.add_shared_to(command);
  command
      .add_option(
          "--idle-limit", options.idle_limit,
          "no longer follow connections that had no packet for this time (default: 600s); with errors they "
          "stay listed")
      ->check(duration_error)
      ->type_name("TIME");
  command.add_option("--every", options.every, "one-line summary every TIME, and findings as they appear")
      ->check(duration_error)
      ->type_name("TIME");
  command.add_option("--top", options.top, "connections and flows to list (0 = all)")
      ->check(number_error)
      ->type_name("N");
  add_fail_on_option(command, options.fail_on);
  command.add_flag("--json", options.json, "reports and summaries as JSON, one object per line");
  command.add_flag("--pretty", options.pretty, "JSON with line breaks and indentation");
}

/// The folder of the files of -w; "" if there are none.
std::string folder_of(const std::string& write) {
  if (write.empty() || write == "-") return {};
  const std::string folder = std::filesystem::path(write).parent_path().string();
  return folder.empty() ? "." : folder;
}

int run(const CaptureOptions& options, const LiveOutputs& outputs, const CaptureStoreOptions& store) {
  if (const std::string wrong = store.usage_error(); !wrong.empty()) return usage_error("capture: " + wrong);
  if (store.wanted() && options.capture_only)
    return usage_error("capture: --store needs the analysis that --capture-only leaves out");
  CaptureOptions wanted = options;
  if (!options.listen.empty() && options.live.device.empty())
    wanted.live.device = fmt::format("{}", fmt::join(options.listen, ","));
  if (wanted.live.device.empty()) {
    print_error("capture: -i is required: a network interface or an RDMA device; or --listen");
    return exit_usage;
  }
  if (wanted.live.snap_length == 0) wanted.live.snap_length = whole_frames;
  if (const auto ns = parse_duration(options.ring_time))
    wanted.live.ring_time = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::nanoseconds(*ns));
  CaptureSetup setup;
  setup.served = outputs.system_log || !outputs.metrics.empty() || store.wanted();
  if (!outputs.user.empty()) {
    auto user = capture::find_user(outputs.user);
    if (!user) {
      print_error(user.error());
      return exit_input;
    }
    setup.user = std::move(*user);
  } else if (capture::sandbox_possible() && !outputs.no_sandbox) {
    const std::string folder = folder_of(options.write);
    setup.user = capture::lesser_user(folder.empty() && store.wanted() ? folder_of(store.spool()) : folder);
  }
  // Before any thread is made, and with the rights that the capture then gives up.
  std::unique_ptr<ShipBeside> beside;
  analyze::PsnMarks marks(marks_of_an_interval);
  LiveOutputs all = outputs;
  if (store.wanted()) {
    if (const std::string wrong = capture_usage_error(wanted); !wrong.empty())
      return usage_error("capture: " + wrong);
    auto prepared = store.prepare(setup.user);
    if (prepared && !store.only_spool()) {
      auto started = ShipBeside::start(store.spool(), store.target, setup.user);
      prepared = started ? capture::Expected<void>() : tl::unexpected(started.error());
      if (started) beside = std::move(*started);
    }
    if (!prepared) {
      print_error(prepared.error());
      return exit_input;
    }
    setup.marks = &marks;
    setup.observers.push_back(store.observer(&marks));
    all.spool = store.spool();
  }
  if (const auto every = parse_duration(options.every)) {
    // In a service's log findings would appear twice.
    const bool findings = options.json || !outputs.system_log || ::isatty(options.report_descriptor()) == 1;
    setup.observers.push_back(
        std::make_unique<EverySummary>(std::chrono::nanoseconds(*every), options.json, findings));
  }
  for (auto& observer : all.observers(wanted, setup.user)) setup.observers.push_back(std::move(observer));
  return run_capture(wanted, std::move(setup));
}

}  // namespace

void add_capture(CLI::App& app, Action& action) {
  auto options = std::make_shared<CaptureOptions>();
  auto outputs = std::make_shared<LiveOutputs>();
  CLI::App* command =
      app.add_subcommand("capture", "capture live on a device: analyse packets, record them, or both");
  add_device_options(*command, *options);
  add_file_options(*command, *options);
  add_trigger_options(*command, *options);
  add_report_options(*command, *options);
  outputs->add_to(*command);
  auto store = std::make_shared<CaptureStoreOptions>();
  store->add_to(*command);
  command->callback([options, outputs, store, &action] {
    action = [options, outputs, store] { return run(*options, *outputs, *store); };
  });
}

}  // namespace roce::cli
