// SPDX-License-Identifier: Apache-2.0
#include "gui/models/table_model.hpp"

#include "analyze/mrc/mrc.hpp"

namespace roce::gui {

void TableModelBase::set_text(const QString& text) {
  QStringList words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  if (words == choice_.words) return;
  choice_.words = std::move(words);
  choice_changed();
}

void TableModelBase::set_severity(std::optional<analyze::Severity> least) {
  if (least == choice_.least) return;
  choice_.least = least;
  choice_changed();
}

void TableModelBase::set_time(const std::optional<TimeSpan>& time) {
  if (time == choice_.time) return;
  choice_.time = time;
  choice_changed();
}

void TableModelBase::sort(int column, Qt::SortOrder order) {
  if (column == choice_.sort_column && order == choice_.order) return;
  choice_.sort_column = column;
  choice_.order = order;
  choice_changed();
}

std::size_t TableModelBase::size_of(const analyze::Snapshot& snapshot) {
  const analyze::Exports& exports = snapshot.exports;
  std::size_t size = snapshot.connections.size() + snapshot.flows.size() + snapshot.findings.size() +
                     snapshot.markings.rows.size() + snapshot.numbered.streams.size() + exports.flows.size() +
                     exports.drops.size();
  if (snapshot.mrc == nullptr) return size;
  for (const analyze::MrcStream& stream : snapshot.mrc->streams) size += stream.paths.size();
  return size + snapshot.mrc->losses.size();
}

}  // namespace roce::gui
