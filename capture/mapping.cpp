// SPDX-License-Identifier: Apache-2.0
#include "capture/mapping.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

namespace roce::capture {
namespace {

// The registry that the handler reads: fixed slots of atomics, for a handler may neither lock nor
// allocate. begin = 0: free. size is written before begin is published.
struct Slot {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::size_t> size{0};
  std::atomic<std::size_t> fault{SIZE_MAX};  ///< offset of the first page that could not be read
  std::atomic<bool> taken{false};
};
constexpr std::size_t slot_count = 1024;
std::array<Slot, slot_count> slots;
std::atomic<std::size_t> slots_used{0};  // no slot at or beyond was ever taken

struct sigaction earlier_action;
std::uintptr_t page_bytes = 4096;

void lower(std::atomic<std::size_t>& value, std::size_t candidate) noexcept {
  std::size_t seen = value.load(std::memory_order_relaxed);
  while (candidate < seen && !value.compare_exchange_weak(seen, candidate)) {
  }
}

/// Puts zero pages under the rest of the mapping that `address` lies in.
bool repair(std::uintptr_t address) noexcept {
  const std::size_t used = slots_used.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < used; ++i) {
    Slot& slot = slots[i];
    const std::uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    const std::size_t size = slot.size.load(std::memory_order_relaxed);
    if (begin == 0 || address < begin || address - begin >= size) continue;
    const std::uintptr_t page = address & ~(page_bytes - 1);
    const std::size_t rest = begin + size - page;
    // The address is an integer by nature here: it comes from the fault.
    void* const where = reinterpret_cast<void*>(page);  // NOLINT(performance-no-int-to-ptr)
    if (mmap(where, rest, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
      return false;
    lower(slot.fault, page - begin);
    return true;
  }
  return false;
}

extern "C" void roce_capture_on_sigbus(int number, siginfo_t* info, void* context) {
  const int kept_errno = errno;
  const bool repaired = repair(reinterpret_cast<std::uintptr_t>(info->si_addr));
  errno = kept_errno;
  if (repaired) return;
  if ((earlier_action.sa_flags & SA_SIGINFO) != 0) {
    earlier_action.sa_sigaction(number, info, context);
  } else if (earlier_action.sa_handler == SIG_DFL || earlier_action.sa_handler == SIG_IGN) {
    // Back to what would have happened without us: the access repeats and the process ends.
    sigaction(SIGBUS, &earlier_action, nullptr);
    if (info->si_code <= 0) raise(SIGBUS);  // sent by a process: nothing would repeat it
  } else {
    earlier_action.sa_handler(number);
  }
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    const long page = sysconf(_SC_PAGESIZE);
    if (page > 0) page_bytes = static_cast<std::uintptr_t>(page);
    struct sigaction action {};
    action.sa_sigaction = roce_capture_on_sigbus;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &earlier_action);
  });
}

std::size_t take_slot() noexcept {
  for (std::size_t i = 0; i < slot_count; ++i) {
    if (slots[i].taken.exchange(true)) continue;
    slots[i].fault.store(SIZE_MAX);
    std::size_t used = slots_used.load();
    while (used < i + 1 && !slots_used.compare_exchange_weak(used, i + 1)) {
    }
    return i;
  }
  return slot_count;
}

void release_slot(std::size_t index) noexcept {
  slots[index].begin.store(0, std::memory_order_release);
  slots[index].taken.store(false, std::memory_order_release);
}

}  // namespace

Expected<std::shared_ptr<Mapping>> Mapping::create(int descriptor, std::size_t bytes) {
  install_handler();
  const std::size_t slot = take_slot();
  if (slot == slot_count) return std::shared_ptr<Mapping>();
  void* const memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) {
    release_slot(slot);
    Error error;
    error.kind = errno == ENOMEM ? ErrorKind::out_of_memory : ErrorKind::not_readable;
    error.system_errno = errno;
    error.message = std::string("cannot map the file: ") + std::strerror(errno);
    return tl::unexpected<Error>(std::move(error));
  }
  madvise(memory, bytes, MADV_SEQUENTIAL);
  slots[slot].size.store(bytes, std::memory_order_relaxed);
  slots[slot].begin.store(reinterpret_cast<std::uintptr_t>(memory), std::memory_order_release);
  return std::shared_ptr<Mapping>(
      new Mapping(descriptor, static_cast<const std::uint8_t*>(memory), bytes, slot));
}

Mapping::~Mapping() {
  release_slot(slot_);
  // munmap takes a pointer to what it unmaps as non-const.
  munmap(const_cast<std::uint8_t*>(data_), size_);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  close(descriptor_);
}

std::size_t Mapping::valid_bytes() const noexcept {
  struct stat facts {};
  std::size_t valid = std::min(size_, slots[slot_].fault.load(std::memory_order_acquire));
  if (fstat(descriptor_, &facts) == 0) valid = std::min(valid, static_cast<std::size_t>(facts.st_size));
  smallest_seen_ = std::min(smallest_seen_, valid);
  return smallest_seen_;
}

bool Mapping::unreadable() const noexcept {
  struct stat facts {};
  return fstat(descriptor_, &facts) == 0 && static_cast<std::size_t>(facts.st_size) >= size_ &&
         slots[slot_].fault.load(std::memory_order_acquire) < size_;
}

Error Mapping::shrunk_error() const {
  const std::size_t valid = valid_bytes();
  Error error;
  error.kind = unreadable() ? ErrorKind::not_readable : ErrorKind::shrunk;
  error.offset = valid;
  error.message = unreadable() ? "the file cannot be read from here on (disk or network error)"
                               : "the file became shorter while it was read, from " + std::to_string(size_) +
                                     " to " + std::to_string(valid) + " bytes";
  return error;
}

}  // namespace roce::capture
