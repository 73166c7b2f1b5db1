// SPDX-License-Identifier: Apache-2.0
// Every host against every other one: what it sends there, and what becomes of it. Plain functions, any
// thread.
#pragma once

#include <QRectF>
#include <QString>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyze/results/pair_columns.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::gui {

/// What the cells of the matrix show. Values are shares (0 to 1), nanoseconds or bytes.
struct MatrixMeasure {
  enum class Unit : std::uint8_t { share, time, bytes };
  const char* name;     ///< stable: key of settings
  const char* heading;  ///< to be translated, context "HostMatrix"
  /// Nullopt: nothing is known of it between the two.
  std::optional<double> (*value)(const analyze::HostPairRow& pair);
  Unit unit;
  bool of_all_packets = false;  ///< not judged in a capture that lacks packets
};
inline constexpr std::size_t matrix_measure_count = 6;
[[nodiscard]] std::span<const MatrixMeasure, matrix_measure_count> matrix_measures() noexcept;
[[nodiscard]] QString measure_heading(const MatrixMeasure& measure);
/// "1.3 %", "166 ms", "3.92 MB".
[[nodiscard]] QString measure_text(const MatrixMeasure& measure, double value);

/// Hosts are numbered in the order of their addresses.
class HostMatrix {
 public:
  struct Cell {
    std::uint32_t from = 0;  ///< index of the sender
    std::uint32_t to = 0;    ///< index of the receiver
    std::array<std::optional<float>, matrix_measure_count> values;
  };
  HostMatrix() = default;
  explicit HostMatrix(const analyze::Snapshot& snapshot);

  [[nodiscard]] std::size_t size() const noexcept { return hosts_.size(); }
  [[nodiscard]] const dissect::IpAddress& host(std::size_t i) const { return hosts_[i]; }
  [[nodiscard]] QString name(std::size_t i) const;
  /// By sender, then by receiver.
  [[nodiscard]] const std::vector<Cell>& cells() const noexcept { return cells_; }
  /// Index of the cell; nullopt: the one sends nothing to the other, as far as the capture shows.
  [[nodiscard]] std::optional<std::size_t> cell(std::size_t from, std::size_t to) const;
  [[nodiscard]] std::optional<std::size_t> cell(const dissect::IpAddress& from,
                                                const dissect::IpAddress& to) const;
  /// How many hosts send to that one.
  [[nodiscard]] std::uint32_t senders(std::size_t to) const { return senders_[to]; }
  [[nodiscard]] std::uint32_t most_senders() const noexcept { return most_senders_; }

 private:
  std::vector<dissect::IpAddress> hosts_;
  std::vector<Cell> cells_;
  std::vector<std::size_t> begins_;  ///< by sender: its first cell; and one behind the last
  std::vector<std::uint32_t> senders_;
  std::uint32_t most_senders_ = 0;
};

/// How values become shades, 0 (hardly any) to 1 (most). Logarithmic: a loss of one in 100 000 is to be seen
/// beside one of a tenth. Of shares the ends are fixed, so that captures look alike; else those of the
/// values.
struct MatrixScale {
  double least = 0;
  double most = 0;
  [[nodiscard]] double shade(double value) const noexcept;
  [[nodiscard]] bool operator==(const MatrixScale&) const noexcept = default;
};
[[nodiscard]] MatrixScale matrix_scale(const HostMatrix& matrix, std::size_t measure);

/// One square of what is painted: a cell, or the worst of several that share a pixel.
struct MatrixBin {
  std::optional<float> value;
  bool any = false;  ///< there is traffic
};
/// `view` is in hosts: x over receivers, y over senders. As many bins as columns by rows, in rows.
[[nodiscard]] std::vector<MatrixBin> matrix_bins(const HostMatrix& matrix, std::size_t measure,
                                                 const QRectF& view, int columns, int rows);

/// The view zoomed by a factor (> 1: more is shown) around a place, inside of the matrix, at least four hosts
/// wide where there are as many.
[[nodiscard]] QRectF zoomed_matrix(const QRectF& view, double factor, const QPointF& around,
                                   std::size_t hosts);
/// Moved by so many hosts, inside of the matrix.
[[nodiscard]] QRectF moved_matrix(const QRectF& view, const QPointF& by, std::size_t hosts);

}  // namespace roce::gui
