// SPDX-License-Identifier: Apache-2.0
#include "gui/models/packet_columns.hpp"

#include <QCoreApplication>
#include <algorithm>

#include "analyze/base/units.hpp"
#include "analyze/filter/filter.hpp"
#include "capture/core/frame.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {
namespace {

using ColumnKind = PacketColumn::Kind;

struct Row {
  ColumnKind kind;
  const char* name;
  const char* title;
  const char* field;  ///< its field in filters; may be null
  bool right;
};
constexpr Row rows[] = {
    {ColumnKind::time, "time", QT_TRANSLATE_NOOP("PacketColumn", "Time"), "frame.time_relative", true},
    {ColumnKind::delta, "delta", QT_TRANSLATE_NOOP("PacketColumn", "Delta"), "frame.time_delta", true},
    {ColumnKind::source, "source", QT_TRANSLATE_NOOP("PacketColumn", "Source"), "ip.src", false},
    {ColumnKind::destination, "destination", QT_TRANSLATE_NOOP("PacketColumn", "Destination"), "ip.dst",
     false},
    {ColumnKind::operation, "operation", QT_TRANSLATE_NOOP("PacketColumn", "Opcode"), "infiniband.bth.opcode",
     false},
    {ColumnKind::info, "info", QT_TRANSLATE_NOOP("PacketColumn", "Info"), nullptr, false},
};
/// Short titles of common fields.
struct Title {
  const char* name;
  const char* title;
};
constexpr Title titles[] = {
    {"frame.number", QT_TRANSLATE_NOOP("PacketColumn", "No.")},
    {"infiniband.bth.destqp", QT_TRANSLATE_NOOP("PacketColumn", "Dest QP")},
    {"infiniband.bth.psn", QT_TRANSLATE_NOOP("PacketColumn", "PSN")},
    {"frame.comment", QT_TRANSLATE_NOOP("PacketColumn", "Comment")},
    {"frame.len", QT_TRANSLATE_NOOP("PacketColumn", "Length")},
    {"roce.connection", QT_TRANSLATE_NOOP("PacketColumn", "Conn.")},
};

QString translated(const char* text) {
  return QCoreApplication::translate("PacketColumn", text);
}

bool compiles(const std::string& filter) {
  return analyze::Filter::compile(filter).has_value();
}

/// Stamps of damaged files are any numbers.
std::string delta_text(std::int64_t before_ns, std::int64_t now_ns) {
  const auto between = static_cast<std::uint64_t>(now_ns) - static_cast<std::uint64_t>(before_ns);
  return analyze::duration_text(static_cast<std::int64_t>(between));
}

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

PacketNeeds PacketColumn::needs() const {
  PacketNeeds needs;
  if (kind == ColumnKind::info) return {true, false, true, true};
  if (kind == ColumnKind::field && field) needs.add(analyze::field_facts(*field));
  return needs;
}

std::optional<PacketColumn> packet_column(const QString& name) {
  for (const Row& row : rows) {
    if (name != QLatin1String(row.name)) continue;
    return PacketColumn{row.kind, row.field == nullptr ? std::nullopt : analyze::find_field(row.field), name,
                        translated(row.title), row.right};
  }
  const auto field = analyze::find_field(name.toStdString());
  if (!field) return std::nullopt;
  const analyze::FieldFacts& facts = analyze::field_facts(*field);
  PacketColumn column{ColumnKind::field, field, name, to_qt(facts.label),
                      facts.type == analyze::ValueType::number};
  for (const Title& row : titles) {
    if (name == QLatin1String(row.name)) column.title = translated(row.title);
  }
  return column;
}

const QStringList& default_packet_columns() {
  static const QStringList names{QStringLiteral("frame.number"),
                                 QStringLiteral("time"),
                                 QStringLiteral("delta"),
                                 QStringLiteral("source"),
                                 QStringLiteral("destination"),
                                 QStringLiteral("operation"),
                                 QStringLiteral("infiniband.bth.destqp"),
                                 QStringLiteral("infiniband.bth.psn"),
                                 QStringLiteral("frame.len"),
                                 QStringLiteral("info")};
  return names;
}

std::vector<PacketColumn> packet_columns(const QStringList& names) {
  std::vector<PacketColumn> columns;
  for (const QString& name : names) {
    if (auto column = packet_column(name)) columns.push_back(std::move(*column));
  }
  return columns;
}

std::string PacketCells::text(const analyze::PacketView& packet, const PacketColumn& column) {
  std::string out;
  switch (column.kind) {
    case ColumnKind::time:
      line_.append_time(out, packet);
      break;
    case ColumnKind::delta:
      if (packet.has_time() && packet.previous_time_ns != capture::no_time)
        out = delta_text(packet.previous_time_ns, packet.frame->time_ns);
      break;
    case ColumnKind::source:
      analyze::PacketLine::append_source(out, packet);
      break;
    case ColumnKind::destination:
      analyze::PacketLine::append_destination(out, packet);
      break;
    case ColumnKind::operation:
      line_.append_operation(out, packet);
      break;
    case ColumnKind::info:
      line_.append_info(out, packet);
      break;
    case ColumnKind::field: {
      values_.clear();
      analyze::extract(packet, *column.field, values_);
      for (std::size_t i = 0; i < values_.size(); ++i) {
        if (i != 0) out += ',';
        analyze::append_value(out, analyze::field_facts(*column.field), values_[i]);
      }
      break;
    }
  }
  return out;
}

QString filter_for(const analyze::PacketView& packet, analyze::FieldRef field) {
  const analyze::FieldFacts& facts = analyze::field_facts(field);
  analyze::Values values;
  analyze::extract(packet, field, values);
  const std::string name(facts.name);
  if (values.empty()) return QString::fromStdString("not " + name);
  if (facts.type == analyze::ValueType::presence) return QString::fromStdString(name);
  std::string all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::string value;
    analyze::append_value(value, facts, values[i]);
    std::string one = name + " == " + value;
    // A printed value that is no literal of the filter language may be one as a string.
    if (facts.type == analyze::ValueType::text || !compiles(one)) one = name + " == " + in_quotes(value);
    if (!compiles(one)) one = name;
    if (all.find(one) != std::string::npos) continue;
    all += (all.empty() ? "" : " && ") + one;
  }
  return compiles(all) ? QString::fromStdString(all) : QString();
}

QString filter_and(const QString& first, const QString& second) {
  if (first.trimmed().isEmpty()) return second;
  if (second.trimmed().isEmpty()) return first;
  return QStringLiteral("(%1) && (%2)").arg(first, second);
}

}  // namespace roce::gui
