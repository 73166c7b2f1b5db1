// SPDX-License-Identifier: Apache-2.0
#include "gui/models/preferences.hpp"

#include <QUrl>
#include <algorithm>

namespace roce::gui {
namespace {

constexpr const char* time_names[] = {"relative", "utc", "local"};  // by TimeDisplay
constexpr unsigned most_jobs = 256;

/// The settings that belong to a profile; names of groups end with a slash.
constexpr const char* parts[] = {"theme", "preferences/", "window/", "tables/", "filters/"};

bool is_part(const QString& key) {
  return std::any_of(std::begin(parts), std::end(parts), [&](const char* part) {
    const QString name = QString::fromLatin1(part);
    return name.endsWith(QLatin1Char('/')) ? key.startsWith(name) : key == name;
  });
}

/// The group of a profile. Encoded, as slashes in the name would make subgroups.
QString group_of(const QString& name) {
  return QStringLiteral("profiles/") + QString::fromLatin1(QUrl::toPercentEncoding(name)) + QLatin1Char('/');
}

}  // namespace

Preferences Preferences::load(const QSettings& settings) {
  Preferences p;
  const auto text = [&](const char* key) { return settings.value(QString::fromLatin1(key)).toString(); };
  if (const QString theme = text("theme"); theme == QLatin1String("light") || theme == QLatin1String("dark"))
    p.theme = theme;
  const auto* named = std::find(std::begin(time_names), std::end(time_names), text("preferences/time"));
  if (named != std::end(time_names)) p.time = static_cast<TimeDisplay>(named - std::begin(time_names));
  p.check_icrc = settings.value(QStringLiteral("preferences/check_icrc"), p.check_icrc).toBool();
  p.jobs = std::min(settings.value(QStringLiteral("preferences/jobs")).toUInt(), most_jobs);
  p.link_speed_bps = settings.value(QStringLiteral("preferences/link_speed_bps")).toULongLong();
  if (const std::string dscps = text("preferences/trimmed_dscp").toStdString(); analyze::parse_dscps(dscps))
    p.dissecting.trimmed_dscp = dscps;
  if (const std::string numbers = text("preferences/decode_as").toStdString();
      analyze::parse_named_numbers(numbers))
    p.dissecting.decode_as = numbers;
  bool is_port = false;
  const unsigned port = settings.value(QStringLiteral("preferences/mrc_port")).toUInt(&is_port);
  if (is_port && port <= UINT16_MAX) p.dissecting.mrc_port = static_cast<std::uint16_t>(port);
  p.host_names = text("preferences/host_names");
  p.policy = text("preferences/policy");
  return p;
}

void Preferences::save(QSettings& settings) const {
  settings.setValue(QStringLiteral("theme"), theme);
  settings.setValue(QStringLiteral("preferences/time"),
                    QString::fromLatin1(time_names[static_cast<std::size_t>(time)]));
  settings.setValue(QStringLiteral("preferences/check_icrc"), check_icrc);
  settings.setValue(QStringLiteral("preferences/jobs"), jobs);
  settings.setValue(QStringLiteral("preferences/link_speed_bps"), static_cast<qulonglong>(link_speed_bps));
  settings.setValue(QStringLiteral("preferences/trimmed_dscp"),
                    QString::fromStdString(dissecting.trimmed_dscp));
  settings.setValue(QStringLiteral("preferences/decode_as"), QString::fromStdString(dissecting.decode_as));
  settings.setValue(QStringLiteral("preferences/mrc_port"),
                    dissecting.mrc_port ? QVariant(uint{*dissecting.mrc_port}) : QVariant(QString()));
  settings.setValue(QStringLiteral("preferences/host_names"), host_names);
  settings.setValue(QStringLiteral("preferences/policy"), policy);
}

QStringList profiles(QSettings& settings) {
  QStringList names;
  settings.beginGroup(QStringLiteral("profiles"));
  for (const QString& group : settings.childGroups()) names << QUrl::fromPercentEncoding(group.toLatin1());
  settings.endGroup();
  names.sort(Qt::CaseInsensitive);
  return names;
}

bool save_profile(QSettings& settings, const QString& name) {
  if (name.trimmed().isEmpty()) return false;
  remove_profile(settings, name);
  const QString group = group_of(name);
  for (const QString& key : settings.allKeys()) {
    if (is_part(key)) settings.setValue(group + key, settings.value(key));
  }
  settings.setValue(group + QStringLiteral("kept"), true);  // so that a profile of defaults exists too
  return true;
}

bool choose_profile(QSettings& settings, const QString& name) {
  const QString group = group_of(name);
  if (!profiles(settings).contains(name)) return false;
  const QStringList keys = settings.allKeys();
  for (const QString& key : keys) {
    if (is_part(key)) settings.remove(key);
  }
  for (const QString& key : keys) {
    if (key.startsWith(group) && is_part(key.mid(group.size())))
      settings.setValue(key.mid(group.size()), settings.value(key));
  }
  return true;
}

void remove_profile(QSettings& settings, const QString& name) {
  const QString group = group_of(name);
  settings.remove(group.chopped(1));
}

}  // namespace roce::gui
