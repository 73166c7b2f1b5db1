// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/detail_view.hpp"

#include <QEvent>
#include <QScrollBar>

#include "gui/charts/theme.hpp"

namespace roce::gui {

DetailView::DetailView(QWidget* parent) : QTextBrowser(parent) {
  setOpenLinks(false);
  document()->setDocumentMargin(10);
}

void DetailView::show_html(const QString& html) {
  if (html == html_) return;
  html_ = html;
  render();
}

void DetailView::changeEvent(QEvent* event) {
  QTextBrowser::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) render();
}

void DetailView::render() {
  const int place = verticalScrollBar()->value();
  // The style sheet applies only to text set afterwards.
  document()->setDefaultStyleSheet(document_style(palette()));
  setHtml(html_);
  verticalScrollBar()->setValue(place);
}

}  // namespace roce::gui
