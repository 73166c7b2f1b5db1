// SPDX-License-Identifier: Apache-2.0
#include "capture/write/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <utility>

#include "capture/write/descriptor_output.hpp"

namespace roce::capture {
namespace {

constexpr std::size_t buffer_bytes = 512U * 1024U;

tl::unexpected<Error> refused(const std::string& path, int number, const std::string& what) {
  return tl::unexpected<Error>(not_writable(path, number, what));
}

/// The target of a symbolic link: rename() must replace the file, not the link.
std::string resolved(const std::string& path) {
  std::array<char, PATH_MAX> buffer{};
  return realpath(path.c_str(), buffer.data()) != nullptr ? std::string(buffer.data()) : path;
}

}  // namespace

Expected<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path) {
  const auto made = [&](std::string final_path, std::string temporary_path, int descriptor) {
    return std::unique_ptr<OutputFile>(
        new OutputFile(path, std::move(final_path), std::move(temporary_path), descriptor));
  };
  if (path == "-") {
    const int descriptor = standard_output();
    if (descriptor < 0) return refused(path, errno, "cannot be written");
    return made("", "", descriptor);
  }
  struct stat facts {};
  const bool exists = stat(path.c_str(), &facts) == 0;
  if (exists && !S_ISREG(facts.st_mode)) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0) return refused(path, errno, "cannot be opened for writing");
    return made("", "", descriptor);
  }
  // rename() would replace even a read-only file, which is meant to stay.
  if (exists && access(path.c_str(), W_OK) != 0) return refused(path, errno, "cannot be opened for writing");
  const std::string final_path = resolved(path);
  for (int attempt = 0;; ++attempt) {
    std::string temporary =
        final_path + "." + std::to_string(getpid()) + "-" + std::to_string(attempt) + ".tmp";
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      // The new file gets the mode of the replaced one: a private capture must not become readable for
      // others.
      if (exists) (void)fchmod(descriptor, facts.st_mode & 07777U);
      return made(final_path, std::move(temporary), descriptor);
    }
    if (errno != EEXIST || attempt == 1000) return refused(path, errno, "cannot be created");
  }
}

OutputFile::OutputFile(std::string path, std::string final_path, std::string temporary_path, int descriptor)
    : path_(std::move(path)),
      final_path_(std::move(final_path)),
      temporary_path_(std::move(temporary_path)),
      descriptor_(descriptor) {
  buffer_.reserve(buffer_bytes);
}

OutputFile::~OutputFile() {
  discard();
}

void OutputFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (!temporary_path_.empty()) unlink(temporary_path_.c_str());
  temporary_path_.clear();
}

Expected<void> OutputFile::append(const void* data, std::size_t size) {
  const auto* const bytes = static_cast<const std::uint8_t*>(data);
  if (buffer_.size() + size > buffer_bytes) {
    if (auto flushed = flush(); !flushed) return flushed;
    if (size > buffer_bytes) return write_all(bytes, size);
  }
  buffer_.insert(buffer_.end(), bytes, bytes + size);
  return {};
}

Expected<void> OutputFile::flush() {
  auto written = write_all(buffer_.data(), buffer_.size());
  buffer_.clear();
  return written;
}

Expected<void> OutputFile::write_all(const std::uint8_t* data, std::size_t size) {
  if (failed_ || descriptor_ < 0) return refused(path_, EIO, "an earlier write failed");
  const int number = capture::write_all(descriptor_, data, size, written_);
  if (number == 0) return {};
  failed_ = true;
  discard();
  auto error = refused(path_, number, "writing failed");
  error.value().offset = written_;
  return error;
}

Expected<void> OutputFile::finish() {
  if (auto flushed = flush(); !flushed) return flushed;
  // Pipes and devices cannot be synced: no error. close() may still report one (NFS).
  const bool synced = temporary_path_.empty() || fsync(descriptor_) == 0;
  int number = synced ? 0 : errno;
  if (::close(std::exchange(descriptor_, -1)) != 0 && number == 0) number = errno;
  if (number == 0 && !temporary_path_.empty()) {
    if (rename(temporary_path_.c_str(), final_path_.c_str()) == 0) {
      temporary_path_.clear();
    } else {
      number = errno;
    }
  }
  if (number == 0) return {};
  failed_ = true;
  discard();
  return refused(path_, number, "finishing the file failed");
}

}  // namespace roce::capture
