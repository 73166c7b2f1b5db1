// SPDX-License-Identifier: Apache-2.0
// live_dump --device D [OPTIONS] [FILE]: captures by capture/live/live.hpp until it gets SIGINT or SIGTERM,
// writes what comes to a pcapng FILE, and prints the counts as JSON at the end. Messages go to standard
// error. "ready" is printed once frames can come. With --hold N it takes N frames, prints "holding" and takes
// no more until it gets a line on standard input: a reader that is too slow, whatever the machine is doing.
// With
// --hold 0 nobody takes frames from the kernel either.
// Exit status: 0, 1 after an error in the middle of the capture, 3 where it could not begin.
#include <CLI/CLI.hpp>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>

#include "capture/devices/open_live.hpp"
#include "capture/live/live.hpp"
#include "capture/network/device_list.hpp"
#include "capture/write/pcapng_writer.hpp"

namespace {

using namespace roce::capture;

LiveSource* stopped = nullptr;
void stop(int) {
  stopped->request_stop();
}

int complain(const Error& error, int status) {
  std::fprintf(stderr, "live_dump: %s\n", error.describe().c_str());
  return status;
}

int list() {
  const auto devices = list_network_devices();
  if (!devices) return complain(devices.error(), 3);
  for (const NetworkDevice& one : *devices) {
    std::printf("%s%s%s%s%s", one.name.c_str(), one.up ? " up" : "", one.running ? " running" : "",
                one.loopback ? " loopback" : "", one.wireless ? " wireless" : "");
    for (const std::string& address : one.addresses) std::printf(" %s", address.c_str());
    std::printf("%s%s\n", one.not_capturable.empty() ? "" : " not: ", one.not_capturable.c_str());
  }
  return 0;
}

void print_counts(const LiveSource& source) {
  const LiveCounts counts = source.counts();
  const InterfaceInfo& info = source.interfaces()[0];
  std::printf(
      "{\"received\": %" PRIu64 ", \"delivered\": %" PRIu64 ", \"dropped_by_kernel\": %" PRIu64
      ", \"dropped_by_interface\": %" PRIu64 ", \"dropped_by_queue\": %" PRIu64
      ", \"link_type\": %u, \"snap_length\": %" PRIu32 ", \"ticks_per_second\": %" PRIu64
      ", \"format\": \"%s\", \"interface_received\": %" PRIu64 ", \"interface_dropped\": %" PRIu64 "}\n",
      counts.received, counts.delivered, counts.dropped_by_kernel, counts.dropped_by_interface,
      counts.dropped_by_queue, info.link_type, info.snap_length, info.ticks_per_second,
      source.files()[0].format.c_str(), info.received.value_or(0), info.dropped_by_kernel.value_or(0));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("captures live and writes what comes");
  LiveOptions options;
  std::string path;
  bool no_promiscuous = false;
  bool only_list = false;
  std::optional<std::uint64_t> hold;
  app.add_option("--device", options.device);
  app.add_option("--filter", options.filter);
  app.add_option("--snap", options.snap_length);
  app.add_option("--kernel-buffer", options.kernel_buffer_bytes, "bytes");
  app.add_option("--queue", options.queue_bytes, "bytes");
  app.add_option("--hold", hold, "after so many frames, until a line comes on standard input");
  app.add_flag("--no-promiscuous", no_promiscuous);
  app.add_flag("--list", only_list, "the network interfaces");
  app.add_option("file", path, "pcapng; none: frames are only counted");
  CLI11_PARSE(app, argc, argv);
  if (only_list) return list();
  options.promiscuous = !no_promiscuous;

  auto source = open_live(options);
  if (!source) return complain(source.error(), 3);
  for (const std::string& notice : (*source)->notices())
    std::fprintf(stderr, "live_dump: %s\n", notice.c_str());
  std::optional<PcapngWriter> writer;
  if (!path.empty()) {
    auto created = PcapngWriter::create(path, "live_dump");
    if (!created) return complain(created.error(), 3);
    writer.emplace(std::move(*created));
  }
  stopped = source->get();
  std::signal(SIGINT, stop);
  std::signal(SIGTERM, stop);
  std::puts("ready");
  std::fflush(stdout);

  int status = 0;
  std::uint64_t frames = 0;
  FrameBatch batch;
  while (true) {
    batch.clear();
    if (hold && frames >= *hold) {
      hold.reset();
      std::puts("holding");
      std::fflush(stdout);
      for (int letter = 0; letter != '\n' && letter != EOF;) letter = std::getchar();
    }
    const auto got = (*source)->next_batch(batch, hold ? *hold - frames : 4096);
    if (!got) {
      status = complain(got.error(), 1);
      continue;
    }
    if (*got == 0) break;
    frames += *got;
    if (writer) {
      for (const Frame& frame : batch.frames) {
        if (auto written = writer->write(frame, (*source)->interfaces()[frame.interface]); !written)
          return complain(written.error(), 3);
      }
    }
  }
  if (writer) {
    if (auto finished = writer->finish((*source)->interfaces()); !finished)
      return complain(finished.error(), 3);
  }
  print_counts(**source);
  return status;
}
