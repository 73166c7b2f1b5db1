// SPDX-License-Identifier: Apache-2.0
#include "cli/store/spool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace roce::cli {
namespace {

namespace fs = std::filesystem;
using capture::Error;
using capture::ErrorKind;
using capture::Expected;

constexpr std::string_view batch_ending = ".batch";
/// More than any batch has: 50 000 rows of a few hundred bytes each.
constexpr std::int64_t batch_bytes_at_most = std::int64_t{1} << 30U;

Error spool_error(ErrorKind kind, const std::string& path, std::string message, int number) {
  Error error;
  error.kind = kind;
  error.path = path;
  error.message = std::move(message);
  error.system_errno = number;
  return error;
}

/// Empty, or the errno of what failed.
int write_whole(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

Expected<void> SpoolWriter::add(const analyze::StoreBatch& batch) {
  const std::string bytes = encode(batch);
  make_room(bytes.size());
  const std::string path = fmt::format("{}/{:019}-{:010}{}", folder_, batch.run, batch.seq, batch_ending);
  const std::string temporary = path + ".new";
  constexpr mode_t only_owner = 0600;
  const capture::OwnedDescriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, only_owner));
  int failed = file.get() < 0 ? errno : write_whole(file.get(), bytes);
  if (failed == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) failed = errno;
  if (failed != 0) {
    ::unlink(temporary.c_str());
    ++lost_;
    return tl::unexpected(spool_error(ErrorKind::not_writable, path, std::strerror(failed), failed));
  }
  written_.push_back({path, bytes.size()});
  return {};
}

void SpoolWriter::make_room(std::uint64_t bytes) {
  std::erase_if(written_, [](const Written& each) { return ::access(each.path.c_str(), F_OK) != 0; });
  std::uint64_t all = bytes;
  for (const Written& each : written_) all += each.bytes;
  while (all > bytes_at_most_ && !written_.empty()) {
    // Meanwhile it may have been shipped.
    if (::unlink(written_.front().path.c_str()) == 0) ++lost_;
    all -= written_.front().bytes;
    written_.erase(written_.begin());
  }
}

Expected<SpoolReader> SpoolReader::open(const std::string& folder) {
  struct stat facts {};
  if (::stat(folder.c_str(), &facts) != 0)
    return tl::unexpected(spool_error(ErrorKind::not_found, folder, std::strerror(errno), errno));
  if (!S_ISDIR(facts.st_mode))
    return tl::unexpected(
        spool_error(ErrorKind::not_readable, folder, "is no folder: a spool is one", ENOTDIR));
  constexpr mode_t only_owner = 0600;
  capture::OwnedDescriptor lock(
      ::open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, only_owner));
  if (lock.get() < 0)
    return tl::unexpected(spool_error(ErrorKind::not_writable, folder, std::strerror(errno), errno));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return tl::unexpected(
        spool_error(ErrorKind::not_writable, folder, "another process ships this spool", EWOULDBLOCK));
  return SpoolReader(folder, std::move(lock));
}

std::vector<std::string> SpoolReader::waiting() const {
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    std::error_code gone;
    const std::string path = entry.path().string();
    const fs::file_time_type time = entry.last_write_time(gone);
    if (!gone && path.ends_with(batch_ending) && entry.is_regular_file(gone)) found.emplace_back(time, path);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  for (auto& [time, path] : found) paths.push_back(std::move(path));
  return paths;
}

Expected<analyze::StoreBatch> SpoolReader::read(const std::string& path) {
  const capture::OwnedDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat facts {};
  if (file.get() < 0 || ::fstat(file.get(), &facts) != 0)
    return tl::unexpected(spool_error(ErrorKind::not_readable, path, std::strerror(errno), errno));
  if (!S_ISREG(facts.st_mode) || facts.st_size > batch_bytes_at_most)
    return tl::unexpected(spool_error(ErrorKind::damaged, path, "is no batch", 0));
  std::string bytes(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return tl::unexpected(spool_error(ErrorKind::not_readable, path, std::strerror(errno), errno));
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  std::string_view rest = std::string_view(bytes).substr(0, have);
  auto batch = analyze::decode(rest);
  if (batch && !rest.empty())
    return tl::unexpected(spool_error(ErrorKind::damaged, path, "has more than a batch", 0));
  if (!batch) batch.error().path = path;
  return batch;
}

void SpoolReader::remove(const std::string& path) noexcept {
  ::unlink(path.c_str());
}

void SpoolReader::reject(const std::string& path) const noexcept {
  const std::string folder = folder_ + "/rejected";
  constexpr mode_t only_owner = 0700;
  ::mkdir(folder.c_str(), only_owner);
  const std::string to = folder + path.substr(path.rfind('/'));
  ::rename(path.c_str(), to.c_str());
}

Expected<void> ship(const SpoolReader& spool, const analyze::StoreTarget& target, Shipped& what) {
  const std::vector<std::string> waiting = spool.waiting();
  if (waiting.empty()) return {};
  auto store = analyze::open_store(target, analyze::Store::Access::write);
  if (!store) return tl::unexpected(std::move(store.error()));
  for (const std::string& path : waiting) {
    const auto batch = SpoolReader::read(path);
    const auto is_bad = [](const Error& error) {
      return error.kind == ErrorKind::damaged || error.kind == ErrorKind::cut_short ||
             error.kind == ErrorKind::unsupported;
    };
    if (!batch) {
      if (::access(path.c_str(), F_OK) != 0) continue;  // its writer needed the room
      if (!is_bad(batch.error())) return tl::unexpected(batch.error());
      spool.reject(path);
      ++what.rejected;
      continue;
    }
    const auto added = (*store)->add(*batch);
    if (!added) {
      // Without a path it is the batch that does not fit.
      if (!added.error().path.empty() || !is_bad(added.error())) return tl::unexpected(added.error());
      spool.reject(path);
      ++what.rejected;
      if (!analyze::is_store_address(target.name)) continue;
      Error error = added.error();
      error.path = path;
      return tl::unexpected(std::move(error));
    }
    ++(*added ? what.batches : what.known);
    SpoolReader::remove(path);
  }
  return {};
}

std::int64_t wait_after(const Expected<void>& shipped, std::int64_t waited) {
  constexpr std::int64_t longest = 60;
  if (shipped) return 1;
  const bool passes =
      shipped.error().kind == ErrorKind::not_readable || shipped.error().kind == ErrorKind::not_writable;
  return passes ? std::min(waited * 2, longest) : longest;
}

}  // namespace roce::cli
