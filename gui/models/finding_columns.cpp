// SPDX-License-Identifier: Apache-2.0
#include "gui/models/finding_columns.hpp"

#include <string_view>

namespace roce::gui {

const analyze::Finding* find_finding(const analyze::Snapshot& snapshot, const QString& key) {
  const std::string wanted = key.toStdString();
  int alike = 0;
  for (const analyze::Finding& finding : snapshot.findings) {
    const std::string own = finding_key(finding);
    if (own == wanted) return &finding;
    // Keys that would repeat have a number appended (KeyedTable).
    if (wanted.starts_with(own) &&
        std::string_view(wanted).substr(own.size()) == '\x1f' + std::to_string(alike++))
      return &finding;
  }
  return nullptr;
}

}  // namespace roce::gui
