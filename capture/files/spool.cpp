// SPDX-License-Identifier: Apache-2.0
#include "capture/files/spool.hpp"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "capture/core/kept_files.hpp"

namespace roce::capture {
Spool::Spool(Limits limits) : limits_(std::move(limits)) {
  if (limits_.directory.empty()) limits_.directory = temporary_folder();
}

Spool::~Spool() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

tl::unexpected<Error> Spool::fail(int number, const std::string& what) const {
  Error error;
  error.kind = ErrorKind::not_writable;
  error.path = limits_.directory;
  error.system_errno = number;
  error.message = what;
  if (number != 0) error.message += std::string(": ") + std::strerror(number);
  return tl::unexpected<Error>(std::move(error));
}

/// Fails if the file must not grow by so much. Beyond RLIMIT_FSIZE the kernel would send SIGXFSZ.
Expected<void> Spool::make_room(std::size_t bytes) {
  if (descriptor_ < 0) {
    descriptor_ = open_temporary_file(limits_.directory);
    if (descriptor_ < 0)
      return fail(errno, "no temporary file can be created here (TMPDIR selects another folder)");
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      flushed_ + bytes > limit.rlim_cur) {
    return fail(EFBIG, "the temporary file would exceed the file size limit (ulimit -f)");
  }
  struct statvfs system {};
  if (::fstatvfs(descriptor_, &system) == 0) {
    const std::uint64_t free = std::uint64_t{system.f_bavail} * system.f_frsize;
    if (free < limits_.kept_free + bytes) {
      return fail(ENOSPC, "the disk of temporary files is nearly full (TMPDIR selects another folder)");
    }
  }
  return {};
}

Expected<void> Spool::flush() {
  if (auto room = make_room(buffer_.size()); !room) return room;
  std::size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t wrote = ::pwrite(descriptor_, buffer_.data() + done, buffer_.size() - done,
                                   static_cast<off_t>(flushed_ + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return fail(wrote < 0 ? errno : ENOSPC, "the temporary file cannot be written");
    done += static_cast<std::size_t>(wrote);
  }
  flushed_ += done;
  buffer_.clear();
  return {};
}

Expected<std::uint64_t> Spool::append(std::span<const std::uint8_t> head,
                                      std::span<const std::uint8_t> body) {
  const std::lock_guard lock(mutex_);
  const std::size_t size = head.size() + body.size();
  if (flushed_ + buffer_.size() + size > limits_.bytes) {
    return fail(0, "more than " + std::to_string(limits_.bytes >> 20U) +
                       " MiB of packets that are not in an uncompressed file");
  }
  if (!buffer_.empty() && buffer_.size() + size > limits_.memory_bytes) {
    if (auto written = flush(); !written) return tl::unexpected<Error>(std::move(written.error()));
  }
  const std::uint64_t place = flushed_ + buffer_.size();
  buffer_.insert(buffer_.end(), head.begin(), head.end());
  buffer_.insert(buffer_.end(), body.begin(), body.end());
  return place;
}

Expected<std::size_t> Spool::read(std::uint64_t offset, std::uint8_t* to, std::size_t size) const {
  std::uint64_t in_file = 0;
  std::size_t got = 0;
  {
    const std::lock_guard lock(mutex_);
    in_file = flushed_;
    if (offset >= in_file) {
      const std::uint64_t from = std::min<std::uint64_t>(offset - in_file, buffer_.size());
      got = std::min<std::size_t>(size, buffer_.size() - static_cast<std::size_t>(from));
      std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(from), got, to);
      return got;
    }
  }
  // Bytes in the file never change.
  size = static_cast<std::size_t>(std::min<std::uint64_t>(size, in_file - offset));
  while (got < size) {
    const ssize_t more = ::pread(descriptor_, to + got, size - got, static_cast<off_t>(offset + got));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return fail(errno, "the temporary file cannot be read");
    if (more == 0) break;
    got += static_cast<std::size_t>(more);
  }
  return got;
}

}  // namespace roce::capture
