// SPDX-License-Identifier: Apache-2.0
#include "dissect/walk.hpp"

namespace roce::dissect {

Step walk_mad(Walk&) noexcept {
  return Step::done;
}

}  // namespace roce::dissect
