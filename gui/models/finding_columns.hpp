// SPDX-License-Identifier: Apache-2.0
// Findings, as exports have them.
#pragma once

#include "analyze/finding_columns.hpp"

namespace roce::gui {

using analyze::finding_columns;
using analyze::finding_key;
using analyze::first_sentence;

}  // namespace roce::gui
