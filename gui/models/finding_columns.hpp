// SPDX-License-Identifier: Apache-2.0
// The columns of findings, the same as in exports.
#pragma once

#include <QString>

#include "analyze/results/finding_columns.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::gui {

using analyze::finding_columns;
using analyze::finding_key;
using analyze::first_sentence;

/// The finding with the key_role of a row of a table or tree; null: the snapshot has none. Lives as long as
/// the snapshot.
[[nodiscard]] const analyze::Finding* find_finding(const analyze::Snapshot& snapshot, const QString& key);

}  // namespace roce::gui
