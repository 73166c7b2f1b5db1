// SPDX-License-Identifier: Apache-2.0
#include "capture/write/output_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "capture/write/descriptor_output.hpp"
#include "capture/write/random_name.hpp"

namespace roce::capture {
namespace {

tl::unexpected<Error> folder_refused(const std::string& path, int number, const std::string& what) {
  return tl::unexpected<Error>(not_writable(path, number, what));
}

}  // namespace

Expected<std::unique_ptr<OutputFolder>> OutputFolder::create(const std::string& path) {
  struct stat facts {};
  if (lstat(path.c_str(), &facts) == 0)
    return folder_refused(
        path, S_ISLNK(facts.st_mode) ? ENOENT : EEXIST,
        S_ISLNK(facts.st_mode) ? "a link to a folder that does not exist" : "cannot be made");
  auto place = OutputPlace::find(path);
  if (!place) return tl::unexpected<Error>(std::move(place.error()));
  std::string temporary = random_name(place->name());
  if (mkdirat(place->folder(), temporary.c_str(), 0777) != 0)
    return folder_refused(path, errno, "the folder cannot be made");
  return std::unique_ptr<OutputFolder>(new OutputFolder(path, std::move(*place), std::move(temporary)));
}

OutputFolder::OutputFolder(std::string path, OutputPlace place, std::string temporary)
    : path_(std::move(path)), place_(std::move(place)), temporary_(std::move(temporary)) {
  const std::size_t slash = path_.rfind('/');
  temporary_path_ = (slash == std::string::npos ? std::string() : path_.substr(0, slash + 1)) + temporary_;
}

OutputFolder::~OutputFolder() {
  discard();
}

void OutputFolder::discard() noexcept {
  if (temporary_.empty()) return;
  // Files that were finished before another one failed.
  const int folder =
      openat(place_.folder(), temporary_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (DIR* const entries = folder >= 0 ? fdopendir(folder) : nullptr; entries != nullptr) {
    while (const dirent* const entry = readdir(entries)) unlinkat(folder, entry->d_name, 0);  // not "."
    closedir(entries);
  } else if (folder >= 0) {
    ::close(folder);
  }
  unlinkat(place_.folder(), temporary_.c_str(), AT_REMOVEDIR);
  temporary_.clear();
}

Expected<void> OutputFolder::place() {
  if (renameat(place_.folder(), temporary_.c_str(), place_.folder(), place_.name().c_str()) != 0)
    return folder_refused(path_, errno, "cannot be put in place");
  temporary_.clear();
  return {};
}

Expected<void> OutputFolder::finish() {
  auto done = placed();
  if (done) temporary_.clear();
  return done;
}

}  // namespace roce::capture
