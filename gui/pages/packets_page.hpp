// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QSplitter>
#include <QTimer>
#include <QToolButton>
#include <functional>

#include "gui/models/packet_export.hpp"
#include "gui/models/packet_list_model.hpp"
#include "gui/pages/evidence_bar.hpp"
#include "gui/pages/packet_bytes_view.hpp"
#include "gui/pages/packet_filter_line.hpp"
#include "gui/pages/packet_list_view.hpp"
#include "gui/pages/packet_tree_view.hpp"
#include "gui/pages/page.hpp"
#include "gui/pages/time_chip.hpp"

namespace roce::gui {

/// All packets: the list, and of the current one the tree and the bytes.
class PacketsPage : public Page {
  Q_OBJECT

 public:
  PacketsPage(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr);
  ~PacketsPage() override;
  PacketsPage(const PacketsPage&) = delete;
  PacketsPage& operator=(const PacketsPage&) = delete;

  [[nodiscard]] QWidget* search_field() override;
  [[nodiscard]] PacketListModel& model() noexcept { return model_; }
  [[nodiscard]] PacketListView& list() noexcept { return *list_; }
  [[nodiscard]] EvidenceBar& evidence() noexcept { return *evidence_; }
  [[nodiscard]] PacketTreeView& tree() noexcept { return *tree_; }
  [[nodiscard]] PacketBytesView& bytes() noexcept { return *bytes_; }
  [[nodiscard]] PacketFilterLine& filter() noexcept { return *filter_; }
  [[nodiscard]] QString status() const { return status_->text(); }

  /// What is asked of the user; tests answer in their stead.
  struct Questions {
    std::function<quint64(QWidget*, quint64 last)> packet_number;  ///< 0: none
    std::function<QString(QWidget*, PacketFormat)> file_to_write;  ///< empty: none
    /// A comment, from what it was; nothing: leave it.
    std::function<std::optional<QString>(QWidget*, const QString& title, const QString& text)> comment;
  };
  /// Which packets are meant.
  enum class Scope { selected, shown, all };
  void set_questions(Questions questions) { questions_ = std::move(questions); }

  /// Fills a menu of the window with all that can be done here.
  void fill_menu(QMenu* menu);
  /// Shows the packet; takes the filter away if that hides it.
  void go_to(std::uint64_t number);
  void follow_connection();
  void copy(PacketFormat format);
  /// False: it was not begun, and why was said.
  bool export_to(const QString& path, PacketFormat format, Scope scope);
  void apply_column(const QString& field);
  /// Asks for a file and writes the whole capture to it, with all comments. False: nothing is being written.
  bool save_capture();
  /// Comments of the packet, whoever wrote them; and the user's instead.
  [[nodiscard]] QStringList comments(std::uint64_t number) const;
  void set_comments(std::uint64_t number, PacketComments::Texts texts);
  /// Whether comments would be lost if the capture was let go of.
  [[nodiscard]] bool has_unsaved_comments() const;

 Q_SIGNALS:
  void comments_changed();      ///< also whether they are saved
  void save_ended(bool saved);  ///< what save_capture() began

 private:
  struct ActionRow {
    const char* name;  ///< objectName; empty: a line between actions
    QString text;
    QKeySequence keys;
    QString help;
    std::function<void()> handler;
  };

  void make_parts();
  void connect_parts();
  void show_packets();
  void apply_filter();
  void show_state();
  void show_no_packet();
  void show_current();
  void row_menu(int row, int column, const QPoint& where);
  void header_menu(int column, const QPoint& where);
  void tree_menu(const QString& field, const QPoint& where);
  void add_filter_actions(QMenu* menu, const QString& one);
  void fit_columns();
  void take_time_format();
  [[nodiscard]] QString width_key(const QString& column) const;
  void save_columns();
  void step_meaning(int step, std::uint32_t meanings, const QString& what);
  void step_related(std::uint64_t RelatedPackets::*which, const QString& what);
  void start_find();
  void find(int step);
  void ask_number();
  bool ask_export(PacketFormat format, Scope scope);
  void fill_comment_menu(QMenu* menu);
  void fill_edit_menu(QMenu* menu);
  [[nodiscard]] std::optional<QString> ask_comment(const QString& title, const QString& before);
  void add_comment();
  void edit_comment(std::uint64_t number, std::size_t place);
  void remove_comments();
  void watch_export();
  void legend();
  [[nodiscard]] PacketChoice chosen(Scope scope) const;
  [[nodiscard]] std::uint64_t current_number() const { return model_.number_of(list_->current_row()); }

  PacketListModel model_;
  Questions questions_;
  PacketFilterLine* filter_;
  TimeChip* time_chip_;
  QToolButton* follow_;
  EvidenceBar* evidence_;
  PacketListView* list_;
  PacketTreeView* tree_;
  PacketBytesView* bytes_;
  QLabel* status_;
  QProgressBar* progress_;
  QToolButton* cancel_;
  QWidget* find_bar_;
  QLineEdit* find_field_;
  QLabel* find_status_;
  QSplitter* split_;
  std::shared_ptr<PacketSearch> found_;
  QString found_text_;
  QTimer find_timer_;
  int find_step_ = 0;  ///< wanted as soon as something is found
  std::shared_ptr<PacketExport> export_;
  /// The comments that it writes, as they were at its start, if it is the whole capture; null: it is not.
  std::shared_ptr<const PacketStore> saving_;
  std::uint64_t saved_revision_ = 0;
  QTimer export_timer_;
  QString applied_;           ///< filter; what is typed may be another one
  std::uint64_t wanted_ = 0;  ///< packet that shall be current as soon as it comes
  bool insists_ = false;      ///< on that one, and not on the next that passes the filter
};

}  // namespace roce::gui
