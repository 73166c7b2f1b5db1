// SPDX-License-Identifier: Apache-2.0
// What the rules on fatal NAKs have in common: a responder refused a request, which ends the connection.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

struct Refusal {
  Event event{};
  std::uint8_t code = 0;        ///< NAK code of the AETH syndrome, IBTA 9.3.5
  std::string_view name;        ///< "remote access error"
  std::string_view completion;  ///< status that the requester's application sees
  std::string_view means;       ///< a sentence: what the NAK means
  std::string_view advice;      ///< for the responder's host: follows "On HOST: "
};

/// Adds a finding for each group of connections with such a NAK. Called by the rules of this kind.
void find_refused(const Snapshot& snapshot, FindingSink& sink, const Refusal& refusal);

}  // namespace roce::analyze
