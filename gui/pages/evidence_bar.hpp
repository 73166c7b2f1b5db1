// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QLabel>
#include <QToolButton>
#include <QWidget>
#include <cstdint>
#include <vector>

#include "gui/models/analysis_session.hpp"
#include "gui/models/selection.hpp"

namespace roce::gui {

/// Bar above the packet list: the selected finding, with buttons to step through its evidence packets. Hidden
/// if no finding with packets is selected, or if the user closed it, until another one is selected.
class EvidenceBar : public QWidget {
  Q_OBJECT

 public:
  EvidenceBar(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr);

  /// Sets the current packet of the list; 0: none.
  void show_current(std::uint64_t packet);
  /// Goes to the next packet of the finding (1) or the previous one (-1).
  void step(int step);
  [[nodiscard]] QString place() const { return place_->text(); }

 Q_SIGNALS:
  void packet_wanted(qulonglong packet);
  void explanation_wanted();
  void filter_wanted(const QString& expression);
  void says(const QString& message);

 private:
  void show_finding();
  void show_place();
  void changeEvent(QEvent* event) override;
  [[nodiscard]] std::uint64_t next(int step) const;

  AnalysisSession& session_;
  Selection& selection_;
  std::vector<std::uint64_t> packets_;  ///< of the finding, ascending
  QString filter_;                      ///< of all packets of the finding; empty: none is known
  bool more_ = false;                   ///< packets_ are only the first few
  std::uint64_t current_ = 0;
  QString closed_;  ///< key of the finding for which the user closed the bar
  QToolButton* finding_;
  QLabel* title_;
  QLabel* place_;
  QToolButton* previous_;
  QToolButton* all_;
  QToolButton* next_;
};

}  // namespace roce::gui
