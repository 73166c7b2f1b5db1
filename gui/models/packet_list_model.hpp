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

/// Packets that a packet has to do with; 0: none.
struct RelatedPackets {
  std::uint64_t request = 0;   ///< that it answers
  std::uint64_t response = 0;  ///< that answers it
  std::uint64_t original = 0;  ///< that it repeats or doubles
};

/// The list of packets: a row for each that passes the filter, a column for whatever was chosen. Rows come
/// while a capture is read and while a filter looks for them; cells are made when they are asked for, and a
/// few are kept. Used on the thread of the window only.
class PacketListModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Role {
    number_role = Qt::UserRole + 1,  ///< qulonglong
    meaning_role,                    ///< int of PacketMeaning
    failed_role,                     ///< bool: the packet cannot be read (any more)
    // Of horizontal headers:
    name_role,  ///< QString
  };
  /// How far the list is.
  struct State {
    std::uint64_t packets = 0;    ///< of the capture, so far
    std::uint64_t looked_at = 0;  ///< by the filter
    std::uint64_t shown = 0;
    std::uint64_t unreadable = 0;
    bool filtered = false;
    bool waits_for_analysis = false;  ///< the filter asks for what is known in the end only
    bool complete = false;            ///< nothing more will come
    [[nodiscard]] bool operator==(const State&) const noexcept = default;
  };

  explicit PacketListModel(QObject* parent = nullptr);
  ~PacketListModel() override;
  PacketListModel(const PacketListModel&) = delete;
  PacketListModel& operator=(const PacketListModel&) = delete;

  /// The packets of another capture; null: none. The filter stays.
  void show(std::shared_ptr<const PacketStore> store);
  [[nodiscard]] const std::shared_ptr<const PacketStore>& store() const noexcept { return store_; }

  /// Names that are no column are left out; no name: the default.
  void set_columns(const QStringList& names);
  [[nodiscard]] QStringList column_names() const;
  [[nodiscard]] const PacketColumn& column(int section) const {
    return columns_[static_cast<std::size_t>(section)];
  }
  void set_time_format(analyze::TimeFormat format);
  [[nodiscard]] analyze::TimeFormat time_format() const noexcept { return time_format_; }

  /// Only packets that pass are shown. A filter that is not understood changes nothing and is returned.
  std::optional<analyze::FilterError> set_filter(const QString& expression, std::optional<TimeSpan> time);
  [[nodiscard]] const QString& filter() const noexcept { return expression_; }
  [[nodiscard]] const std::optional<TimeSpan>& time() const noexcept { return question_.time; }
  /// The filter looks no further; what it has found is shown.
  void stop_filter();

  [[nodiscard]] const State& state() const noexcept { return state_; }
  /// Of the filter; null: all packets are shown.
  [[nodiscard]] std::shared_ptr<const PacketSearch> search() const noexcept { return search_; }
  [[nodiscard]] const std::vector<PacketColumn>& columns() const noexcept { return columns_; }
  /// 0 where there is no such row.
  [[nodiscard]] std::uint64_t number_of(int row) const;
  /// -1: it is not in the list.
  /// Whether the filter leaves that packet out: it has come to it, or will not before the capture has been
  /// read.
  [[nodiscard]] bool hides(std::uint64_t number) const;
  [[nodiscard]] int row_of(std::uint64_t number) const;
  /// The first row of this or a later packet; rowCount() if there is none.
  [[nodiscard]] int row_at_or_after(std::uint64_t number) const;
  /// The next row behind `row` (before it, if `step` is negative) of a packet of one of the meanings (bits).
  [[nodiscard]] int next_row_meaning(int row, int step, std::uint32_t meanings) const;
  [[nodiscard]] PacketMarks marks_of(int row) const;
  /// Meanings of rows, at a glance and for maps: all of the first to the last; may be too many for long
  /// spans.
  [[nodiscard]] std::uint32_t meanings_of(int first, int last) const;
  [[nodiscard]] RelatedPackets related(std::uint64_t number) const;
  /// On the packet, by its capture or the user, as they stand there; none where it cannot be read.
  [[nodiscard]] PacketComments::Texts comments(std::uint64_t number) const;
  /// The packet with all that is known of it; null: error() says why. Lives until the next call.
  [[nodiscard]] const analyze::PacketView* packet(std::uint64_t number) const;
  [[nodiscard]] QString error() const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  /// Something else is known of the packet: its cells are made anew.
  void refresh(std::uint64_t number);
  /// Takes over what has come meanwhile; called by a timer as long as something may come.
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
  bool analysed_ = false;  ///< when poll() looked
  bool stopped_ = false;   ///< stop_filter() was called
  mutable std::unique_ptr<PacketReader> reader_;
  mutable PacketCells cells_;
  mutable QCache<quint64, Row> kept_{rows_kept};
  mutable std::string error_;
};

}  // namespace roce::gui
