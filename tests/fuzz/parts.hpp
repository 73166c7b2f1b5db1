// SPDX-License-Identifier: Apache-2.0
// What fuzz targets of exports require of the parts that readers return.
#pragma once

#include "dissect/part.hpp"
#include "tests/fuzz/require.hpp"

namespace roce::fuzz {

/// Every part lies inside the one around it.
inline void check(const dissect::Part& part, const dissect::Part& around) {
  require(part.captured.size() <= part.declared, "more captured than there is");
  require(part.declared <= around.declared, "longer than what it lies in");
  require(part.captured.empty() || (part.captured.data() >= around.captured.data() &&
                                    part.captured.data() + part.captured.size() <=
                                        around.captured.data() + around.captured.size()),
          "outside of the bytes");
}

}  // namespace roce::fuzz
