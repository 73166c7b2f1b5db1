// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "capture/core/error.hpp"

// Internal: what all writing to descriptors shares.
namespace roce::capture {

/// Writes all of it, also into a pipe that is slow. No failure raises a signal (SIGPIPE, SIGXFSZ). `written`
/// grows by what got there. 0, or the errno that stopped it.
[[nodiscard]] int write_all(int descriptor, const std::uint8_t* data, std::size_t size,
                            std::uint64_t& written) noexcept;

/// "PATH: WHAT: No space left on device" of kind not_writable.
[[nodiscard]] Error not_writable(const std::string& path, int number, const std::string& what);

/// A descriptor for standard output that can be closed like any other; -1 with errno where there is none.
[[nodiscard]] int standard_output() noexcept;

}  // namespace roce::capture
