// SPDX-License-Identifier: Apache-2.0
// sniffer_loop [FRAMES [BYTES [REPEAT]]]: frames a second through the whole way of a capture from an RDMA
// device, on one core: completions polled, bytes copied out of the ring, buffers given back, frames handed to
// another thread and taken there. The device is the tests' stand-in, whose own work (it writes every frame
// into its buffer) counts, too. By CPU time; the median of REPEAT (5) readings.
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "capture/sniffer/sniffer.hpp"

namespace {

using namespace roce::capture;

struct Reading {
  double seconds = 0;  ///< of CPU, of all threads: other programs on that core shall not matter
  std::uint64_t frames = 0, bytes = 0, dropped = 0;
};

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

bool read(Reading& reading, std::uint64_t frames) {
  LiveOptions options;
  options.device = "mlx5_0";
  SnifferWorld world;
  world.library = ROCE_FAKE_IBVERBS;
  auto device = open_rdma_device(options, world);
  if (!device) {
    std::fprintf(stderr, "sniffer_loop: %s\n", device.error().describe().c_str());
    return false;
  }
  auto source = make_live_source(std::move(*device), options);
  if (!source) return false;
  const double begin = cpu_seconds();
  FrameBatch batch;
  while (true) {
    batch.clear();
    const auto got = (*source)->next_batch(batch, 8192);
    if (!got || *got == 0) break;
    reading.frames += *got;
    for (const Frame& frame : batch.frames) reading.bytes += frame.captured;
    if (reading.frames + (*source)->counts().dropped() >= frames) (*source)->request_stop();
  }
  reading.seconds = cpu_seconds() - begin;
  reading.dropped = (*source)->counts().dropped();
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t frames = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20'000'000;
  const unsigned long bytes = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 74;
  const unsigned long repeat = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 5;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) std::fputs("sniffer_loop: not on one core only\n", stderr);

  std::string script = std::filesystem::temp_directory_path() / "sniffer_loop_XXXXXX";
  const int descriptor = mkstemp(script.data());
  if (descriptor < 0 || frames == 0 || repeat == 0) return 1;
  std::ofstream(script) << "frames " << frames << " " << bytes << "\n";
  setenv("FAKE_IBVERBS", script.c_str(), 1);

  std::vector<double> rates;
  bool well = true;
  for (unsigned long i = 0; i < repeat && well; ++i) {
    Reading reading;
    well = read(reading, frames) && reading.frames + reading.dropped == frames;
    rates.push_back(static_cast<double>(reading.frames) / reading.seconds / 1e6);
    std::printf("%.2f million frames of %lu bytes a second, %llu dropped\n", rates.back(), bytes,
                static_cast<unsigned long long>(reading.dropped));
  }
  std::filesystem::remove(script);
  if (!well) {
    std::fputs("sniffer_loop: frames are missing\n", stderr);
    return 1;
  }
  std::sort(rates.begin(), rates.end());
  std::printf("median %.2f\n", rates[rates.size() / 2]);
  return 0;
}
