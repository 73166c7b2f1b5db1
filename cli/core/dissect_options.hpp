// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyze/policy/dissect_choice.hpp"

namespace CLI {
class App;
}

namespace roce::cli {

struct DissectOptions : analyze::DissectChoice {
  void add_to(CLI::App& command);
};

}  // namespace roce::cli
