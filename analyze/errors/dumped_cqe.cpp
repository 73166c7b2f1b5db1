// SPDX-License-Identifier: Apache-2.0
#include "analyze/errors/dumped_cqe.hpp"

#include <charconv>

namespace roce::analyze {
namespace {

/// The last word of the line, which is shortened by it; empty if there is none.
std::string_view last_word(std::string_view& line) noexcept {
  const std::size_t end = line.find_last_not_of(" \t");
  if (end == std::string_view::npos) return {};
  line = line.substr(0, end + 1);
  const std::size_t blank = line.find_last_of(" \t");
  const std::size_t begin = blank == std::string_view::npos ? 0 : blank + 1;
  const std::string_view word = line.substr(begin);
  line = line.substr(0, begin);
  return word;
}

/// All of the word as a hexadecimal number of so many digits.
std::optional<std::uint32_t> hex_word(std::string_view word, std::size_t digits) noexcept {
  std::uint32_t value = 0;
  const char* end = word.data() + word.size();
  const auto [stop, failure] = std::from_chars(word.data(), end, value, 16);
  if (word.size() != digits || failure != std::errc() || stop != end) return std::nullopt;
  return value;
}

using Row = std::array<std::uint8_t, 16>;

/// The sixteen bytes that the line ends with, as words of so many digits.
std::optional<Row> row_of(std::string_view line, std::size_t digits) noexcept {
  Row row{};
  const std::size_t size = digits / 2;
  for (std::size_t at = row.size(); at != 0; at -= size) {
    const auto value = hex_word(last_word(line), digits);
    if (!value) return std::nullopt;
    for (std::size_t i = 0; i < size; ++i) row[at - 1 - i] = static_cast<std::uint8_t>(*value >> (8 * i));
  }
  return row;
}

/// The operation of the work request: opcodes of its WQE.
std::string_view operation_of(std::uint8_t opcode) noexcept {
  switch (opcode) {
    case 0x08:
    case 0x09:
      return "RDMA_WRITE";
    case 0x01:
    case 0x0a:
    case 0x0b:
      return "SEND";
    case 0x10:
      return "RDMA_READ";
    case 0x11:
      return "COMPARE_SWAP";
    case 0x12:
      return "FETCH_ADD";
    case 0x25:
      return "UMR";
    default:
      return {};
  }
}

}  // namespace

bool DumpedCqe::take(std::string_view line) noexcept {
  auto row = row_of(line, 2);
  if (!row) row = row_of(line, 8);
  if (!row || complete()) return false;
  for (std::size_t i = 0; i < row_size; ++i) bytes_[rows_ * row_size + i] = (*row)[i];
  ++rows_;
  return true;
}

std::optional<ErrorCqe> DumpedCqe::read() const noexcept {
  constexpr std::size_t vendor = 54, syndrome = 55, opcode = 56, qp = 57, owner = 63;
  constexpr unsigned requester_error = 13, responder_error = 14;
  const unsigned kind = bytes_[owner] >> 4U;
  if (!complete() || (kind != requester_error && kind != responder_error)) return std::nullopt;
  ErrorCqe cqe;
  cqe.qp = static_cast<std::uint32_t>(bytes_[qp] << 16U | bytes_[qp + 1] << 8U | bytes_[qp + 2]);
  cqe.syndrome = bytes_[syndrome];
  cqe.vendor_error = bytes_[vendor];
  cqe.operation = kind == responder_error ? "RECV" : operation_of(bytes_[opcode]);
  return cqe;
}

}  // namespace roce::analyze
