// SPDX-License-Identifier: Apache-2.0
// Nothing but the file whose name makes CMake generate the meta-object of selection.hpp.
#include "gui/models/selection.hpp"
