// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QList>
#include <QObject>
#include <QSettings>
#include <QStringList>

#include "gui/models/path_check.hpp"

namespace roce::gui {

/// Recently opened captures, the last one first, kept in the settings; missing files are found in the
/// background. GUI thread only.
class RecentFiles : public QObject {
  Q_OBJECT

 public:
  struct Entry {
    QStringList files;     ///< opened together; never empty
    bool missing = false;  ///< at least one did not exist at the last check
    /// For display: first file with control characters escaped, "and N more", "(missing)".
    [[nodiscard]] QString name() const;
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  explicit RecentFiles(QObject* parent = nullptr);

  [[nodiscard]] const QList<Entry>& entries() const noexcept { return entries_; }
  /// Reads the list from the settings again, as other windows write there too, and checks for missing files.
  void load(const QSettings& kept);
  /// Puts these files, opened together, on top.
  void add(QSettings& kept, const QStringList& files);
  void clear(QSettings& kept);

 Q_SIGNALS:
  void changed();

 private:
  void mark(const QStringList& missing);

  QList<Entry> entries_;
  PathCheck check_;
};

}  // namespace roce::gui
