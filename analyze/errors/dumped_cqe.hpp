// SPDX-License-Identifier: Apache-2.0
// The dump of an error CQE of mlx5 that its drivers write to logs: 64 bytes, in four rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace roce::analyze {

/// struct mlx5_err_cqe of the drivers, as far as it says anything.
struct ErrorCqe {
  std::uint32_t qp = 0;
  std::uint8_t syndrome = 0;
  std::uint8_t vendor_error = 0;
  std::string_view operation;  ///< "SEND", "RDMA_WRITE", "RECV" ...; empty where it is not known
};

/// Puts the rows together. They look like "00000030: 00 00 ..." (Linux), or like four words of eight digits
/// (older Linux, rdma-core).
class DumpedCqe {
 public:
  /// Whether the line is a row of a dump; it is taken then.
  bool take(std::string_view line) noexcept;
  /// After the last row: what the CQE says; none if it is no error CQE.
  [[nodiscard]] std::optional<ErrorCqe> read() const noexcept;
  [[nodiscard]] bool complete() const noexcept { return rows_ == rows; }

 private:
  static constexpr std::size_t rows = 4;
  static constexpr std::size_t row_size = 16;

  std::array<std::uint8_t, rows * row_size> bytes_{};
  std::size_t rows_ = 0;
};

}  // namespace roce::analyze
