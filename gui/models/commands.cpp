// SPDX-License-Identifier: Apache-2.0
#include "gui/models/commands.hpp"

#include "analyze/report/advice.hpp"

namespace roce::gui {

QString shell_word(const QString& word) {
  return QString::fromStdString(analyze::shell_word(word.toStdString()));
}

namespace {

template <class Advice>
std::vector<AdvicePart> parts_of(const Advice& advice, const QStringList& files) {
  std::vector<std::string> names;
  for (const QString& file : files) names.push_back(file.toStdString());
  std::vector<AdvicePart> parts;
  for (const analyze::AdvicePart& part : analyze::advice_parts(advice, names))
    parts.push_back({part.command, QString::fromStdString(part.text)});
  return parts;
}

}  // namespace

std::vector<AdvicePart> advice_parts(const std::string& advice, const QStringList& files) {
  return parts_of(advice, files);
}

std::vector<AdvicePart> advice_parts(const analyze::Diagnosis& diagnosis, const QStringList& files) {
  return parts_of(diagnosis, files);
}

}  // namespace roce::gui
