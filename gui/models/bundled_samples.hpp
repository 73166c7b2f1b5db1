// SPDX-License-Identifier: Apache-2.0
// Captures that come with the program, for a first look at what it shows.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

namespace roce::gui {

struct BundledSample {
  QString file;   ///< its path
  QString title;  ///< what it shows
};

/// Folders in which the samples may lie: as installed, and as in a clone.
[[nodiscard]] QStringList sample_folders();
/// Those that are there, in the first of the folders that has any.
[[nodiscard]] std::vector<BundledSample> bundled_samples(const QStringList& folders = sample_folders());

}  // namespace roce::gui
