// SPDX-License-Identifier: Apache-2.0
// What the rules on fatal NAKs have in common: a responder refused a request and the connection ended.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

struct Refusal {
  Event event{};
  std::uint8_t code = 0;        ///< of the AETH
  std::string_view name;        ///< "remote access error"
  std::string_view completion;  ///< what the requester's application sees
  std::string_view means;       ///< a sentence
  std::string_view advice;      ///< for the responder's host: "On HOST: " stands before it
};

void find_refused(const Snapshot& snapshot, FindingSink& sink, const Refusal& refusal);

}  // namespace roce::analyze
