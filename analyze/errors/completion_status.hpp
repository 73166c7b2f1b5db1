// SPDX-License-Identifier: Apache-2.0
// The statuses of completions (enum ibv_wc_status of libibverbs, ib_wc_status of Linux), and what mlx5 says
// beside them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace roce::analyze {

/// Numbers of ibv_wc_status that are spoken of one by one.
enum CompletionStatus : std::uint8_t {
  wc_local_length = 1,
  wc_local_qp_operation = 2,
  wc_local_protection = 4,
  wc_flushed = 5,
  wc_bind = 6,
  wc_bad_response = 7,
  wc_local_access = 8,
  wc_remote_invalid_request = 9,
  wc_remote_access = 10,
  wc_remote_operation = 11,
  wc_retries_exceeded = 12,
  wc_rnr_retries_exceeded = 13,
  wc_remote_aborted = 16,
  wc_general = 21,
};

/// "IBV_WC_RETRY_EXC_ERR"; empty for numbers without one.
[[nodiscard]] std::string_view completion_name(unsigned status) noexcept;
/// "transport retry counter exceeded", as ibv_wc_status_str() has it; empty for numbers without one.
[[nodiscard]] std::string_view completion_words(unsigned status) noexcept;
/// `IBV_WC_RETRY_EXC_ERR (12, "transport retry counter exceeded")`
[[nodiscard]] std::string completion_text(unsigned status);

/// The status that `text` begins with: "12", "IBV_WC_RETRY_EXC_ERR(12)", "transport retry counter exceeded
/// (12)", in the words of libibverbs or Linux. None for success.
[[nodiscard]] std::optional<std::uint8_t> read_completion_status(std::string_view text) noexcept;

/// The status that the drivers make of the syndrome of an mlx5 error CQE.
[[nodiscard]] std::uint8_t status_of_mlx5_syndrome(std::uint8_t syndrome) noexcept;
/// What is publicly known of a vendor error of mlx5; empty for most. NVIDIA documents none of them.
[[nodiscard]] std::string_view mlx5_vendor_words(std::uint32_t vendor_error) noexcept;
/// The status that logs have beside it; none where that is not known.
[[nodiscard]] std::optional<std::uint8_t> status_of_mlx5_vendor(std::uint32_t vendor_error) noexcept;

}  // namespace roce::analyze
