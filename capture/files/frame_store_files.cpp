// SPDX-License-Identifier: Apache-2.0
#include "capture/files/frame_store_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "capture/core/kept_files.hpp"

namespace roce::capture {

FrameStore::Descriptor::~Descriptor() {
  ::close(descriptor_);
}

Expected<std::shared_ptr<const FrameStore::Descriptor>> FrameStore::Descriptor::open(
    const std::string& path) {
  const auto fail = [&](int number) {
    Error error;
    error.kind = number == ENOENT || number == ENOTDIR ? ErrorKind::not_found : ErrorKind::not_readable;
    error.path = path;
    error.system_errno = number;
    error.message = std::string("cannot be opened again: ") + std::strerror(number);
    return tl::unexpected<Error>(std::move(error));
  };
  // Non-blocking: if a FIFO has replaced the file, open() must not wait for its writer.
  const int descriptor = open_for_reading(path, O_NONBLOCK);
  if (descriptor < 0) return fail(errno);
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    ::close(descriptor);
    return fail(ENOENT);
  }
  return std::make_shared<const Descriptor>(descriptor, facts.st_dev, facts.st_ino);
}

Expected<std::size_t> FrameStore::Descriptor::read(std::uint64_t offset, std::uint8_t* to,
                                                   std::size_t size) const {
  std::size_t got = 0;
  while (got < size) {
    const ssize_t more = ::pread(descriptor_, to + got, size - got, static_cast<off_t>(offset + got));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) {
      Error error;
      error.kind = ErrorKind::not_readable;
      error.system_errno = errno;
      error.message = std::string("cannot be read: ") + std::strerror(errno);
      return tl::unexpected<Error>(std::move(error));
    }
    if (more == 0) break;
    got += static_cast<std::size_t>(more);
  }
  return got;
}

}  // namespace roce::capture
