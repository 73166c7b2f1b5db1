// SPDX-License-Identifier: Apache-2.0
// What no packet says, and packets are read by: --trimmed-dscp, --mrc-port, --decode-as, --roce-ip-protocol.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyze/policy/marking_policy.hpp"
#include "dissect/dissect.hpp"

namespace roce::analyze {

/// As typed.
struct DissectChoice {
  std::string trimmed_dscp;               ///< empty: those of the policy
  std::optional<std::uint16_t> mrc_port;  ///< none: that of the policy, or the default
  std::string decode_as;
  unsigned roce_ip_protocol = 0;  ///< 0 = none

  [[nodiscard]] bool operator==(const DissectChoice&) const noexcept = default;
  /// As they are typed again, each with a space before it.
  [[nodiscard]] std::string words() const;
  /// `policy` may be null. Texts that are none say nothing.
  [[nodiscard]] dissect::Options with(const MarkingPolicy* policy) const;
};

/// "11" or "11,21": the DSCPs as bits. Not 0, which says nothing. None for other texts.
[[nodiscard]] std::optional<std::uint64_t> parse_dscps(const std::string& text);
/// "falcon=7777,veroce=4794,ifa=253,csig=0x9900": numbers of protocols that nobody assigned. None if it is
/// not that.
[[nodiscard]] std::optional<dissect::NamedNumbers> parse_named_numbers(const std::string& text);
/// Error messages with the valid forms; empty for valid texts.
[[nodiscard]] std::string dscps_error(const std::string& text);
[[nodiscard]] std::string named_numbers_error(const std::string& text);

}  // namespace roce::analyze
