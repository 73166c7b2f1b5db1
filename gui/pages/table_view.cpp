// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/table_view.hpp"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QStyleOptionHeader>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QToolTip>
#include <algorithm>
#include <optional>

#include "gui/charts/theme.hpp"

namespace roce::gui {
namespace {

/// Paints the severity icon before the first column.
class SeverityDelegate final : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  /// A tool tip with the full text of an elided cell.
  bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                 const QModelIndex& index) override {
    if (event->type() != QEvent::ToolTip || !index.isValid() ||
        sizeHint(option, index).width() <= option.rect.width())
      return QStyledItemDelegate::helpEvent(event, view, option, index);
    const QString text =
        index.data().toString().toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>"));
    QToolTip::showText(event->globalPos(), QStringLiteral("<p>%1</p>").arg(text), view);
    return true;
  }

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    // Elide sentences at the end; addresses and names in the middle.
    if (!option->text.contains(QLatin1Char(' '))) option->textElideMode = Qt::ElideMiddle;
    const auto* view = qobject_cast<const TableView*>(option->widget);
    if (view == nullptr || !view->has_icons() || view->horizontalHeader()->visualIndex(index.column()) != 0)
      return;
    const QVariant severity = index.data(TableModelBase::severity_role);
    option->features |= QStyleOptionViewItem::HasDecoration;
    option->decorationSize = QSize(16, 16);
    if (severity.isValid())
      option->icon = severity_icon(static_cast<analyze::Severity>(severity.toInt()), option->palette);
  }
};

/// The rightmost visible column; -1: none.
int last_column(const QTableView& view) {
  const QHeaderView& header = *view.horizontalHeader();
  for (int visual = header.count() - 1; visual >= 0; --visual) {
    const int column = header.logicalIndex(visual);
    if (!header.isSectionHidden(column)) return column;
  }
  return -1;
}

}  // namespace

QString left_out_text(int rows) {
  return TableView::tr("None of %1 is listed: hidden by the filter or the time range").arg(rows);
}

void paint_empty_text(QAbstractItemView& view, const QString& text) {
  if (text.isEmpty()) return;
  QPainter painter(view.viewport());
  painter.setPen(view.palette().color(QPalette::PlaceholderText));
  painter.drawText(view.viewport()->rect(), Qt::AlignCenter | Qt::TextWordWrap, text);
}

TableView::TableView(const QString& name, TableModelBase& model, QWidget* parent)
    : QTableView(parent), name_(name), model_(model) {
  setObjectName(name);
  setAccessibleName(name);
  // removing_ is set before the view handles the removal, and cleared afterwards.
  connect(&model_, &QAbstractItemModel::rowsAboutToBeRemoved, this, [this] { removing_ = true; });
  setModel(&model_);
  connect(&model_, &QAbstractItemModel::rowsRemoved, this, [this] { removing_ = false; });
  setItemDelegate(new SeverityDelegate(this));
  setSelectionBehavior(SelectRows);
  setSelectionMode(ExtendedSelection);
  setAlternatingRowColors(true);
  setShowGrid(false);
  setWordWrap(false);
  setTabKeyNavigation(false);
  setCornerButtonEnabled(false);
  setHorizontalScrollMode(ScrollPerPixel);
  horizontalHeader()->setResizeContentsPrecision(50);
  verticalHeader()->hide();
  verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  fit_rows();
  horizontalHeader()->setSectionsMovable(true);
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setStretchLastSection(true);
  horizontalHeader()->setContextMenuPolicy(Qt::CustomContextMenu);
  horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
  horizontalHeader()->setSortIndicatorClearable(true);
  setSortingEnabled(true);
  for (int i = 0; i < model_.columnCount(); ++i)
    setColumnHidden(i, model_.headerData(i, Qt::Horizontal, TableModelBase::hidden_role).toBool());
  connect(horizontalHeader(), &QHeaderView::customContextMenuRequested, this, &TableView::choose_columns);
  connect(this, &QTableView::activated, this, &TableView::row_activated);
  connect(&model_, &TableModelBase::rows_changed, this, &TableView::measure_columns);
  connect(&model_, &TableModelBase::rows_changed, this, &TableView::show_headings);
  connect(horizontalHeader(), &QHeaderView::sortIndicatorChanged, this, &TableView::measure_columns);
  // Fit the widths again after columns were shown or hidden, once for several changes.
  auto* changed = new QTimer(this);
  changed->setSingleShot(true);
  connect(changed, &QTimer::timeout, this, &TableView::measure_columns);
  // Cells and headings get a font of another size one after the other.
  rescale_ = new QTimer(this);
  rescale_->setSingleShot(true);
  connect(rescale_, &QTimer::timeout, this, &TableView::fit_text);
  connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this, changed](int, int old, int now) {
    if (old == 0 || now == 0) {
      changed->start(0);
    } else if (dragging_ && !fitting_) {
      sized_ = true;
    }
  });
  connect(horizontalHeader(), &QHeaderView::sectionHandleDoubleClicked, this, [this] { sized_ = true; });
  horizontalHeader()->viewport()->installEventFilter(this);
}

