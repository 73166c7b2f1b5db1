// SPDX-License-Identifier: Apache-2.0
#include "capture/files/descriptor_pool.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "capture/core/kept_files.hpp"

namespace roce::capture {
namespace {

std::size_t quarter_of_limit() noexcept {
  constexpr rlim_t least = 4, most = 65'536;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return least;
  return static_cast<std::size_t>(std::clamp(files.rlim_cur / 4, least, most));
}

}  // namespace

FileVersion FileVersion::of(int descriptor) noexcept {
  FileVersion version;
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) return version;
  version.identity = FileIdentity::of(facts);
  struct statx more {};
  if (::statx(descriptor, "", AT_EMPTY_PATH, STATX_BTIME, &more) == 0 && (more.stx_mask & STATX_BTIME) != 0) {
    version.created_seconds = more.stx_btime.tv_sec;
    version.created_nanoseconds = more.stx_btime.tv_nsec;
  }
  return version;
}

DescriptorPool::DescriptorPool(std::size_t most) : most_(most != 0 ? most : quarter_of_limit()) {}

void DescriptorPool::park_one() noexcept {
  Member* const member = open_.front();
  open_.pop_front();
  member->park();
}

int DescriptorPool::open(const std::string& path, const StopSignal& stop) {
  while (open_.size() >= most_) park_one();
  while (true) {
    const int descriptor = open_for_reading(path);
    if (descriptor >= 0) return descriptor;
    // Pipes and other parts of the process may have taken more descriptors than expected.
    if ((errno == EMFILE || errno == ENFILE) && !open_.empty()) {
      park_one();
      continue;
    }
    if (errno != EINTR || stop.requested()) return -1;
  }
}

}  // namespace roce::capture
