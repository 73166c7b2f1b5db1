// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/files/reread.hpp"

namespace roce::cli {

// Reading captures twice, for results that later packets decide.
using capture::can_read_twice;
using capture::limited;

}  // namespace roce::cli
