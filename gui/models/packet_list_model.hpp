// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QAbstractTableModel>
#include <QCache>
#include <QStringList>
#include <QTimer>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "gui/models/packet_columns.hpp"
#include "gui/models/packet_search.hpp"
#include "gui/models/packet_store.hpp"

namespace roce::gui {

/// Numbers of the packets that a packet is related to; 0: none.
struct RelatedPackets {
  std::uint64_t request = 0;   ///< the request that it answers
  std::uint64_t response = 0;  ///< the response or acknowledgement to it
  std::uint64_t original = 0;  ///< the packet that it retransmits or duplicates
};

/// The list of packets: a row for each packet that matches the filter, with configurable columns. Rows are
/// added while a capture is read and while the filter runs; cells are made on request, and a few are cached.
/// GUI thread only.
class PacketListModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Role {
    number_role = Qt::UserRole + 1,  ///< qulonglong
    meaning_role,                    ///< int of PacketMeaning
    failed_role,                     ///< bool: the packet cannot be read
    // Of horizontal headers:
    name_role,  ///< QString
  };
  /// Progress of the list.
  struct State {
    std::uint64_t packets = 0;    ///< of the capture, so far
    std::uint64_t looked_at = 0;  ///< examined by the filter
    std::uint64_t shown = 0;
    std::uint64_t unreadable = 0;
    bool filtered = false;
    bool waits_for_analysis = false;  ///< the filter needs results that are known only at the end
    bool complete = false;            ///< no more rows will be added
    [[nodiscard]] bool operator==(const State&) const noexcept = default;
  };

  explicit PacketListModel(QObject* parent = nullptr);
  ~PacketListModel() override;
  PacketListModel(const PacketListModel&) = delete;
  PacketListModel& operator=(const PacketListModel&) = delete;

  /// The packets of another capture; null: none. The filter stays.
  void show(std::shared_ptr<const PacketStore> store);
  [[nodiscard]] const std::shared_ptr<const PacketStore>& store() const noexcept { return store_; }

  /// Unknown names are skipped; an empty list restores the default.
  void set_columns(const QStringList& names);
  [[nodiscard]] QStringList column_names() const;
  [[nodiscard]] const PacketColumn& column(int section) const {
    return columns_[static_cast<std::size_t>(section)];
  }
  void set_time_format(analyze::TimeFormat format);
  [[nodiscard]] analyze::TimeFormat time_format() const noexcept { return time_format_; }

  /// Shows only packets that match. An invalid filter changes nothing, and its error is returned.
  std::optional<analyze::FilterError> set_filter(const QString& expression, std::optional<TimeSpan> time);
  [[nodiscard]] const QString& filter() const noexcept { return expression_; }
  [[nodiscard]] const std::optional<TimeSpan>& time() const noexcept { return question_.time; }
  /// Stops the filter; what it has found so far stays listed.
  void stop_filter();

  [[nodiscard]] const State& state() const noexcept { return state_; }
  /// Of the filter; null: all packets are shown.
  [[nodiscard]] std::shared_ptr<const PacketSearch> search() const noexcept { return search_; }
  [[nodiscard]] const std::vector<PacketColumn>& columns() const noexcept { return columns_; }
  /// Packet number of a row; 0: no such row.
  [[nodiscard]] std::uint64_t number_of(int row) const;
  /// Whether the filter hides that packet: it has examined it, or cannot before the capture has been read.
  [[nodiscard]] bool hides(std::uint64_t number) const;
  /// Row of a packet; -1: not in the list.
  [[nodiscard]] int row_of(std::uint64_t number) const;
  /// The first row of this or a later packet; rowCount() if there is none.
  [[nodiscard]] int row_at_or_after(std::uint64_t number) const;
  /// The next row after `row` (before it, if `step` is negative) of a packet with one of the meanings (bits
  /// of PacketMeaning); -1: none.
  [[nodiscard]] int next_row_meaning(int row, int step, std::uint32_t meanings) const;
  [[nodiscard]] PacketMarks marks_of(int row) const;
  /// Meanings (bits) that occur in rows first..last, for the map; long spans are approximated by whole blocks
  /// and may include neighbours.
  [[nodiscard]] std::uint32_t meanings_of(int first, int last) const;
  [[nodiscard]] RelatedPackets related(std::uint64_t number) const;
  /// Comments of a packet, from the capture or the user; empty where the packet cannot be read.
  [[nodiscard]] PacketComments::Texts comments(std::uint64_t number) const;
  /// The packet with everything known about it; null: see error(). Valid until the next call.
  [[nodiscard]] const analyze::PacketView* packet(std::uint64_t number) const;
  [[nodiscard]] QString error() const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  /// Makes the cells of a packet again, after its comments have changed.
  void refresh(std::uint64_t number);
  /// Takes over new rows; called by a timer until the list is complete.
  void poll();

 Q_SIGNALS:
  void state_changed();

 private:
  struct Row {
    std::vector<QString> cells;
    bool failed = false;
  };
  static constexpr qsizetype rows_kept = 512;

  void restart();
  void let_go();
  void grow(std::uint64_t rows);
  [[nodiscard]] const Row& row_with_cells(std::uint64_t number) const;

  std::shared_ptr<const PacketStore> store_;
  std::vector<PacketColumn> columns_;
  PacketNeeds needs_;
  analyze::TimeFormat time_format_ = analyze::TimeFormat::relative;
  QString expression_;
  PacketQuestion question_;
  std::shared_ptr<PacketSearch> search_;
  QTimer timer_;
  int rows_ = 0;
  State state_;
  bool analysed_ = false;  ///< at the last poll()
  bool stopped_ = false;   ///< stop_filter() was called
  mutable std::unique_ptr<PacketReader> reader_;
  mutable PacketCells cells_;
  mutable QCache<quint64, Row> kept_{rows_kept};
  mutable std::string error_;
};

}  // namespace roce::gui
