// SPDX-License-Identifier: Apache-2.0
// Findings, as exports have them.
#pragma once

#include <QString>

#include "analyze/results/finding_columns.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::gui {

using analyze::finding_columns;
using analyze::finding_key;
using analyze::first_sentence;

/// The finding of a key that a row of a table or tree has; null: there is none any more. Lives as long as the
/// snapshot.
[[nodiscard]] const analyze::Finding* find_finding(const analyze::Snapshot& snapshot, const QString& key);

}  // namespace roce::gui