/// Tracks the mouse on the header, to distinguish widths set by the user.
bool TableView::eventFilter(QObject* object, QEvent* event) {
  if (object == horizontalHeader()->viewport()) {
    if (event->type() == QEvent::MouseButtonPress) dragging_ = true;
    if (event->type() == QEvent::MouseButtonRelease) dragging_ = false;
  }
  return QTableView::eventFilter(object, event);
}

void TableView::currentChanged(const QModelIndex& current, const QModelIndex& previous) {
  QTableView::currentChanged(current, previous);
  if (!removing_ && current.isValid() && current.row() != previous.row()) Q_EMIT row_chosen();
}

void TableView::select_key(const QString& key) {
  const int row = model_.row_of(key);
  if (row < 0) {
    selectionModel()->clear();  // no current row either, so that a click selects it again
    return;
  }
  const QModelIndex place = model_.index(row, 0);
  if (place.row() == currentIndex().row() && selectionModel()->isRowSelected(place.row())) return;
  setCurrentIndex(place.siblingAtColumn(std::max(0, horizontalHeader()->logicalIndexAt(0))));
  scrollTo(place);
}

void TableView::show_columns(std::initializer_list<std::string_view> names) {
  int visual = 0;
  for (int i = 0; i < model_.columnCount(); ++i) setColumnHidden(i, true);
  for (const std::string_view name : names) {
    const int column = model_.column_of(name);
    if (column < 0) continue;
    setColumnHidden(column, false);
    horizontalHeader()->moveSection(horizontalHeader()->visualIndex(column), visual++);
  }
}

void TableView::wrap_rows(bool wrap) {
  verticalHeader()->setSectionResizeMode(wrap ? QHeaderView::ResizeToContents : QHeaderView::Fixed);
}

/// Measures the visible rows and keeps the maximum: while a capture is read, numbers and columns grow.
void TableView::measure_columns() {
  if (sized_) return;
  if (model_.all_rows() == 0) cells_.clear();  // another capture follows
  if (model_.rowCount() == 0) return;
  // A very long text must not push all other columns out of sight.
  const int widest = 60 * fontMetrics().averageCharWidth();
  constexpr int air = 6;
  const auto count = static_cast<std::size_t>(model_.columnCount());
  cells_.resize(count);
  measured_.assign(count, {});
  QStyleOptionHeader heading;
  heading.initFrom(horizontalHeader());
  for (int i = 0; i < model_.columnCount(); ++i) {
    if (isColumnHidden(i)) continue;
    int& cells = cells_[static_cast<std::size_t>(i)];
    cells = std::max(cells, sizeHintForColumn(i));
    heading.text = model_.headerData(i, Qt::Horizontal, Qt::DisplayRole).toString();
    const int marked = horizontalHeader()->sectionSizeHint(i);
    const int plain = style()->sizeFromContents(QStyle::CT_HeaderSection, &heading, {}, this).width();
    const bool sorted = horizontalHeader()->sortIndicatorSection() == i;
    measured_[static_cast<std::size_t>(i)] = {
        std::min(std::max(cells, marked) + air, widest),
        std::min(std::max(cells + 1, sorted ? marked : plain), widest),
        !model_.headerData(i, Qt::Horizontal, TableModelBase::numbers_role).toBool()};
  }
  fit_columns();
}

void TableView::fit_columns() {
  if (sized_ || measured_.empty()) return;
  std::vector<int> shown;
  std::vector<ColumnWidth> columns;
  for (int i = 0; i < model_.columnCount(); ++i) {
    if (isColumnHidden(i)) continue;
    shown.push_back(i);
    columns.push_back(measured_[static_cast<std::size_t>(i)]);
  }
  const std::vector<int> widths = column_widths(columns, viewport()->width());
  fitting_ = true;
  // A numeric last column is not stretched: its numbers would be far away from their row.
  const int last = last_column(*this);
  const auto side = model_.headerData(last, Qt::Horizontal, Qt::TextAlignmentRole).value<Qt::Alignment>();
  horizontalHeader()->setStretchLastSection(!side.testFlag(Qt::AlignRight));
  for (std::size_t i = 0; i < shown.size(); ++i) setColumnWidth(shown[i], widths[i]);
  fitting_ = false;
}

QString TableView::empty_text() const {
  if (model_.rowCount() != 0) return {};
  return model_.all_rows() == 0 ? reason_ : left_out_text(model_.all_rows());
}

void TableView::set_reason(const QString& text) {
  if (text == reason_) return;
  reason_ = text;
  show_headings();
  viewport()->update();
}

/// Headings of nothing would only hide why there is nothing.
void TableView::show_headings() {
  const bool nothing = !reason_.isEmpty() && model_.all_rows() == 0;
  horizontalHeader()->setVisible(!nothing);
  setHorizontalScrollBarPolicy(nothing ? Qt::ScrollBarAlwaysOff : Qt::ScrollBarAsNeeded);
}

