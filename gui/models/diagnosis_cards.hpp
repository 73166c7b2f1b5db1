// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <QStringList>
#include <cstddef>
#include <set>

#include "analyze/results/snapshot.hpp"

namespace roce::gui {

/// A card for each diagnosis, worst first, as rich text: severity, sentence, who, when within the capture,
/// what it cost; links to its packets, its graph, its explanation, and one that copies its commands; below
/// them the findings that are its consequences, folded unless its index is in `unfolded`. Links are those of
/// details.hpp; besides "explain:3" explains the diagnosis of index 3, and "fold:3" folds or unfolds its
/// findings. Says why there is none where there is none.
[[nodiscard]] QString diagnosis_cards_html(const analyze::Snapshot& snapshot, const QStringList& files,
                                           const std::set<std::size_t>& unfolded);

}  // namespace roce::gui
