// SPDX-License-Identifier: Apache-2.0
#include "capture/write/record_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "capture/write/descriptor_output.hpp"
#include "capture/write/output_place.hpp"
#include "capture/write/pcapng_encoder.hpp"

namespace roce::capture {
namespace {

constexpr std::size_t most_waiting = 8;  // appends queued for the compressing thread

/// Upper bound of the compressed size.
std::uint64_t compressed_at_most(std::size_t bytes) noexcept {
  return bytes + bytes / 128 + 128;
}

constexpr mode_t for_owner_only = 0600;  // captures have other people's data

/// Opens a file that is not there. O_EXCL follows no link.
Expected<OwnedDescriptor> create_new(int folder, const std::string& name, const std::string& path) {
  OwnedDescriptor file(::openat(
      folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, for_owner_only));
  if (file.get() < 0) return tl::unexpected<Error>(not_writable(path, errno, "cannot be opened for writing"));
  return file;
}

/// Opens what is there, if the rules permit, or a new file.
Expected<OwnedDescriptor> open_permitted(const std::string& path, const OutputRules& rules) {
  constexpr int attempts = 10;
  for (int attempt = 0;; ++attempt) {
    const auto place = OutputPlace::find(path);
    if (!place) return tl::unexpected<Error>(place.error());
    if (auto permitted = place->permit(rules); !permitted)
      return tl::unexpected<Error>(std::move(permitted.error()));
    auto file = place->exists() ? place->open_existing() : create_new(place->folder(), place->name(), path);
    // Another program made or removed it meanwhile: look again.
    const bool changed = !file && file.error().system_errno == (place->exists() ? ENOENT : EEXIST);
    if (!changed || attempt == attempts) return file;
  }
}

}  // namespace

Expected<std::unique_ptr<RecordFile>> RecordFile::open(const std::string& path, bool compress,
                                                       const OutputRules& rules, Existing existing) {
  const auto refused = [&](const char* what) {
    return tl::unexpected<Error>(not_writable(path, errno, what));
  };
  int descriptor = -1;
  if (path == "-") {
    descriptor = standard_output();
    if (descriptor < 0) return refused("cannot be written");
  } else {
    auto file = existing == Existing::refuse ? create_new(AT_FDCWD, path, path) : open_permitted(path, rules);
    if (!file) return tl::unexpected<Error>(std::move(file.error()));
    descriptor = file->release();
  }
  struct stat facts {};
  // Standard output may be a file that already has contents: never truncated.
  const bool regular = path != "-" && fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
  if (regular) {
    // File systems without locks are used without one; the lock ends with the descriptor.
    const bool taken = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (taken || ftruncate(descriptor, 0) != 0) {
      const int number = errno;
      ::close(descriptor);
      errno = number;
      return refused(taken ? "another capture is writing this file" : "cannot be opened for writing");
    }
  }
  return std::unique_ptr<RecordFile>(
      new RecordFile(path, descriptor, regular, existing == Existing::refuse, compress));
}

RecordFile::RecordFile(std::string path, int descriptor, bool regular, bool made, bool compress)
    : path_(std::move(path)), descriptor_(descriptor), regular_(regular), made_(made) {
  if (!compress) return;
  compressor_ = make_zstd_compressor();
  thread_ = std::thread([this] { compress_all(); });
}

RecordFile::~RecordFile() {
  (void)finish();
}

bool RecordFile::in_place() const noexcept {
  struct stat ours {};
  struct stat named {};
  return descriptor_ >= 0 && fstat(descriptor_, &ours) == 0 && stat(path_.c_str(), &named) == 0 &&
         ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

bool RecordFile::removed() const noexcept {
  struct stat ours {};
  return regular_ && descriptor_ >= 0 && fstat(descriptor_, &ours) == 0 && ours.st_nlink == 0;
}

bool RecordFile::reader_left() const noexcept {
  pollfd output{descriptor_, 0, 0};
  return !regular_ && path_ != "-" && ::poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

bool RecordFile::discard_if_empty() {
  (void)drain();
  return regular_ && made_ && kept_bytes_ == 0 && in_place() && ::unlink(path_.c_str()) == 0;
}

Expected<void> RecordFile::result() const {
  if (error_) return tl::unexpected<Error>(*error_);
  return {};
}

Expected<void> RecordFile::append(ByteBuffer& blocks, std::uint64_t packets) {
  if (compressor_ == nullptr) {
    if (!error_ && !blocks.empty()) error_ = write_blocks(blocks, packets);
    blocks.clear();
    return result();
  }
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return queue_.size() < most_waiting || error_; });
  if (!error_ && !blocks.empty()) {
    ByteBuffer next;
    if (!spare_.empty()) {
      next = std::move(spare_.back());
      spare_.pop_back();
    }
    pending_ += compressed_at_most(blocks.size());
    queue_.push_back({std::exchange(blocks, std::move(next)), packets});
    work_.notify_one();
  }
  blocks.clear();
  return result();
}

Expected<void> RecordFile::drain() {
  if (compressor_ == nullptr) return result();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return (queue_.empty() && !busy_) || error_; });
  return result();
}

