// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "capture/core/error.hpp"

// Internal: writing to file descriptors.
namespace roce::capture {

/// Writes all bytes, also to a slow pipe. Failures raise no signal (SIGPIPE, SIGXFSZ). Adds the number of
/// bytes written to `written`. Returns 0 or an errno.
[[nodiscard]] int write_all(int descriptor, const std::uint8_t* data, std::size_t size,
                            std::uint64_t& written) noexcept;

/// An error "PATH: WHAT: No space left on device" of kind not_writable; `number` is the errno.
[[nodiscard]] Error not_writable(const std::string& path, int number, const std::string& what);

/// A duplicate of the descriptor of standard output, to be closed by the caller; -1 and errno on failure.
[[nodiscard]] int standard_output() noexcept;

}  // namespace roce::capture
