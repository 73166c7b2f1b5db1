// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/filter/field_registry.hpp"
#include "analyze/show/packet_line.hpp"
#include "gui/models/packet_reader.hpp"

namespace roce::gui {

/// A column of the packet list: one of a few that are made for reading, or any field.
struct PacketColumn {
  enum class Kind : std::uint8_t { time, source, destination, operation, info, field };
  Kind kind = Kind::info;
  std::optional<analyze::FieldRef> field;  ///< of a field, and what "apply as filter" asks for
  QString name;                            ///< stable: "time", "infiniband.bth.psn"
  QString title;
  bool right = false;  ///< figures stand on the right

  [[nodiscard]] PacketNeeds needs() const;
};

/// "time", "source", "destination", "operation", "info", or a field's name; nothing for others.
[[nodiscard]] std::optional<PacketColumn> packet_column(const QString& name);
/// What the list has until somebody chooses.
[[nodiscard]] const QStringList& default_packet_columns();
/// Those of the names that there are.
[[nodiscard]] std::vector<PacketColumn> packet_columns(const QStringList& names);

/// Makes cells.
class PacketCells {
 public:
  explicit PacketCells(analyze::TimeFormat format = analyze::TimeFormat::relative) : line_(format) {}
  /// As the command `packets` prints it: several values of a field stand behind each other with commas.
  [[nodiscard]] std::string text(const analyze::PacketView& packet, const PacketColumn& column);

 private:
  analyze::PacketLine line_;
  analyze::Values values_;
};

/// A filter that finds packets with the same value of a field as this one, all values if it has several; one
/// that finds those without it, if it has none. Empty where no filter can say so.
[[nodiscard]] QString filter_for(const analyze::PacketView& packet, analyze::FieldRef field);
/// Both of two filters; the other one, if one is empty.
[[nodiscard]] QString filter_and(const QString& first, const QString& second);

}  // namespace roce::gui
