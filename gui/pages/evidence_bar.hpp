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

/// Above the packets: the chosen finding, and the way through the packets that prove it. Hidden where no
/// finding with packets is chosen, or when the user closed it, until another one is chosen.
class EvidenceBar : public QWidget {
  Q_OBJECT

 public:
  EvidenceBar(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr);

  /// The packet that is current in the list; 0: none.
  void show_current(std::uint64_t packet);
  /// To the next packet of the finding (1) or the one before (-1).
  void step(int step);
  [[nodiscard]] QString place() const { return place_->text(); }

 Q_SIGNALS:
  void packet_wanted(qulonglong packet);
  void explanation_wanted();
  void says(const QString& message);

 private:
  void show_finding();
  void show_place();
  void changeEvent(QEvent* event) override;
  [[nodiscard]] std::uint64_t next(int step) const;

  AnalysisSession& session_;
  Selection& selection_;
  std::vector<std::uint64_t> packets_;  ///< of the finding, ascending
  std::uint64_t current_ = 0;
  QString closed_;  ///< key of the finding for which the user closed the bar
  QToolButton* finding_;
  QLabel* title_;
  QLabel* place_;
  QToolButton* previous_;
  QToolButton* next_;
};

}  // namespace roce::gui
