// SPDX-License-Identifier: Apache-2.0
#include "analyze/report/what_was_checked.hpp"

#include <fmt/format.h>

#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/texts.hpp"

namespace roce::analyze {

std::string what_was_checked(const Snapshot& s) {
  std::vector<std::string> parts;
  if (!s.connections.empty()) {
    parts.push_back("losses, retransmissions and answers in " +
                    plural(s.connections.size(), "connection", "connections"));
  }
  if (!s.exchanges.empty()) parts.push_back(plural(s.exchanges.size(), "CM exchange", "CM exchanges"));
  const std::uint64_t icrcs = s.totals.icrc[static_cast<std::size_t>(dissect::CrcStatus::match)] +
                              s.totals.icrc[static_cast<std::size_t>(dissect::CrcStatus::mismatch)];
  if (s.icrc_checked && icrcs != 0) parts.push_back("ICRCs of " + plural(icrcs, "packet", "packets"));
  if (s.dropped()) parts.emplace_back("drops reported by the capture");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace roce::analyze
