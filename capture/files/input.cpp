// SPDX-License-Identifier: Apache-2.0
#include "capture/files/input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "capture/core/kept_files.hpp"
#include "capture/files/format.hpp"

namespace roce::capture {
namespace {

Error system_error(ErrorKind kind, int number, const std::string& what) {
  Error error;
  error.kind = kind;
  error.system_errno = number;
  error.message = what + ": " + std::strerror(number);
  return error;
}

}  // namespace

Input::Input(std::string path, const OpenOptions& options, const StopSignal& stop, DescriptorPool& pool)
    : path_(std::move(path)), options_(options), stop_(stop), pool_(pool) {}

tl::unexpected<Error> Input::failed(Error error) {
  error.path = path_;
  ended_ = true;
  failed_ = true;
  return tl::unexpected<Error>(std::move(error));
}

void Input::close() {
  walker_.reset();
  feed_.reset();
  pending_error_.reset();
}

bool Input::can_reopen(const std::string& path) {
  struct stat facts {};
  return path != "-" && (stat(path.c_str(), &facts) != 0 || S_ISREG(facts.st_mode));
}

Expected<int> Input::open_descriptor() {
  const int descriptor = path_ == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : pool_.open(path_, stop_);
  if (descriptor < 0) {
    const int number = errno;
    const bool missing = number == ENOENT || number == ENOTDIR;
    return failed(
        system_error(missing ? ErrorKind::not_found : ErrorKind::not_readable, number, "cannot be opened"));
  }
  return descriptor;
}

Expected<void> Input::open(const WalkContext& context) {
  close();
  context_ = context;
  ended_ = false;
  failed_ = false;
  const auto descriptor = open_descriptor();
  if (!descriptor) return tl::unexpected<Error>(descriptor.error());
  if (auto made = make_feed(*descriptor); !made) return made;
  return read_header();
}

/// Takes ownership of the descriptor, also on failure.
Expected<void> Input::make_feed(int descriptor) {
  struct stat facts {};
  if (fstat(descriptor, &facts) != 0 || S_ISDIR(facts.st_mode)) {
    const int number = S_ISDIR(facts.st_mode) ? EISDIR : errno;
    ::close(descriptor);
    return failed(system_error(ErrorKind::not_readable, number, "cannot be read"));
  }
  Reopening reopening;
  if (S_ISREG(facts.st_mode) && path_ != "-") {
    reopening = {&pool_, path_, FileVersion::of(descriptor)};
    if (version_.value_or(reopening.version) != reopening.version) {
      ::close(descriptor);
      Error error;
      error.kind = ErrorKind::not_readable;
      error.message = "was replaced by another file while it was read";
      return failed(std::move(error));
    }
    version_ = reopening.version;
  }
  // Standard input may be a file whose beginning was read already.
  const bool from_start = S_ISREG(facts.st_mode) && (path_ != "-" || lseek(descriptor, 0, SEEK_CUR) == 0);
  if (from_start && facts.st_size > 0 && context_.file != nullptr) {
    context_.file->bytes = static_cast<std::uint64_t>(facts.st_size);
  }
  may_wait_ = !S_ISREG(facts.st_mode);
  const std::uint64_t size = from_start ? static_cast<std::uint64_t>(facts.st_size) : 0;
  if (from_start) posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
  auto reader = std::make_unique<ByteReader>(descriptor, may_wait_, size, stop_, std::move(reopening));
  const auto begun = reader->begin();
  if (begun.state == ByteReader::State::failed) return failed(reader->error());
  compression_ = compression_name(reader->compression());
  as_on_disk_ = from_start && path_ != "-" && reader->compression() == Compression::none;
  feed_ = std::make_unique<Feed>(std::move(reader), SlabPool(options_.slab_bytes));
  return {};
}

Expected<void> Input::read_header() {
  // The first bytes choose the walker.
  constexpr std::size_t magic_bytes = 12;
  while (true) {
    const Window window = feed_->window();
    if (window.at_end || window.size >= magic_bytes) break;
    const Feed::Fill fill = feed_->fill(magic_bytes, true);
    if (fill == Feed::Fill::stopped) {
      ended_ = true;
      return {};
    }
    if (fill == Feed::Fill::failed) {
      if (feed_->decompression_failed()) context_.count(Incident::decompression_failed);
      return failed(feed_->error());
    }
  }
  const Window first = feed_->window();
  if (!compression_.empty() && detect_compression(first.data, first.size) != Compression::none) {
    Error error;
    error.kind = ErrorKind::unsupported;
    error.message = "the file is compressed twice: decompress it once";
    return failed(std::move(error));
  }
  auto walker = make_walker(first.data, first.size, context_);
  if (!walker) return failed(std::move(walker.error()));
  walker_ = std::move(*walker);
  std::vector<Frame> none;
  while (true) {
    const Window window = feed_->window();
    const WalkResult walked = walker_->walk(window, none, 0);
    feed_->consume(walked.consumed);
    if (walked.state == WalkState::error) {
      if (!walker_->header_seen()) return failed(*walker_->error());
      pending_error_ = walker_->error();
    }
    if (walked.state != WalkState::need_more || walker_->header_seen()) break;
    const Feed::Fill fill = feed_->fill(walked.wanted, true);
    if (fill == Feed::Fill::failed) {
      if (feed_->decompression_failed()) context_.count(Incident::decompression_failed);
      return failed(feed_->error());
    }
    if (fill == Feed::Fill::stopped) {
      ended_ = true;
      return {};
    }
  }
  if (!compression_.empty()) context_.file->format += " in " + compression_;
  return {};
}

Expected<std::size_t> Input::read(FrameBatch& batch, std::size_t limit) {
  const std::size_t before = batch.frames.size();
  const auto appended = [&] { return batch.frames.size() - before; };
  const auto delivered = [&]() -> std::size_t {
    context_.file->packets += appended();
    context_.file->bytes_read = feed_->bytes_read();
    context_.statistics->frames += appended();
    return appended();
  };
  if (!feed_ || failed_) return std::size_t{0};
  if (ended_) return std::size_t{0};
  if (pending_error_) return failed(*std::exchange(pending_error_, std::nullopt));
  while (true) {
    if (stop_.requested()) return delivered();
    const Window window = feed_->window();
    const std::size_t first = batch.frames.size();
    const WalkResult walked = walker_->walk(window, batch.frames, limit - appended());
    feed_->consume(walked.consumed);
    walker_->take_comments(batch.comments);
    std::optional<Error> error = walker_->error();
    if (batch.frames.size() > first &&
        (batch.keep_alive.empty() || batch.keep_alive.back() != feed_->keep_alive())) {
      batch.keep_alive.push_back(feed_->keep_alive());
    }
    if (batch.frames.size() > first && as_on_disk_) {
      batch.origins.push_back({window.data, walked.consumed, window.offset, context_.file_index});
    }
    if (walked.state == WalkState::batch_full) return delivered();
    if (walked.state == WalkState::end) {
      ended_ = true;
      return delivered();
    }
    if (walked.state == WalkState::need_more) {
      if (appended() > 0 && feed_->needs_new_memory(walked.wanted)) return delivered();
      const Feed::Fill fill = feed_->fill(walked.wanted, appended() == 0);
      if (fill == Feed::Fill::grown || fill == Feed::Fill::ended) continue;
      if (fill == Feed::Fill::would_wait || fill == Feed::Fill::stopped) return delivered();
      error = feed_->error();
      if (error->kind == ErrorKind::shrunk) context_.count(Incident::shrunk_while_read);
      if (feed_->decompression_failed()) context_.count(Incident::decompression_failed);
    }
    if (appended() == 0) {
      delivered();
      return failed(std::move(*error));
    }
    error->path = path_;
    pending_error_ = std::move(error);
    return delivered();
  }
}

}  // namespace roce::capture
