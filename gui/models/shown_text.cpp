// SPDX-License-Identifier: Apache-2.0
#include "gui/models/shown_text.hpp"

#include "analyze/base/value_format.hpp"

namespace roce::gui {

QString shown_name(const QString& name) {
  std::string text;
  analyze::append_printable(text, name.toStdString());
  return QString::fromStdString(text);
}

std::string error_text(const capture::Error& error) {
  std::string text;
  analyze::append_printable(text, error.headline());
  if (error.below.empty()) return text;
  text += '\n';
  analyze::append_lines(text, error.below);
  return text;
}

}  // namespace roce::gui
