// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QList>
#include <QObject>
#include <QSettings>
#include <QStringList>

#include "gui/models/path_check.hpp"

namespace roce::gui {

/// Captures that were opened lately, the last one first, as the settings keep them; which of them are gone
/// is told without waiting. Used by one thread.
class RecentFiles : public QObject {
  Q_OBJECT

 public:
  struct Entry {
    QStringList files;     ///< opened together; never empty
    bool missing = false;  ///< at least one is gone, when it was last looked
    /// For people: control characters made visible, how many more there are, whether they are missing.
    [[nodiscard]] QString name() const;
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  explicit RecentFiles(QObject* parent = nullptr);

  [[nodiscard]] const QList<Entry>& entries() const noexcept { return entries_; }
  /// Takes what `kept` holds, by now: other windows write there as well. Looks which are gone.
  void load(const QSettings& kept);
  /// These are the last that were opened.
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
