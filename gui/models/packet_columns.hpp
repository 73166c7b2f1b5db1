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

/// A column of the packet list: one of a few combined ones (time, source, ...), or any field.
struct PacketColumn {
  enum class Kind : std::uint8_t { time, delta, source, destination, operation, info, field };
  Kind kind = Kind::info;
  std::optional<analyze::FieldRef> field;  ///< used by "Apply as filter" too; nullopt: none
  QString name;                            ///< stable: "time", "infiniband.bth.psn"
  QString title;
  bool right = false;  ///< right-aligned (numbers)

  [[nodiscard]] PacketNeeds needs() const;
};

/// For "time", "delta", "source", "destination", "operation", "info" or a field name; nullopt for others.
[[nodiscard]] std::optional<PacketColumn> packet_column(const QString& name);
/// The columns of the list by default.
[[nodiscard]] const QStringList& default_packet_columns();
/// The columns of these names; unknown names are skipped.
[[nodiscard]] std::vector<PacketColumn> packet_columns(const QStringList& names);

/// Makes the texts of cells. One per thread.
class PacketCells {
 public:
  explicit PacketCells(analyze::TimeFormat format = analyze::TimeFormat::relative) : line_(format) {}
  /// As the command `packets` prints it: several values of a field are separated by commas. The time since
  /// the frame before is short, "30.5 µs".
  [[nodiscard]] std::string text(const analyze::PacketView& packet, const PacketColumn& column);

 private:
  analyze::PacketLine line_;
  analyze::Values values_;
};

/// A display filter for packets with the same value of a field as this one (all values if there are several),
/// or for packets without the field if this one has none. Empty where no filter can express it.
[[nodiscard]] QString filter_for(const analyze::PacketView& packet, analyze::FieldRef field);
/// The conjunction of two filters; if one is empty, the other.
[[nodiscard]] QString filter_and(const QString& first, const QString& second);

}  // namespace roce::gui
