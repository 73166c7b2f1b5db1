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

/// The page of packets: the list, and tree and bytes of the current packet.
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

  /// Questions to the user; tests replace them.
  struct Questions {
    std::function<quint64(QWidget*, quint64 last)> packet_number;  ///< 0: cancelled
    std::function<QString(QWidget*, PacketFormat)> file_to_write;  ///< empty: cancelled
    /// A comment, starting from `text`; nullopt: cancelled.
    std::function<std::optional<QString>(QWidget*, const QString& title, const QString& text)> comment;
  };
  /// Which packets an export includes.
  enum class Scope { selected, shown, all };
  void set_questions(Questions questions) { questions_ = std::move(questions); }

  /// Fills the window's menu "Packets".
  void fill_menu(QMenu* menu);
  /// Makes the packet current; clears the filter if that hides it.
  void go_to(std::uint64_t number);
  void follow_connection();
  void copy(PacketFormat format);
  /// False: not started; the reason is reported by says().
  bool export_to(const QString& path, PacketFormat format, Scope scope);
  void apply_column(const QString& field);
  /// Asks for a file and writes the whole capture with all comments to it. False: not started.
  bool save_capture();
  /// Comments of a packet, from the capture or the user; set_comments() replaces them all.
  [[nodiscard]] QStringList comments(std::uint64_t number) const;
  void set_comments(std::uint64_t number, PacketComments::Texts texts);
  /// Whether comments would be lost by closing the capture.
  [[nodiscard]] bool has_unsaved_comments() const;

 Q_SIGNALS:
  void comments_changed();      ///< also when they have been saved
  void save_ended(bool saved);  ///< end of what save_capture() started

 private:
  struct ActionRow {
    const char* name;  ///< objectName; empty: a separator
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
  void save_width(int column, int width);
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
  int find_step_ = 0;  ///< step to take as soon as something is found; 0: none
  std::shared_ptr<PacketExport> export_;
  /// The store whose comments export_ saves; null: export_ does not write the whole capture.
  std::shared_ptr<const PacketStore> saving_;
  std::uint64_t saved_revision_ = 0;
  QTimer export_timer_;
  QString applied_;           ///< the filter in effect; the text in the line may differ
  std::uint64_t wanted_ = 0;  ///< packet to make current as soon as it is listed; 0: none
  bool insists_ = false;      ///< exactly wanted_, not the next packet that matches the filter
};

}  // namespace roce::gui
