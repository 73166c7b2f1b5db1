// SPDX-License-Identifier: Apache-2.0
#include "capture/write/output_place.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/fsuid.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <optional>
#include <string_view>
#include <utility>

#include "capture/write/descriptor_output.hpp"

namespace roce::capture {
namespace {

constexpr int most_links = 40;  // as the kernel
constexpr std::size_t head_bytes = 64U * 1024U;

/// The user as whom this thread makes files: with -Z that is not the effective user.
uid_t user_of_files() noexcept {
  return static_cast<uid_t>(setfsuid(static_cast<uid_t>(-1)));  // an invalid user: only reads
}

bool is_in_proc(int folder) noexcept {
  struct statfs facts {};
  return fstatfs(folder, &facts) == 0 && facts.f_type == PROC_SUPER_MAGIC;
}

/// The target of a link.
std::optional<std::string> target_of(int folder, const std::string& name) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = readlinkat(folder, name.c_str(), target.data(), target.size());
  if (size < 0 || static_cast<std::size_t>(size) == target.size()) return std::nullopt;
  return std::string(target.data(), static_cast<std::size_t>(size));
}

/// What a file is, for the message that it is not replaced.
struct KnownContents {
  bool (*is)(const ExistingFile&);
  std::string_view name;
};
constexpr KnownContents known_contents[] = {
    {is_capture, "is a capture"},
    {is_database, "is an SQLite database"},
    {[](const ExistingFile&) { return true; }, "is not an earlier output of this kind"},
};

tl::unexpected<Error> not_replaced(ErrorKind kind, const std::string& path, std::string message) {
  Error error;
  error.kind = kind;
  error.path = path == "-" ? "standard output" : path;
  error.message = std::move(message);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace

int OwnedDescriptor::release() noexcept {
  return std::exchange(descriptor_, -1);
}

void OwnedDescriptor::reset(int descriptor) noexcept {
  const int kept_errno = errno;
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = descriptor;
  errno = kept_errno;
}

tl::unexpected<Error> OutputPlace::refused(int number, const std::string& what) const {
  return tl::unexpected<Error>(not_writable(path_, number, what));
}

/// Opens the folder of `path`, relative to the present one, and looks what is at its last name.
Expected<void> OutputPlace::look(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int from = folder_.get() >= 0 ? folder_.get() : AT_FDCWD;
  OwnedDescriptor next(::openat(from, folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (next.get() < 0) return refused(errno, "cannot be written");
  folder_ = std::move(next);
  name_ = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name_.empty()) name_ = ".";
  exists_ = fstatat(folder_.get(), name_.c_str(), &facts_, AT_SYMLINK_NOFOLLOW) == 0;
  if (!exists_ && errno != ENOENT) return refused(errno, "cannot be written");
  return {};
}

bool OutputPlace::own() const noexcept {
  return facts_.st_uid == user_of_files();
}

Expected<void> OutputPlace::refuse_strangers() const {
  struct stat folder {};
  if (!exists_ || S_ISDIR(facts_.st_mode)) return {};
  if (fstat(folder_.get(), &folder) != 0) return refused(errno, "cannot be written");
  constexpr mode_t for_everyone = S_ISVTX | S_IWOTH;
  if ((folder.st_mode & for_everyone) != for_everyone || folder.st_uid == facts_.st_uid || own()) return {};
  return refused(EACCES, S_ISLNK(facts_.st_mode)
                             ? "a link of another user, in a folder where everyone may write, is not followed"
                             : "this belongs to another user, in a folder where everyone may write");
}

Expected<OutputPlace> OutputPlace::find(const std::string& path) {
  OutputPlace place;
  place.path_ = path;
  std::optional<FileIdentity> wanted;  // of a link in /proc
  std::string rest = path;
  for (int links = 0;; ++links) {
    if (rest.empty()) return place.refused(ENOENT, "cannot be written");
    if (links > most_links) return place.refused(ELOOP, "cannot be written");
    if (auto looked = place.look(rest); !looked) return tl::unexpected<Error>(std::move(looked.error()));
    if (auto known = place.refuse_strangers(); !known) return tl::unexpected<Error>(std::move(known.error()));
    if (!place.exists_ || !S_ISLNK(place.facts_.st_mode)) break;
    if (is_in_proc(place.folder())) {  // /dev/stdout leads here: the text of such a link need not be a path
      struct stat behind {};
      if (fstatat(place.folder(), place.name_.c_str(), &behind, 0) != 0)
        return place.refused(errno, "cannot be written");
      place.opaque_ = !S_ISREG(behind.st_mode);
      wanted = FileIdentity::of(behind);
      if (place.opaque_) {
        place.facts_ = behind;
        break;
      }
    }
    auto target = target_of(place.folder(), place.name_);
    if (!target) return place.refused(errno, "cannot be written");
    rest = std::move(*target);
  }
  if (wanted && (!place.exists_ || FileIdentity::of(place.facts_) != *wanted))
    return place.refused(ENOENT, "this file was removed or renamed");
  return place;
}

Expected<void> OutputPlace::look_again() {
  exists_ = fstatat(folder_.get(), name_.c_str(), &facts_, AT_SYMLINK_NOFOLLOW) == 0;
  if (!exists_ && errno != ENOENT) return refused(errno, "cannot be written");
  if (exists_ && S_ISLNK(facts_.st_mode))
    return not_replaced(ErrorKind::would_replace, path_, "a link of this name was made meanwhile");
  return refuse_strangers();
}

Expected<void> OutputPlace::permit(const OutputRules& rules) const {
  if (!exists_) return {};
  if (S_ISDIR(facts_.st_mode)) return refused(EISDIR, "cannot be written");
  const FileIdentity present = FileIdentity::of(facts_);
  if (std::find(rules.inputs.begin(), rules.inputs.end(), present) != rules.inputs.end())
    return not_replaced(ErrorKind::own_input, path_,
                        "this command reads the file itself: write to another name");
  if (rules.force) return {};
  if (S_ISBLK(facts_.st_mode))
    return not_replaced(ErrorKind::would_replace, path_, "this is a disk: it is not overwritten");
  if (!S_ISREG(facts_.st_mode) || facts_.st_size == 0) return {};
  const OwnedDescriptor file(
      ::openat(folder_.get(), name_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  std::string head(head_bytes, '\0');
  const ssize_t got =
      identity_of(file.get()) == present ? pread(file.get(), head.data(), head.size(), 0) : -1;
  if (got < 0)
    return not_replaced(ErrorKind::would_replace, path_,
                        "this file exists and cannot be read: it is not overwritten");
  head.resize(static_cast<std::size_t>(got));
  const ExistingFile existing{head, file.get()};
  if (rules.may_replace && rules.may_replace(existing)) return {};
  const auto* const contents = std::find_if(std::begin(known_contents), std::end(known_contents),
                                            [&](const KnownContents& each) { return each.is(existing); });
  return not_replaced(ErrorKind::would_replace, path_,
                      "this file exists and " + std::string(contents->name) + ": it is not overwritten");
}

Expected<OwnedDescriptor> OutputPlace::open_existing() const {
  const int follow = opaque_ ? 0 : O_NOFOLLOW;
  OwnedDescriptor file(::openat(folder_.get(), name_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | follow));
  if (file.get() < 0) return refused(errno, "cannot be opened for writing");
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0 || FileIdentity::of(facts) != FileIdentity::of(facts_))
    return refused(ENOENT, "this file was replaced meanwhile");
  return file;
}

}  // namespace roce::capture
