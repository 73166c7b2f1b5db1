// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace roce::analyze {

/// Prefetches a cache line that will be written soon. Never faults, whatever the address.
[[gnu::always_inline]] inline void prefetch(const void* address) noexcept {
  __builtin_prefetch(address, 1);
  asm volatile("");  // otherwise GCC removes calls of a function that does only this
}

}  // namespace roce::analyze
