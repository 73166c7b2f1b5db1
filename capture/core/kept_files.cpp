// SPDX-License-Identifier: Apache-2.0
#include "capture/core/kept_files.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace roce::capture {
namespace {

constexpr const char* last_folder = "/tmp";

struct Kept {
  const KeptFiles* owner = nullptr;
  std::string path;
  int descriptor = -1;
  int error = 0;           ///< errno of opening, if it failed
  bool once = false;       ///< a pipe: the descriptor is given away
  bool temporary = false;  ///< a nameless file in the folder `path`
  std::function<int()> open;  ///< in place of a descriptor
};

struct Table {
  std::mutex mutex;
  std::vector<Kept> rows;
};
/// Never destroyed: threads may outlive main().
Table& table() {
  static auto* const value = new Table;
  return *value;
}

int open_by_name(const std::string& path, int flags = 0) noexcept {
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);
}

int open_nameless(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
  if (descriptor >= 0) return descriptor;
  std::string name = folder + "/roceanalyze-XXXXXX";  // a file system without O_TMPFILE
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

/// Half of all descriptors: reading a kept file takes another one.
std::size_t kept_at_most() noexcept {
  rlimit limit{};
  constexpr std::size_t others = 32;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return others;
  return static_cast<std::size_t>(std::max<rlim_t>(limit.rlim_cur, 2 * others)) / 2 - others;
}

Kept opened(const KeptFiles* owner, const std::string& path) {
  Kept kept;
  kept.owner = owner;
  kept.path = path;
  do {
    kept.descriptor = open_by_name(path);
  } while (kept.descriptor < 0 && errno == EINTR);
  kept.error = kept.descriptor < 0 ? errno : 0;
  struct stat facts {};
  kept.once = kept.descriptor >= 0 && (::fstat(kept.descriptor, &facts) != 0 || !S_ISREG(facts.st_mode));
  return kept;
}

}  // namespace

KeptFiles::KeptFiles(const std::vector<std::string>& paths) {
  std::vector<Kept> rows;
  for (const std::string& folder : {temporary_folder(), std::string(last_folder)}) {
    Kept temporary;
    temporary.owner = this;
    temporary.path = folder;
    temporary.descriptor = open_nameless(folder);
    temporary.once = temporary.temporary = true;
    if (temporary.descriptor < 0) continue;
    rows.push_back(std::move(temporary));
    break;
  }
  const std::size_t most = kept_at_most();
  for (const std::string& path : paths) {
    if (path == "-") continue;
    Kept kept;
    if (rows.size() < most) kept = opened(this, path);
    const bool exhausted = rows.size() >= most || kept.error == EMFILE || kept.error == ENFILE;
    if (exhausted) {
      not_kept_.push_back(path);
    } else {
      rows.push_back(std::move(kept));
    }
  }
  const std::lock_guard lock(table().mutex);
  for (Kept& row : rows) table().rows.push_back(std::move(row));
}

KeptFiles::~KeptFiles() {
  const std::lock_guard lock(table().mutex);
  std::erase_if(table().rows, [this](const Kept& row) {
    if (row.owner != this) return false;
    if (row.descriptor >= 0) ::close(row.descriptor);
    return true;
  });
}

void KeptFiles::let_open(std::function<int(std::size_t)> open) {
  const std::lock_guard lock(table().mutex);
  for (std::size_t i = 0; i < not_kept_.size(); ++i) {
    Kept row;
    row.owner = this;
    row.path = not_kept_[i];
    row.open = [open, i] { return open(i); };
    table().rows.push_back(std::move(row));
  }
}

int open_for_reading(const std::string& path, int flags) noexcept {
  {
    const std::lock_guard lock(table().mutex);
    // The newest first: another one may be of an earlier reading of a file that was replaced since.
    for (auto row = table().rows.rbegin(); row != table().rows.rend(); ++row) {
      if (row->temporary || row->path != path) continue;
      if (row->open) return row->open();
      if (row->descriptor < 0 && row->error == 0) continue;  // a pipe, given away
      if (row->error != 0) {
        errno = row->error;
        return -1;
      }
      if (!row->once) return ::fcntl(row->descriptor, F_DUPFD_CLOEXEC, 0);
      return std::exchange(row->descriptor, -1);
    }
  }
  return open_by_name(path, flags);
}

int open_temporary_file(const std::string& folder) {
  const int descriptor = open_nameless(folder);
  if (descriptor >= 0) return descriptor;
  const int error = errno;
  const std::lock_guard lock(table().mutex);
  for (Kept& row : table().rows) {
    if (row.temporary && row.path == folder && row.descriptor >= 0) return std::exchange(row.descriptor, -1);
  }
  errno = error;
  return -1;
}

std::string temporary_folder() {
  const char* const variable = std::getenv("TMPDIR");
  return variable != nullptr && *variable != '\0' ? variable : last_folder;
}

}  // namespace roce::capture
