// SPDX-License-Identifier: Apache-2.0
#include "capture/sniffer/ring_memory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <limits>
#include <utility>

namespace roce::capture {
namespace {

// The page size is requested explicitly, as the machine's default may be another one (1 GiB). Its logarithm
// is part of the flags; 21 is 2 MiB, the huge page of x86 and of arm64 with 4 KiB pages.
constexpr std::size_t huge_page = std::size_t{1} << 21U;
constexpr int huge_page_flag = 21 << 26;
constexpr std::size_t normal_page = 4096;

std::uint8_t* map(std::size_t bytes, int flags) noexcept {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(at);
}

std::size_t round_up(std::size_t bytes, std::size_t page) noexcept {
  return (bytes + page - 1) / page * page;
}

}  // namespace

RingMemory::RingMemory(std::size_t bytes, bool try_huge) noexcept {
  if (bytes == 0 || bytes > std::numeric_limits<std::size_t>::max() / 2) {
    errno = ENOMEM;
    return;
  }
  size_ = round_up(bytes, huge_page);
  if (try_huge) data_ = map(size_, MAP_HUGETLB | huge_page_flag);
  huge_ = data_ != nullptr;
  if (!huge_) {
    size_ = round_up(bytes, normal_page);
    data_ = map(size_, 0);
    if (data_ == nullptr) {
      size_ = 0;
      return;
    }
    madvise(data_, size_, MADV_HUGEPAGE);  // may fail if the kernel does not support it
  }
  // After fork() the first write would move this process to a copy, while the device writes to the original.
  madvise(data_, size_, MADV_DONTFORK);
}

RingMemory::~RingMemory() {
  if (data_ != nullptr) munmap(data_, size_);
}

RingMemory::RingMemory(RingMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      huge_(std::exchange(other.huge_, false)) {}

RingMemory& RingMemory::operator=(RingMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(huge_, other.huge_);
  return *this;
}

}  // namespace roce::capture
