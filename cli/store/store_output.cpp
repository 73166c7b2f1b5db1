// SPDX-License-Identifier: Apache-2.0
#include "cli/store/store_output.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

namespace roce::cli {

using capture::Error;
using capture::Expected;

tl::unexpected<Error> StoreOutput::failed(int number) const {
  Error error;
  error.kind = capture::ErrorKind::not_writable;
  error.path = target_.name;
  error.message = std::string("rows for it cannot be kept: ") + std::strerror(number);
  error.system_errno = number;
  return tl::unexpected(error);
}

Expected<std::unique_ptr<StoreOutput>> StoreOutput::create(const analyze::StoreTarget& target) {
  std::unique_ptr<StoreOutput> output(
      new StoreOutput(target, capture::OwnedDescriptor(::memfd_create("batches", MFD_CLOEXEC))));
  if (output->file_.get() < 0) return output->failed(errno);
  return output;
}

Expected<void> StoreOutput::add(const analyze::StoreBatch& batch) {
  const std::string bytes = encode(batch);
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t written = ::write(file_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failed(errno);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Expected<void> StoreOutput::place() {
  struct stat facts {};
  if (::fstat(file_.get(), &facts) != 0) return failed(errno);
  std::string bytes(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got =
        ::pread(file_.get(), bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return failed(got < 0 ? errno : EIO);
    have += static_cast<std::size_t>(got);
  }
  std::vector<analyze::StoreBatch> batches;
  for (std::string_view rest = bytes; !rest.empty();) {
    auto batch = analyze::decode(rest);
    if (!batch) return tl::unexpected(std::move(batch.error()));
    batches.push_back(std::move(*batch));
  }
  // A server that is away for a moment is asked again.
  constexpr int attempts = 6;
  for (int attempt = 0;; ++attempt) {
    auto added = add_all(batches);
    if (added || !analyze::is_store_address(target_.name) ||
        added.error().kind != capture::ErrorKind::not_readable || attempt + 1 == attempts)
      return added;
    std::this_thread::sleep_for(std::chrono::seconds(1U << static_cast<unsigned>(attempt)));
  }
}

Expected<void> StoreOutput::add_all(const std::vector<analyze::StoreBatch>& batches) {
  auto store = analyze::open_store(target_, analyze::Store::Access::write);
  if (!store) return tl::unexpected(std::move(store.error()));
  for (auto batch = batches.rbegin(); batch != batches.rend(); ++batch) {
    if (auto added = (*store)->add(*batch); !added) return tl::unexpected(std::move(added.error()));
  }
  return {};
}

}  // namespace roce::cli
