// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/files/reread.hpp"

namespace roce::cli {

using capture::can_read_twice;
using capture::limited;

}  // namespace roce::cli
