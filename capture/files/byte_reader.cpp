// SPDX-License-Identifier: Apache-2.0
#include "capture/files/byte_reader.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "capture/core/bytes.hpp"

namespace roce::capture {
namespace {
constexpr std::size_t input_bytes = 256U * 1024U;

}  // namespace

ByteReader::ByteReader(int descriptor, bool may_block, std::uint64_t size, const StopSignal& stop,
                       Reopening reopening)
    : descriptor_(descriptor),
      reopening_(std::move(reopening)),
      may_block_(may_block),
      size_(size),
      stop_(stop),
      input_(input_bytes) {
  if (reopening_.pool != nullptr) place_ = reopening_.pool->add(*this);
}

ByteReader::~ByteReader() {
  if (place_) reopening_.pool->remove(*place_);
  if (descriptor_ >= 0) close(descriptor_);
}

/// Called by the pool, which has removed it.
void ByteReader::park() noexcept {
  place_.reset();
  close(std::exchange(descriptor_, -1));
}

/// Opens the parked file again where reading stopped.
bool ByteReader::reopen() {
  const int descriptor = reopening_.pool->open(reopening_.path, stop_);
  const auto refuse = [&](int number, std::string message) {
    if (descriptor >= 0) close(descriptor);
    error_.kind = ErrorKind::not_readable;
    error_.system_errno = number;
    error_.message = std::move(message);
    return false;
  };
  if (descriptor < 0) {
    const int number = errno;
    return refuse(number, std::string("cannot be opened again: ") + std::strerror(number));
  }
  if (FileVersion::of(descriptor) != reopening_.version)
    return refuse(0, "was replaced by another file while it was read");
  if (lseek(descriptor, static_cast<off_t>(bytes_read_), SEEK_SET) < 0) {
    const int number = errno;
    return refuse(number, std::string("cannot be read: ") + std::strerror(number));
  }
  descriptor_ = descriptor;
  place_ = reopening_.pool->add(*this);
  return true;
}

ByteReader::Result ByteReader::read_raw(std::uint8_t* to, std::size_t size, bool may_wait) {
  if (size_ != 0) {
    // Bytes appended to the file while it is read are left for the next analysis.
    if (bytes_read_ >= size_) return {State::end, 0};
    size = static_cast<std::size_t>(std::min<std::uint64_t>(size, size_ - bytes_read_));
  }
  while (true) {
    if (stop_.requested()) return {State::stopped, 0};
    if (place_) {
      reopening_.pool->touch(*place_);
    } else if (descriptor_ < 0 && !reopen()) {
      return {stop_.requested() ? State::stopped : State::failed, 0};
    }
    if (may_block_) {
      pollfd waiting[2] = {{descriptor_, POLLIN, 0}, {stop_.descriptor(), POLLIN, 0}};
      const int ready = poll(waiting, 2, may_wait ? -1 : 0);
      if (ready < 0 && errno == EINTR) continue;
      if (stop_.requested()) return {State::stopped, 0};
      if (ready == 0) return {State::would_wait, 0};
    }
    // A regular file's offset may be shared with other readers (KeptFiles).
    const ssize_t got = size_ != 0 ? ::pread(descriptor_, to, size, static_cast<off_t>(bytes_read_))
                                   : ::read(descriptor_, to, size);
    if (got > 0) {
      bytes_read_ += static_cast<std::uint64_t>(got);
      return {State::some, static_cast<std::size_t>(got)};
    }
    if (got == 0 && size_ != 0) {
      error_.kind = ErrorKind::shrunk;
      error_.message = "the file became shorter while it was read, from " + std::to_string(size_) + " to " +
                       std::to_string(bytes_read_) + " bytes";
      return {State::failed, 0};
    }
    if (got == 0) return {State::end, 0};
    if (errno == EINTR) continue;
    if (errno == EAGAIN) {  // the descriptor is non-blocking: wait by poll
      if (may_block_ && !may_wait) return {State::would_wait, 0};
      may_block_ = true;
      continue;
    }
    error_.kind = ErrorKind::not_readable;
    error_.system_errno = errno;
    error_.message = std::string("cannot be read: ") + std::strerror(errno);
    return {State::failed, 0};
  }
}

ByteReader::State ByteReader::refill(bool may_wait) {
  if (input_begin_ == input_end_) input_begin_ = input_end_ = 0;
  const Result got = read_raw(input_.data() + input_end_, input_.size() - input_end_, may_wait);
  if (got.state == State::end) input_ended_ = true;
  input_end_ += got.bytes;
  return got.state;
}

ByteReader::Result ByteReader::begin() {
  while (input_end_ < detection_bytes && !input_ended_) {
    const State state = refill(true);
    if (state == State::stopped || state == State::failed) return {state, 0};
    // Four bytes suffice to detect a compression, and a live pipe may send no more for a long time.
    if (input_end_ >= 4 && (load_little32(input_.data()) & 0xFFFFFFF0U) != 0x184D2A50U) break;
  }
  compression_ = detect_compression(input_.data(), input_end_);
  decompressor_ = make_decompressor(compression_);
  return {input_end_ == 0 ? State::end : State::some, input_end_};
}

ByteReader::Result ByteReader::fail_decompression(ErrorKind kind, std::string message) {
  decompression_failed_ = true;
  error_.kind = kind;
  error_.message = std::move(message);
  return {State::failed, 0};
}

ByteReader::Result ByteReader::read(std::uint8_t* to, std::size_t size, bool may_wait) {
  if (decompressor_ == nullptr) {
    if (input_begin_ == input_end_) {
      input_ =
          std::vector<std::uint8_t>();  // it has served to detect the format: thousands of files may be open
      return read_raw(to, size, may_wait);
    }
    const std::size_t bytes = std::min(size, input_end_ - input_begin_);
    std::memcpy(to, input_.data() + input_begin_, bytes);
    input_begin_ += bytes;
    return {State::some, bytes};
  }
  if (decompression_failed_) return {State::failed, 0};
  while (true) {
    if (stop_.requested()) return {State::stopped, 0};
    const auto step = decompressor_->step(input_.data() + input_begin_, input_end_ - input_begin_, to, size);
    input_begin_ += step.consumed;
    if (step.failed) {
      decompression_failed_ = true;
      const Result failed = fail_decompression(ErrorKind::damaged, decompressor_->message());
      return step.produced > 0 ? Result{State::some, step.produced} : failed;
    }
    if (step.produced > 0) return {State::some, step.produced};
    if (step.consumed > 0) continue;
    if (input_ended_) {
      if (decompressor_->between_frames()) return {State::end, 0};
      return fail_decompression(ErrorKind::cut_short,
                                "the " + std::string(compression_name(compression_)) + " data is cut short");
    }
    if (input_begin_ != 0) {  // the decoder may leave a few bytes until it gets more
      std::memmove(input_.data(), input_.data() + input_begin_, input_end_ - input_begin_);
      input_end_ -= input_begin_;
      input_begin_ = 0;
    }
    const State state = refill(may_wait);
    if (state == State::stopped || state == State::failed || state == State::would_wait) return {state, 0};
  }
}

}  // namespace roce::capture
