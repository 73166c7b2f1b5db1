// SPDX-License-Identifier: Apache-2.0
#include "gui/models/packet_list_model.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "gui/models/table_model.hpp"

namespace roce::gui {
namespace {

constexpr std::chrono::milliseconds look_every{40};

}  // namespace

PacketListModel::PacketListModel(QObject* parent) : QAbstractTableModel(parent) {
  timer_.setInterval(look_every);
  connect(&timer_, &QTimer::timeout, this, &PacketListModel::poll);
  set_columns({});
}

PacketListModel::~PacketListModel() {
  if (search_) search_->abandon();
}

void PacketListModel::let_go() {
  timer_.stop();
  if (search_) search_->abandon();
  search_ = nullptr;
  kept_.clear();
  rows_ = 0;
  stopped_ = false;
}

void PacketListModel::show(std::shared_ptr<const PacketStore> store) {
  if (store == store_) return;
  beginResetModel();
  let_go();
  store_ = std::move(store);
  reader_ = store_ ? std::make_unique<PacketReader>(store_) : nullptr;
  endResetModel();
  restart();
}

void PacketListModel::restart() {
  analysed_ = false;
  state_ = {};
  if (store_) timer_.start();
  poll();
  Q_EMIT state_changed();
}

void PacketListModel::set_columns(const QStringList& names) {
  std::vector<PacketColumn> columns = packet_columns(names);
  if (columns.empty()) columns = packet_columns(default_packet_columns());
  beginResetModel();
  columns_ = std::move(columns);
  needs_ = {};
  for (const PacketColumn& column : columns_) {
    const PacketNeeds more = column.needs();
    needs_ = {needs_.icrc || more.icrc, needs_.flow || more.flow, needs_.upper || more.upper,
              needs_.verdict || more.verdict};
  }
  kept_.clear();
  endResetModel();
}

QStringList PacketListModel::column_names() const {
  QStringList names;
  for (const PacketColumn& column : columns_) names << column.name;
  return names;
}

void PacketListModel::set_time_format(analyze::TimeFormat format) {
  time_format_ = format;
  cells_ = PacketCells(format);
  kept_.clear();
  if (rows_ > 0) Q_EMIT dataChanged(index(0, 0), index(rows_ - 1, columnCount() - 1));
}

std::optional<analyze::FilterError> PacketListModel::set_filter(const QString& expression,
                                                                std::optional<TimeSpan> time) {
  std::shared_ptr<const analyze::Filter> filter;
  if (!expression.trimmed().isEmpty()) {
    auto compiled = analyze::Filter::compile(expression.toStdString());
    if (!compiled) return compiled.error();
    filter = std::make_shared<const analyze::Filter>(std::move(*compiled));
  }
  if (expression == expression_ && time == question_.time && !stopped_) return std::nullopt;
  beginResetModel();
  let_go();
  expression_ = expression;
  question_ = {std::move(filter), time};
  endResetModel();
  restart();
  return std::nullopt;
}

void PacketListModel::stop_filter() {
  if (!search_ && !state_.waits_for_analysis) return;
  stopped_ = true;
  if (search_) search_->extend(true);
  poll();
}

void PacketListModel::poll() {
  State state;
  if (store_) {
    // Read before the size: once it is true, the size is final.
    const bool analysed = store_->analysed();
    state.packets = store_->size();
    state.filtered = question_.filter != nullptr || question_.time.has_value();
    if (analysed && !analysed_) {
      analysed_ = true;
      kept_.clear();
      reader_ = std::make_unique<PacketReader>(store_);
      if (rows_ > 0) Q_EMIT dataChanged(index(0, 0), index(rows_ - 1, columnCount() - 1));
    }
    std::uint64_t rows = state.packets;
    if (state.filtered) {
      state.waits_for_analysis = question_.needs_analysis() && !analysed;
      if (!search_ && !state.waits_for_analysis && !stopped_)
        search_ = PacketSearch::start(store_, question_);
      if (search_ && !stopped_) search_->extend(analysed);
      const PacketSearch::State found = search_ ? search_->state() : PacketSearch::State{};
      state.looked_at = found.looked_at;
      state.unreadable = found.unreadable;
      state.complete = found.complete || stopped_;
      rows = found.found;
    } else {
      state.complete = analysed;
    }
    // A stopped filter adds no rows.
    if (!stopped_) grow(rows);
    if (stopped_ && search_) search_->abandon();
    state.shown = static_cast<std::uint64_t>(rows_);
  }
  if (state.complete) timer_.stop();
  if (state == state_) return;
  state_ = state;
  Q_EMIT state_changed();
}

void PacketListModel::refresh(std::uint64_t number) {
  kept_.remove(number);
  if (const int row = row_of(number); row >= 0)
    Q_EMIT dataChanged(index(row, 0), index(row, columnCount() - 1));
}

void PacketListModel::grow(std::uint64_t rows) {
  const auto wanted = static_cast<int>(std::min<std::uint64_t>(rows, std::numeric_limits<int>::max() - 1));
  if (wanted <= rows_) return;
  beginInsertRows({}, rows_, wanted - 1);
  rows_ = wanted;
  endInsertRows();
}

std::uint64_t PacketListModel::number_of(int row) const {
  if (row < 0 || row >= rows_) return 0;
  const auto place = static_cast<std::uint64_t>(row);
  return search_ ? search_->number_of(place) : place + 1;
}

int PacketListModel::row_at_or_after(std::uint64_t number) const {
  if (number == 0) return 0;
  const std::uint64_t before = search_ ? search_->found_before(number) : number - 1;
  return static_cast<int>(std::min<std::uint64_t>(before, static_cast<std::uint64_t>(rows_)));
}

int PacketListModel::row_of(std::uint64_t number) const {
  const int row = row_at_or_after(number);
  return row < rows_ && number_of(row) == number ? row : -1;
}

bool PacketListModel::hides(std::uint64_t number) const {
  return store_ && state_.filtered && number <= store_->size() && row_of(number) < 0 &&
         (state_.complete || state_.waits_for_analysis || state_.looked_at >= number);
}

PacketMarks PacketListModel::marks_of(int row) const {
  const std::uint64_t number = number_of(row);
  return number == 0 || !store_ ? PacketMarks() : store_->marks(number);
}

int PacketListModel::next_row_meaning(int row, int step, std::uint32_t meanings) const {
  if (!store_ || rows_ == 0) return -1;
  const auto wanted = [&](std::uint64_t number) {
    return (1U << static_cast<unsigned>(meaning_of(store_->marks(number))) & meanings) != 0;
  };
  constexpr std::uint64_t block = PacketStore::block_packets;
  const std::uint64_t last = std::min(store_->size(), number_of(rows_ - 1));
  // Few rows are checked one by one; many would block the window.
  constexpr int few = 10'000;
  if (search_ && rows_ < few) {
    for (int next = row < 0 ? (step > 0 ? 0 : rows_ - 1) : row + (step > 0 ? 1 : -1);
         next >= 0 && next<rows_; next += step> 0 ? 1 : -1) {
      if (wanted(number_of(next))) return next;
    }
    return -1;
  }
  // Whole blocks without these meanings are skipped.
  if (step > 0) {
    for (std::uint64_t n = row < 0 ? 1 : number_of(row) + 1; n <= last;) {
      if ((n - 1) % block == 0 && (store_->meanings_of_block((n - 1) / block) & meanings) == 0) {
        n += block;
        continue;
      }
      if (wanted(n)) {
        if (const int found = row_of(n); found >= 0) return found;
      }
      ++n;
    }
    return -1;
  }
  for (std::uint64_t n = row < 0 ? last : number_of(row) - 1; n > 0;) {
    if (n % block == 0 && (store_->meanings_of_block((n - 1) / block) & meanings) == 0) {
      n -= block;
      continue;
    }
    if (wanted(n)) {
      if (const int found = row_of(n); found >= 0) return found;
    }
    --n;
  }
  return -1;
}

std::uint32_t PacketListModel::meanings_of(int first, int last) const {
  constexpr int exact_at_most = 64;
  std::uint32_t meanings = 0;
  if (!store_ || first < 0 || last >= rows_ || first > last) return 0;
  if (last - first < exact_at_most) {
    for (int row = first; row <= last; ++row)
      meanings |= 1U << static_cast<unsigned>(meaning_of(marks_of(row)));
    return meanings;
  }
  const std::uint64_t begin = (number_of(first) - 1) / PacketStore::block_packets;
  const std::uint64_t end = (number_of(last) - 1) / PacketStore::block_packets;
  for (std::uint64_t block = begin; block <= end; ++block) meanings |= store_->meanings_of_block(block);
  return meanings;
}

RelatedPackets PacketListModel::related(std::uint64_t number) const {
  if (!store_ || number == 0 || number > store_->size()) return {};
  const auto verdict = store_->verdict(number);
  if (!verdict) return {};
  return {verdict->request, verdict->response, verdict->original};
}

PacketComments::Texts PacketListModel::comments(std::uint64_t number) const {
  PacketComments::Texts texts;
  if (!store_ || number == 0 || number > store_->size()) return texts;
  if (!store_->marks(number).has(PacketMarks::commented)) return texts;
  if (const analyze::PacketView* view = reader_->read(number, {})) {
    texts.assign(view->comments.begin(), view->comments.end());
  }
  return texts;
}

const analyze::PacketView* PacketListModel::packet(std::uint64_t number) const {
  if (!reader_) return nullptr;
  const analyze::PacketView* view = reader_->read(number, PacketNeeds::everything());
  if (view == nullptr) error_ = reader_->error();
  return view;
}

QString PacketListModel::error() const {
  return QString::fromStdString(error_);
}

int PacketListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : rows_;
}

int PacketListModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

const PacketListModel::Row& PacketListModel::row_with_cells(std::uint64_t number) const {
  if (const Row* kept = kept_.object(number)) return *kept;
  auto* row = new Row;
  if (const analyze::PacketView* view = reader_->read(number, needs_)) {
    for (const PacketColumn& column : columns_) row->cells.push_back(to_qt(cells_.text(*view, column)));
  } else {
    row->failed = true;
    error_ = reader_->error();
    for (const PacketColumn& column : columns_) {
      const bool numbered = column.name == QLatin1String("frame.number");
      const bool told = column.kind == PacketColumn::Kind::info;
      row->cells.push_back(numbered ? QString::number(number) : told ? error() : QStringLiteral("-"));
    }
  }
  kept_.insert(number, row);
  return *row;
}

QVariant PacketListModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const std::uint64_t number = number_of(index.row());
  if (number == 0) return {};
  const auto place = static_cast<std::size_t>(index.column());
  switch (role) {
    case Qt::DisplayRole:
      return row_with_cells(number).cells[place];
    case Qt::AccessibleTextRole:
      return QStringLiteral("%1: %2").arg(columns_[place].title, row_with_cells(number).cells[place]);
    case Qt::TextAlignmentRole:
      return QVariant::fromValue((columns_[place].right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case number_role:
      return QVariant::fromValue<qulonglong>(number);
    case meaning_role:
      return static_cast<int>(meaning_of(store_->marks(number)));
    case failed_role:
      return row_with_cells(number).failed;
    default:
      return {};
  }
}

QVariant PacketListModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const PacketColumn& column = columns_[static_cast<std::size_t>(section)];
  switch (role) {
    case Qt::DisplayRole:
      return column.title;
    case Qt::ToolTipRole:
      return column.field ? to_qt(analyze::field_facts(*column.field).name) : column.title;
    case Qt::TextAlignmentRole:
      return QVariant::fromValue((column.right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case name_role:
      return column.name;
    default:
      return {};
  }
}

}  // namespace roce::gui
