// SPDX-License-Identifier: Apache-2.0
#include "gui/models/recent_files.hpp"

#include <QFileInfo>
#include <algorithm>

#include "gui/models/shown_text.hpp"

namespace roce::gui {
namespace {

constexpr QLatin1String key("recent");
constexpr qsizetype most = 10;
/// Separator in a list of several files: no file name contains it.
constexpr QLatin1Char between_files('\0');

}  // namespace

QString RecentFiles::Entry::name() const {
  QString name = shown_name(files.front());
  if (files.size() > 1) name = tr("%1 and %2 more").arg(name).arg(files.size() - 1);
  return missing ? tr("%1 (missing)").arg(name) : name;
}

RecentFiles::RecentFiles(QObject* parent) : QObject(parent) {
  connect(&check_, &PathCheck::checked, this, &RecentFiles::mark);
}

void RecentFiles::load(const QSettings& kept) {
  QList<Entry> entries;
  QStringList paths;
  for (const QString& text : kept.value(key).toStringList()) {
    Entry entry{text.split(between_files)};
    paths << entry.files;
    // Keep the last result until the new check is done.
    for (const Entry& before : entries_) {
      if (before.files == entry.files) entry.missing = before.missing;
    }
    entries << entry;
  }
  if (entries != entries_) {
    entries_ = entries;
    Q_EMIT changed();
  }
  check_.check(paths);
}

void RecentFiles::add(QSettings& kept, const QStringList& files) {
  QStringList names;
  for (const QString& file : files) names << QFileInfo(file).absoluteFilePath();
  const QString entry = names.join(between_files);
  QStringList all = kept.value(key).toStringList();
  all.removeAll(entry);
  all.prepend(entry);
  kept.setValue(key, all.mid(0, most));
  load(kept);
}

void RecentFiles::clear(QSettings& kept) {
  kept.remove(key);
  load(kept);
}

void RecentFiles::mark(const QStringList& missing) {
  QList<Entry> entries = entries_;
  for (Entry& entry : entries) {
    entry.missing = std::any_of(entry.files.begin(), entry.files.end(),
                                [&missing](const QString& file) { return missing.contains(file); });
  }
  if (entries == entries_) return;
  entries_ = entries;
  Q_EMIT changed();
}

}  // namespace roce::gui
