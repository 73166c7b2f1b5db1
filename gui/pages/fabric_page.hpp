// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QTabWidget>
#include <QVBoxLayout>
#include <array>
#include <vector>

#include "gui/charts/host_matrix_view.hpp"
#include "gui/models/background_call.hpp"
#include "gui/models/fabric_tables.hpp"
#include "gui/pages/filter_bar.hpp"
#include "gui/pages/page.hpp"
#include "gui/pages/table_view.hpp"

namespace roce::gui {

/// Hosts against hosts, and what lies between them: paths, MRC, shells, mirrors, and what switches exported.
/// Tables that have no rows say why.
class FabricPage : public Page {
  Q_OBJECT

 public:
  /// Tabs, in their order.
  enum Part { hosts, paths, mrc, shells, mirrors, switches, part_count };

  FabricPage(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* search_field() override;
  [[nodiscard]] bool is_settled() const override;
  [[nodiscard]] QTabWidget& tabs() noexcept { return *tabs_; }
  [[nodiscard]] const PathModel& path_rows() const noexcept { return path_model_; }
  [[nodiscard]] HostMatrixView& matrix() noexcept { return *matrix_; }

 Q_SIGNALS:
  /// Show the connections with all words of that text.
  void pair_chosen(const QString& text);

 protected:
  void show_snapshot() override;

 private:
  /// A tab: what is to be said, the search, and one table or several.
  struct Tab {
    QLabel* note = nullptr;
    FilterBar* bar = nullptr;
    QTabWidget* inner = nullptr;  ///< tables below or instead of the first one; null: there are none
  };
  /// A table, and why it has no rows where the capture has none.
  struct Shown {
    Part part;
    TableModelBase* model;
    TableView* view;
    int inner;  ///< its place in Tab::inner, -1: it is not there
    QString name;
    QString none;
  };

  void add_hosts();
  void make_matrix();
  void show_pair();
  void lead_to_connections();
  QVBoxLayout* add_tab(Part part, const QString& hint);
  template <class Model>
  TableView* add_table(Part part, const QString& name, Model& model, const QString& none);
  template <class Model>
  TableView* add_inner(Part part, const QString& name, const QString& title, Model& model,
                       const QString& none);
  template <class Model>
  void lead(TableView* view, const Model& model);
  void refresh();
  [[nodiscard]] QString note_of(Part part) const;

  PairModel pair_model_;
  PathModel path_model_;
  MrcStreamModel mrc_stream_model_;
  MrcPathModel mrc_path_model_;
  MrcLossModel mrc_loss_model_;
  ShellModel shell_model_;
  MirrorModel mirror_model_;
  ExportDropModel drop_model_;
  SampledFlowModel sampled_model_;
  ExportSourceModel source_model_;
  ExportQueueModel queue_model_;
  ExportPortModel port_model_;
  std::array<Tab, part_count> parts_;
  std::vector<Shown> shown_tables_;
  QTabWidget* tabs_;
  HostMatrixView* matrix_ = nullptr;
  QComboBox* measure_ = nullptr;
  TableView* pairs_ = nullptr;
  BackgroundCall making_{*this};
  bool matrix_made_ = true;  ///< of shown()
};

}  // namespace roce::gui
