// SPDX-License-Identifier: Apache-2.0
#include "gui/models/selection.hpp"

// Here for its meta-object, which CMake adds to this file.
#include "moc_selection.cpp"
