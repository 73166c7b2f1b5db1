// SPDX-License-Identifier: Apache-2.0
#include "cli/store/run_number.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "analyze/store/keys.hpp"
#include "capture/write/output_place.hpp"

namespace roce::cli {
namespace {

constexpr std::int64_t piece = std::int64_t{1} << 20U;
constexpr std::int64_t pieces_at_most = 64;

tl::unexpected<capture::Error> refused(const std::string& path, const std::string& message, int number) {
  capture::Error error;
  error.kind = number == ENOENT ? capture::ErrorKind::not_found : capture::ErrorKind::not_readable;
  error.path = path;
  error.message = message;
  error.system_errno = number;
  return tl::unexpected(error);
}

capture::Expected<std::uint64_t> hash_of_file(const std::string& path) {
  if (path == "-") return refused(path, "a pipe cannot be told from another one: save it to a file first", 0);
  const capture::OwnedDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file.get() < 0) return refused(path, std::strerror(errno), errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return refused(path, std::strerror(errno), errno);
  if (!S_ISREG(facts.st_mode))
    return refused(path, "only files have a number in a store: save it to a file first", 0);
  const std::int64_t size = facts.st_size;
  const std::int64_t pieces = (size + piece - 1) / piece;
  const std::int64_t read = std::min(pieces, pieces_at_most);
  std::string bytes;
  std::string hashes = fmt::format("{}", size);
  for (std::int64_t i = 0; i < read; ++i) {
    // All of them, or evenly from the first to the last.
    const std::int64_t at = read == pieces ? i : i * (pieces - 1) / (read - 1);
    bytes.resize(static_cast<std::size_t>(std::min(piece, size - at * piece)));
    const ssize_t got = ::pread(file.get(), bytes.data(), bytes.size(), at * piece);
    if (got != static_cast<ssize_t>(bytes.size()))
      return refused(path, got < 0 ? std::strerror(errno) : "became shorter while it was read", errno);
    hashes += fmt::format("|{}", analyze::sip_hash(bytes));
  }
  return analyze::store_key(hashes);
}

}  // namespace

capture::Expected<std::uint64_t> run_number(const std::vector<std::string>& files) {
  std::string all;
  for (const std::string& file : files) {
    const auto hash = hash_of_file(file);
    if (!hash) return hash;
    if (files.size() == 1) return hash;
    all += fmt::format("|{}", *hash);
  }
  return analyze::store_key(all);
}

}  // namespace roce::cli
