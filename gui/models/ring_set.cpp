// SPDX-License-Identifier: Apache-2.0
#include "gui/models/ring_set.hpp"

#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <algorithm>

namespace roce::gui {
namespace {

/// Groups: prefix, number, time, extension.
const QRegularExpression& ring_name() {
  static const QRegularExpression pattern(QStringLiteral("^(.+)_(\\d{5,})_(\\d{14})(\\.[^/]+)?$"));
  return pattern;
}

}  // namespace

QStringList ring_of(const QString& file) {
  const QFileInfo info(file);
  const QRegularExpressionMatch match = ring_name().match(info.fileName());
  if (!match.hasMatch()) return {};
  struct Member {
    qulonglong number;
    QString time, path;
  };
  std::vector<Member> members;
  const QDir folder = info.absoluteDir();
  for (const QString& name : folder.entryList(QDir::Files)) {
    const QRegularExpressionMatch other = ring_name().match(name);
    if (other.hasMatch() && other.captured(1) == match.captured(1) && other.captured(4) == match.captured(4))
      members.push_back({other.captured(2).toULongLong(), other.captured(3), folder.filePath(name)});
  }
  // A second run into the same folder counts from 1 again: sort by time first.
  std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
    return a.time != b.time ? a.time < b.time : a.number < b.number;
  });
  QStringList paths;
  for (const Member& member : members) paths << member.path;
  return paths.size() > 1 ? paths : QStringList();
}

}  // namespace roce::gui
