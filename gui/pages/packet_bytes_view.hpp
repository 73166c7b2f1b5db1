// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QAbstractScrollArea>
#include <QByteArray>

namespace roce::gui {

/// Hex dump of a packet: offset, sixteen bytes, printable characters; a range can be highlighted.
class PacketBytesView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit PacketBytesView(QWidget* parent = nullptr);

  void show_bytes(const QByteArray& bytes);
  /// Highlights bytes and scrolls to them. Length 0: none.
  void light_up(int offset, int length);
  [[nodiscard]] int lit_offset() const noexcept { return lit_offset_; }
  [[nodiscard]] int lit_length() const noexcept { return lit_length_; }
  [[nodiscard]] const QByteArray& bytes() const noexcept { return bytes_; }

 Q_SIGNALS:
  void byte_chosen(int offset);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  static constexpr int a_line = 16;
  void measure();
  void update_bars();
  [[nodiscard]] int lines() const { return (static_cast<int>(bytes_.size()) + a_line - 1) / a_line; }
  [[nodiscard]] int digit_column(int i) const { return 6 + i * 3 + (i >= a_line / 2 ? 1 : 0); }
  [[nodiscard]] int text_column(int i) const { return digit_column(a_line) + 1 + i; }
  [[nodiscard]] int byte_at(const QPoint& where) const;

  QByteArray bytes_;
  QFont fixed_;
  int lit_offset_ = 0;
  int lit_length_ = 0;
  int line_height_ = 16;
  int char_width_ = 8;
};

}  // namespace roce::gui
