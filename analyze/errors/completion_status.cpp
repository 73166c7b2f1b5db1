// SPDX-License-Identifier: Apache-2.0
#include "analyze/errors/completion_status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "analyze/errors/log_values.hpp"

namespace roce::analyze {
namespace {

struct StatusRow {
  std::string_view name;              ///< without IBV_WC_
  std::string_view words;             ///< of ibv_wc_status_str()
  std::string_view linux_words = {};  ///< of ib_wc_status_msg(), where they differ
};

/// By number.
constexpr std::array<StatusRow, 24> statuses{{
    {"SUCCESS", "success"},
    {"LOC_LEN_ERR", "local length error"},
    {"LOC_QP_OP_ERR", "local QP operation error"},
    {"LOC_EEC_OP_ERR", "local EE context operation error"},
    {"LOC_PROT_ERR", "local protection error"},
    {"WR_FLUSH_ERR", "Work Request Flushed Error", "WR flushed"},
    {"MW_BIND_ERR", "memory management operation error", "memory bind operation error"},
    {"BAD_RESP_ERR", "bad response error"},
    {"LOC_ACCESS_ERR", "local access error"},
    {"REM_INV_REQ_ERR", "remote invalid request error", "invalid request error"},
    {"REM_ACCESS_ERR", "remote access error"},
    {"REM_OP_ERR", "remote operation error"},
    {"RETRY_EXC_ERR", "transport retry counter exceeded"},
    {"RNR_RETRY_EXC_ERR", "RNR retry counter exceeded"},
    {"LOC_RDD_VIOL_ERR", "local RDD violation error"},
    {"REM_INV_RD_REQ_ERR", "remote invalid RD request"},
    {"REM_ABORT_ERR", "aborted error", "operation aborted"},
    {"INV_EECN_ERR", "invalid EE context number"},
    {"INV_EEC_STATE_ERR", "invalid EE context state"},
    {"FATAL_ERR", "fatal error"},
    {"RESP_TIMEOUT_ERR", "response timeout error"},
    {"GENERAL_ERR", "general error"},
    {"TM_ERR", "TM error"},
    {"TM_RNDV_INCOMPLETE", "TM software rendezvous"},
}};

constexpr bool is_name_character(char c) noexcept {
  return (c >= 'A' && c <= 'Z') || c == '_';
}

/// The number of a row; none for success.
std::optional<std::uint8_t> number_of(const StatusRow& row) noexcept {
  const auto number = static_cast<std::uint8_t>(&row - statuses.data());
  return number == 0 ? std::nullopt : std::optional(number);
}

/// "IBV_WC_..." or "IB_WC_...".
std::optional<std::uint8_t> read_name(std::string_view text) noexcept {
  for (const std::string_view prefix : {"IBV_WC_", "IB_WC_"}) {
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    const auto end = std::find_if_not(text.begin(), text.end(), is_name_character);
    const std::string_view name = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    for (const StatusRow& row : statuses) {
      if (row.name == name) return number_of(row);
    }
  }
  return std::nullopt;
}

/// "... (12)" or "... (12/0x81)": the number behind words.
std::optional<std::uint8_t> read_number_in_parentheses(std::string_view text) noexcept {
  constexpr std::size_t most_words = 64;
  const std::size_t open = text.substr(0, most_words).find('(');
  if (open == std::string_view::npos) return std::nullopt;
  const auto number = read_number(text.substr(open + 1));
  if (!number || *number == 0 || *number >= statuses.size()) return std::nullopt;
  return static_cast<std::uint8_t>(*number);
}

}  // namespace

std::string_view completion_name(unsigned status) noexcept {
  // The whole name, so that it can be looked for.
  static constexpr std::array<std::string_view, statuses.size()> names{"IBV_WC_SUCCESS",
                                                                       "IBV_WC_LOC_LEN_ERR",
                                                                       "IBV_WC_LOC_QP_OP_ERR",
                                                                       "IBV_WC_LOC_EEC_OP_ERR",
                                                                       "IBV_WC_LOC_PROT_ERR",
                                                                       "IBV_WC_WR_FLUSH_ERR",
                                                                       "IBV_WC_MW_BIND_ERR",
                                                                       "IBV_WC_BAD_RESP_ERR",
                                                                       "IBV_WC_LOC_ACCESS_ERR",
                                                                       "IBV_WC_REM_INV_REQ_ERR",
                                                                       "IBV_WC_REM_ACCESS_ERR",
                                                                       "IBV_WC_REM_OP_ERR",
                                                                       "IBV_WC_RETRY_EXC_ERR",
                                                                       "IBV_WC_RNR_RETRY_EXC_ERR",
                                                                       "IBV_WC_LOC_RDD_VIOL_ERR",
                                                                       "IBV_WC_REM_INV_RD_REQ_ERR",
                                                                       "IBV_WC_REM_ABORT_ERR",
                                                                       "IBV_WC_INV_EECN_ERR",
                                                                       "IBV_WC_INV_EEC_STATE_ERR",
                                                                       "IBV_WC_FATAL_ERR",
                                                                       "IBV_WC_RESP_TIMEOUT_ERR",
                                                                       "IBV_WC_GENERAL_ERR",
                                                                       "IBV_WC_TM_ERR",
                                                                       "IBV_WC_TM_RNDV_INCOMPLETE"};
  return status < names.size() ? names[status] : std::string_view();
}

std::string_view completion_words(unsigned status) noexcept {
  return status < statuses.size() ? statuses[status].words : std::string_view();
}

std::string completion_text(unsigned status) {
  const std::string_view name = completion_name(status);
  if (name.empty()) return fmt::format("completion status {}", status);
  return fmt::format("{} ({}, \"{}\")", name, status, completion_words(status));
}

std::optional<std::uint8_t> read_completion_status(std::string_view text) noexcept {
  text = without_leading(text, " ('\"");
  if (const auto number = read_number(text)) {
    const bool known = *number != 0 && *number < statuses.size();
    return known ? std::optional(static_cast<std::uint8_t>(*number)) : std::nullopt;
  }
  if (const auto named = read_name(text)) return named;
  for (const StatusRow& row : statuses) {
    const bool linux_words = !row.linux_words.empty() && text.starts_with(row.linux_words);
    if (linux_words || text.starts_with(row.words)) return number_of(row);
  }
  return read_number_in_parentheses(text);
}

std::uint8_t status_of_mlx5_syndrome(std::uint8_t syndrome) noexcept {
  switch (syndrome) {
    case 0x01:
      return wc_local_length;
    case 0x02:
      return wc_local_qp_operation;
    case 0x04:
      return wc_local_protection;
    case 0x05:
      return wc_flushed;
    case 0x06:
      return wc_bind;
    case 0x10:
      return wc_bad_response;
    case 0x11:
      return wc_local_access;
    case 0x12:
      return wc_remote_invalid_request;
    case 0x13:
      return wc_remote_access;
    case 0x14:
      return wc_remote_operation;
    case 0x15:
      return wc_retries_exceeded;
    case 0x16:
      return wc_rnr_retries_exceeded;
    case 0x22:
      return wc_remote_aborted;
    default:
      return wc_general;
  }
}

std::optional<std::uint8_t> status_of_mlx5_vendor(std::uint32_t vendor_error) noexcept {
  switch (vendor_error) {
    case 0x81:
      return wc_retries_exceeded;
    case 0x88:
      return wc_remote_access;
    case 0x8a:
      return wc_remote_invalid_request;
    case 0xf4:
    case 0xf9:
      return wc_flushed;
    default:
      return std::nullopt;
  }
}

std::string_view mlx5_vendor_words(std::uint32_t vendor_error) noexcept {
  switch (vendor_error) {
    case 0x81:
      return "the retries for timeouts ran out";
    case 0x88:
      return "the peer refused access to its memory";
    case 0x8a:
      return "the peer refused the request as invalid";
    case 0x93:
      return "a fault of on-demand paging";
    case 0x99:
      return "of the PSN";
    case 0xf4:
    case 0xf9:
      return "flushed after an earlier error";
    default:
      return {};
  }
}

}  // namespace roce::analyze
