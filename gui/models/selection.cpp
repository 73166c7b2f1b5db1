// SPDX-License-Identifier: Apache-2.0
// Empty: makes CMake generate the meta-object of selection.hpp.
#include "gui/models/selection.hpp"
