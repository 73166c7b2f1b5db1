// SPDX-License-Identifier: Apache-2.0
#include "dissect/walk.hpp"

namespace roce::dissect {

Step walk_mac_control(Walk&) noexcept {
  return Step::done;
}

}  // namespace roce::dissect