void TableView::paintEvent(QPaintEvent* event) {
  QTableView::paintEvent(event);
  paint_empty_text(*this, empty_text());
}

void TableView::changeEvent(QEvent* event) {
  QTableView::changeEvent(event);
  if (event->type() == QEvent::FontChange && rescale_ != nullptr) rescale_->start(0);
}

void TableView::fit_rows() {
  text_height_ = fontMetrics().height();
  verticalHeader()->setDefaultSectionSize(text_height_ + 8);
}

/// After the size of the text has changed.
void TableView::fit_text() {
  const int before = text_height_;
  fit_rows();
  if (before == text_height_) return;
  if (sized_) scale_columns(before);
  cells_.clear();
  measure_columns();
}

/// Widths that the user has set for a text of that height.
void TableView::scale_columns(int height) {
  if (height <= 0) return;
  fitting_ = true;
  for (int i = 0; i < model_.columnCount(); ++i) {
    if (!isColumnHidden(i)) setColumnWidth(i, columnWidth(i) * text_height_ / height);
  }
  fitting_ = false;
}

void TableView::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  fit_columns();
}

void TableView::choose_columns(const QPoint& place) {
  QMenu menu(this);
  for (int i = 0; i < model_.columnCount(); ++i) {
    QAction* action = menu.addAction(QStringLiteral("%1 (%2)").arg(
        model_.headerData(i, Qt::Horizontal, Qt::DisplayRole).toString(),
        model_.headerData(i, Qt::Horizontal, TableModelBase::name_role).toString()));
    action->setToolTip(model_.headerData(i, Qt::Horizontal, Qt::ToolTipRole).toString());
    action->setCheckable(true);
    action->setChecked(!isColumnHidden(i));
    // The last visible column cannot be hidden: its heading has this menu.
    action->setEnabled(isColumnHidden(i) ||
                       horizontalHeader()->hiddenSectionCount() + 1 < model_.columnCount());
    connect(action, &QAction::toggled, this, [this, i](bool shown) { setColumnHidden(i, !shown); });
  }
  menu.setToolTipsVisible(true);
  menu.exec(horizontalHeader()->mapToGlobal(place));
}

void TableView::save_layout(QSettings& settings) const {
  settings.setValue(QStringLiteral("tables/") + name_, horizontalHeader()->saveState());
  settings.setValue(QStringLiteral("tables/%1/sized").arg(name_), sized_);
  settings.setValue(QStringLiteral("tables/%1/text").arg(name_), text_height_);
}

void TableView::restore_layout(QSettings& settings) {
  const QByteArray state = settings.value(QStringLiteral("tables/") + name_).toByteArray();
  if (state.isEmpty() || !horizontalHeader()->restoreState(state)) return;
  // The sort order is not restored: it could hide the worst rows of another capture.
  horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
  // Widths that the user has not set are fitted to the next capture.
  sized_ = settings.value(QStringLiteral("tables/%1/sized").arg(name_), true).toBool();
  const int height = settings.value(QStringLiteral("tables/%1/text").arg(name_), text_height_).toInt();
  if (sized_ && height != text_height_) scale_columns(height);
}

std::vector<RowRun> TableView::selected_runs() const {
  std::vector<RowRun> runs;
  for (const QItemSelectionRange& range : selectionModel()->selection())
    runs.push_back({range.top(), range.bottom()});
  std::sort(runs.begin(), runs.end(), [](const RowRun& a, const RowRun& b) { return a.first < b.first; });
  return runs;
}

void TableView::copy_rows() {
  const std::vector<RowRun> runs = selected_runs();
  std::vector<int> columns;
  for (int visual = 0; visual < model_.columnCount(); ++visual) {
    const int column = horizontalHeader()->logicalIndex(visual);
    if (!isColumnHidden(column)) columns.push_back(column);
  }
  int rows = 0;
  for (const RowRun& run : runs) rows += run.last - run.first + 1;
  if (rows == 0) return;
  const auto finish = [this, rows](const QString& text) {
    QApplication::clipboard()->setText(text);
    Q_EMIT says(tr("Copied: %n row(s)", nullptr, rows));
  };
  copying_.cancel();
  std::function<QString()> make = model_.text_of(runs, std::move(columns));
  constexpr int made_at_once = 500;
  if (rows <= made_at_once) return finish(make());
  Q_EMIT says(tr("Copying %n row(s)...", nullptr, rows));
  copying_.run([this, finish, make = std::move(make)]() -> std::function<void()> {
    try {
      return [finish, text = make()] { finish(text); };
    } catch (const std::exception&) {
      return [this] { Q_EMIT says(tr("Not enough memory for so many rows: copy fewer")); };
    }
  });
}

void TableView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    copy_rows();
  } else if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    if (currentIndex().isValid()) Q_EMIT row_activated();
  } else {
    QTableView::keyPressEvent(event);
  }
}

}  // namespace roce::gui
