// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "cli/live/metric_values.hpp"

namespace roce::cli {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { (void)std::fclose(file); }
};
struct CloseFolder {
  void operator()(DIR* folder) const noexcept { (void)::closedir(folder); }
};

struct Pages {
  double virtual_bytes = 0;
  double resident_bytes = 0;
};
std::optional<Pages> memory() {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen("/proc/self/statm", "re"));
  unsigned long all = 0, resident = 0;
  if (file == nullptr || std::fscanf(file.get(), "%lu %lu", &all, &resident) != 2) return std::nullopt;
  const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  return Pages{static_cast<double>(all) * page, static_cast<double>(resident) * page};
}

std::optional<double> open_files() {
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir("/proc/self/fd"));
  if (folder == nullptr) return std::nullopt;
  double count = -1;  // without the descriptor of the folder itself
  while (const dirent* entry = ::readdir(folder.get())) {
    if (entry->d_name[0] != '.') ++count;
  }
  return count;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

std::vector<Metric> process_metrics() {
  std::vector<Metric> metrics;
  const auto add = [&](std::string name, std::string_view help, MetricType type, double value) {
    metrics.push_back({std::move(name), help, type, {{{}, value}}});
  };
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    add("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", MetricType::counter,
        seconds(usage.ru_utime) + seconds(usage.ru_stime));
  }
  if (const std::optional<Pages> pages = memory()) {
    add("process_virtual_memory_bytes", "Virtual memory size in bytes.", MetricType::gauge,
        pages->virtual_bytes);
    add("process_resident_memory_bytes", "Resident memory size in bytes.", MetricType::gauge,
        pages->resident_bytes);
  }
  if (const std::optional<double> count = open_files())
    add("process_open_fds", "Number of open file descriptors.", MetricType::gauge, *count);
  return metrics;
}

}  // namespace roce::cli
