// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/congestion_cases.hpp"

#include <fmt/format.h>

namespace roce::analyze {

Shown shown_by_ce() {
  Shown shown = shown_by_flag("roce.ecn == 3", Event::ce_marked);
  shown.copies_pass = true;
  shown.damaged_pass = true;
  return shown;
}

Shown shown_by_cnps() {
  Shown shown = shown_by_flag("roce.class == cnp", Event::cnp, Shown::By::other);
  shown.packets = [](const Connection& c, unsigned sender) { return c.cnps[sender]; };
  shown.copies_pass = true;
  shown.damaged_pass = true;
  return shown;
}

std::string rates_text(const CongestionSide& side) {
  std::string text = fmt::format("{} before the first CNP", rate_text(side.before.bps()));
  if (side.between.ns != 0) text += fmt::format(", {} between the CNPs", rate_text(side.between.bps()));
  if (side.after.ns != 0) text += fmt::format(", {} after the last", rate_text(side.after.bps()));
  return text;
}

}  // namespace roce::analyze
