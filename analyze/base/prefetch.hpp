// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace roce::analyze {

/// Asks for the cache line of memory that will be written soon. Any address will do.
[[gnu::always_inline]] inline void prefetch(const void* address) noexcept {
  __builtin_prefetch(address, 1);
  asm volatile("");  // else GCC takes a function that does only this for one that does nothing
}

}  // namespace roce::analyze
