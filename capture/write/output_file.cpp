// SPDX-License-Identifier: Apache-2.0
#include "capture/write/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <utility>

#include "capture/write/descriptor_output.hpp"
#include "capture/write/random_name.hpp"

namespace roce::capture {
namespace {

constexpr std::size_t buffer_bytes = 512U * 1024U;

tl::unexpected<Error> refused(const std::string& path, int number, const std::string& what) {
  return tl::unexpected<Error>(not_writable(path, number, what));
}

/// Standard output may be an input: `roceanalyze FILE >> FILE`.
Expected<void> permit_standard_output(const OutputRules& rules) {
  const auto output = identity_of(STDOUT_FILENO);
  for (const FileIdentity& input : rules.inputs) {
    if (output != input) continue;
    Error error;
    error.kind = ErrorKind::own_input;
    error.path = "standard output";
    error.message = "this command reads the file itself: write to another one";
    return tl::unexpected<Error>(std::move(error));
  }
  return {};
}

/// What is at the path, if the rules let it be written. A read-only file is meant to stay: rename() would
/// replace even that.
Expected<OutputPlace> permitted_place(const std::string& path, const OutputRules& rules) {
  auto place = OutputPlace::find(path);
  if (!place) return place;
  if (auto permitted = place->permit(rules); !permitted)
    return tl::unexpected<Error>(std::move(permitted.error()));
  if (place->exists() && faccessat(place->folder(), place->name().c_str(), W_OK, 0) != 0)
    return refused(path, errno, "cannot be opened for writing");
  return place;
}

/// Its other names, too: what is opened anew there has a place of its own in a file and would overwrite what
/// others write to it.
bool is_standard_output(const std::string& path) {
  constexpr std::string_view names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
  return std::find(std::begin(names), std::end(names), path) != std::end(names);
}

}  // namespace

Expected<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path, OutputRules rules,
                                                         Readers readers) {
  const auto made = [&](OutputPlace place, std::string temporary, OwnedDescriptor descriptor) {
    return std::unique_ptr<OutputFile>(new OutputFile(path, std::move(rules), std::move(place),
                                                      std::move(temporary), std::move(descriptor)));
  };
  if (is_standard_output(path)) {
    if (auto permitted = permit_standard_output(rules); !permitted)
      return tl::unexpected<Error>(std::move(permitted.error()));
    OwnedDescriptor descriptor(standard_output());
    if (descriptor.get() < 0) return refused(path, errno, "cannot be written");
    return made({}, "", std::move(descriptor));
  }
  auto place = permitted_place(path, rules);
  if (!place) return tl::unexpected<Error>(std::move(place.error()));
  if (place->direct()) {
    auto descriptor = place->open_existing();
    if (!descriptor) return tl::unexpected<Error>(std::move(descriptor.error()));
    return made(std::move(*place), "", std::move(*descriptor));
  }
  const mode_t mode = readers == Readers::owner_only ? 0600 : 0666;
  for (int attempt = 0;; ++attempt) {
    std::string temporary = random_name(place->name());
    OwnedDescriptor descriptor(::openat(place->folder(), temporary.c_str(),
                                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (descriptor.get() >= 0) {
      // The new file gets the mode of the replaced one: a private file must not become readable for others.
      // Another user's file does not decide who may read this one.
      if (place->exists() && place->own())
        (void)fchmod(descriptor.get(), place->facts().st_mode & (S_IRWXU | S_IRWXG | S_IRWXO));
      return made(std::move(*place), std::move(temporary), std::move(descriptor));
    }
    if (errno != EEXIST || attempt == 1000) return refused(path, errno, "cannot be created");
  }
}

OutputFile::OutputFile(std::string path, OutputRules rules, OutputPlace place, std::string temporary,
                       OwnedDescriptor descriptor)
    : path_(std::move(path)),
      rules_(std::move(rules)),
      place_(std::move(place)),
      temporary_(std::move(temporary)),
      descriptor_(std::move(descriptor)) {
  buffer_.reserve(buffer_bytes);
}

OutputFile::~OutputFile() {
  discard();
}

void OutputFile::discard() noexcept {
  descriptor_.reset();
  if (!temporary_.empty()) unlinkat(place_.folder(), temporary_.c_str(), 0);
  temporary_.clear();
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
  if (failed_ || descriptor_.get() < 0) return refused(path_, EIO, "an earlier write failed");
  const int number = capture::write_all(descriptor_.get(), data, size, written_);
  if (number == 0) return {};
  failed_ = true;
  discard();
  auto error = refused(path_, number, "writing failed");
  error.value().offset = written_;
  return error;
}

Expected<void> OutputFile::place() {
  const int folder = place_.folder();
  const std::string& name = place_.name();
  for (int attempt = 0;; ++attempt) {
    struct stat now {};
    const bool exists = fstatat(folder, name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0;
    if (exists && !(place_.exists() && FileIdentity::of(now) == FileIdentity::of(place_.facts()))) {
      if (auto looked = place_.look_again(); !looked) return looked;
      if (auto permitted = place_.permit(rules_); !permitted) return permitted;
    }
    if (!exists) {
      if (renameat2(folder, temporary_.c_str(), folder, name.c_str(), RENAME_NOREPLACE) == 0) break;
      if (errno == EEXIST && attempt < 10) continue;
      // Not every file system knows RENAME_NOREPLACE.
      if (errno != EINVAL && errno != ENOSYS) return refused(path_, errno, "finishing the file failed");
    }
    if (renameat(folder, temporary_.c_str(), folder, name.c_str()) == 0) break;
    return refused(path_, errno, "finishing the file failed");
  }
  temporary_.clear();
  return {};
}

Expected<void> OutputFile::finish() {
  if (auto flushed = flush(); !flushed) return flushed;
  // Pipes and devices cannot be synced: no error. close() may still report one (NFS).
  const bool synced = temporary_.empty() || fsync(descriptor_.get()) == 0;
  int number = synced ? 0 : errno;
  if (::close(descriptor_.release()) != 0 && number == 0) number = errno;
  Expected<void> done;
  if (number != 0) done = refused(path_, number, "finishing the file failed");
  if (done && !temporary_.empty()) {
    done = placed();
    if (done) temporary_.clear();
  }
  if (done) return {};
  failed_ = true;
  discard();
  return done;
}

}  // namespace roce::capture