Expected<void> RecordFile::finish() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      quit_ = true;
    }
    work_.notify_one();
    thread_.join();
  }
  // close() may still report a full disk (NFS).
  if (descriptor_ >= 0 && ::close(std::exchange(descriptor_, -1)) != 0 && !error_ && errno != EINTR) {
    error_ = not_writable(path_, errno, "finishing the file failed");
  }
  return result();
}

/// The compressing thread: runs until quit_ is set and the queue is empty.
void RecordFile::compress_all() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return !queue_.empty() || quit_; });
    if (queue_.empty()) return;
    Waiting waiting = std::move(queue_.front());
    queue_.pop_front();
    const bool failed_before = error_.has_value();
    busy_ = true;
    lock.unlock();
    std::optional<Error> failed;
    if (!failed_before) failed = write_compressed(waiting);
    const std::uint64_t was_pending = compressed_at_most(waiting.blocks.size());
    waiting.blocks.clear();
    lock.lock();
    busy_ = false;
    pending_ -= was_pending;
    if (failed) error_ = std::move(failed);
    if (spare_.size() < most_waiting) spare_.push_back(std::move(waiting.blocks));
    done_.notify_all();
  }
}

std::optional<Error> RecordFile::write_blocks(const ByteBuffer& blocks, std::uint64_t packets) {
  std::uint64_t written = 0;
  const int failed = write_all(descriptor_, blocks.data(), blocks.size(), written);
  const WholeBlocks whole =
      failed == 0 ? WholeBlocks{blocks.size(), packets} : whole_blocks(blocks.data(), written);
  kept_bytes_ += whole.bytes;
  kept_packets_ += whole.packets;
  if (failed == 0) return std::nullopt;
  return cut_back(failed);
}

std::optional<Error> RecordFile::write_compressed(const Waiting& waiting) {
  frame_.clear();
  if (!compressor_->add(waiting.blocks.data(), waiting.blocks.size(), true, frame_)) {
    Error error;
    error.kind = ErrorKind::not_writable;
    error.path = path_;
    error.message = compressor_->message();
    return error;
  }
  std::uint64_t written = 0;
  if (const int failed = write_all(descriptor_, frame_.data(), frame_.size(), written); failed != 0)
    return cut_back(failed);
  kept_bytes_ += frame_.size();
  kept_packets_ += waiting.packets;
  return std::nullopt;
}

/// After a write that failed halfway: truncates the file to its last complete block.
Error RecordFile::cut_back(int number) {
  Error error = not_writable(path_, number, "writing failed");
  error.offset = kept_bytes_.load();
  if (regular_ && ftruncate(descriptor_, static_cast<off_t>(kept_bytes_.load())) != 0)
    error.message += "; the file may end inside a block";
  return error;
}

}  // namespace roce::capture
