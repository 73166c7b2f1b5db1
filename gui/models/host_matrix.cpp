// SPDX-License-Identifier: Apache-2.0
#include "gui/models/host_matrix.hpp"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "analyze/base/units.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {
namespace {

using Pair = const analyze::HostPairRow&;
using Unit = MatrixMeasure::Unit;

std::optional<double> share_of_pair(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

constexpr std::array<MatrixMeasure, matrix_measure_count> measures{{
    {"lost", QT_TRANSLATE_NOOP("HostMatrix", "Lost"),
     [](Pair p) -> std::optional<double> {
       const std::uint64_t lost = analyze::lost_in_network(p.lost);
       if (lost == 0 && p.lost[static_cast<std::size_t>(analyze::Lost::undecided)] != 0) return std::nullopt;
       return share_of_pair(lost, p.sent());
     },
     Unit::share, true},
    {"retransmitted", QT_TRANSLATE_NOOP("HostMatrix", "Retransmitted"),
     [](Pair p) { return share_of_pair(p.retransmitted, p.packets); }, Unit::share, true},
    {"latency_p99", QT_TRANSLATE_NOOP("HostMatrix", "Latency, 99 %"),
     [](Pair p) -> std::optional<double> {
       if (p.latency_ns.count() == 0) return std::nullopt;
       return static_cast<double>(p.latency_ns.percentile(0.99));
     },
     Unit::time},
    {"ce", QT_TRANSLATE_NOOP("HostMatrix", "CE marks"), [](Pair p) { return share_of_pair(p.ce, p.packets); },
     Unit::share},
    {"wrong_marks", QT_TRANSLATE_NOOP("HostMatrix", "Wrong markings"),
     [](Pair p) { return share_of_pair(p.wrong_marks, p.packets); }, Unit::share},
    {"bytes", QT_TRANSLATE_NOOP("HostMatrix", "Bytes"),
     [](Pair p) -> std::optional<double> { return static_cast<double>(p.bytes); }, Unit::bytes},
}};

/// Ends of the scale of shares: one packet in 100 000, and one in ten.
constexpr MatrixScale scale_of_shares{1e-5, 0.1};

double clamped(double from, double length, double whole) {
  return std::clamp(from, 0.0, std::max(0.0, whole - length));
}

}  // namespace

std::span<const MatrixMeasure, matrix_measure_count> matrix_measures() noexcept {
  return measures;
}

QString measure_heading(const MatrixMeasure& measure) {
  return QCoreApplication::translate("HostMatrix", measure.heading);
}

QString measure_text(const MatrixMeasure& measure, double value) {
  switch (measure.unit) {
    case Unit::share: {
      // As percent_text() of counts.
      constexpr double parts = 1e9;
      return to_qt(analyze::percent_text(static_cast<std::uint64_t>(std::llround(value * parts)),
                                         static_cast<std::uint64_t>(parts)));
    }
    case Unit::time:
      return to_qt(analyze::duration_text(std::llround(value)));
    case Unit::bytes:
      break;
  }
  return to_qt(analyze::bytes_text(static_cast<std::uint64_t>(std::llround(value))));
}

HostMatrix::HostMatrix(const analyze::Snapshot& snapshot) {
  const bool judged = snapshot.completeness.may_judge_losses();
  const std::vector<analyze::HostPairRow> pairs = analyze::host_pair_rows(snapshot);
  for (const analyze::HostPairRow& pair : pairs) {
    hosts_.push_back(pair.src);
    hosts_.push_back(pair.dst);
  }
  std::sort(hosts_.begin(), hosts_.end());
  hosts_.erase(std::unique(hosts_.begin(), hosts_.end()), hosts_.end());
  const auto place = [this](const dissect::IpAddress& host) {
    return static_cast<std::uint32_t>(std::lower_bound(hosts_.begin(), hosts_.end(), host) - hosts_.begin());
  };
  senders_.resize(hosts_.size());
  begins_.reserve(hosts_.size() + 1);
  cells_.reserve(pairs.size());
  // Pairs are in the order of addresses, and so are hosts.
  for (const analyze::HostPairRow& pair : pairs) {
    Cell cell{place(pair.src), place(pair.dst), {}};
    for (std::size_t i = 0; i < measures.size(); ++i) {
      if (measures[i].of_all_packets && !judged) continue;
      if (const std::optional<double> value = measures[i].value(pair))
        cell.values[i] = static_cast<float>(*value);
    }
    while (begins_.size() <= cell.from) begins_.push_back(cells_.size());
    most_senders_ = std::max(most_senders_, ++senders_[cell.to]);
    cells_.push_back(cell);
  }
  while (begins_.size() <= hosts_.size()) begins_.push_back(cells_.size());
}

QString HostMatrix::name(std::size_t i) const {
  return shown_host(hosts_[i]);
}

std::optional<std::size_t> HostMatrix::cell(std::size_t from, std::size_t to) const {
  if (from >= size() || to >= size()) return std::nullopt;
  const auto end = cells_.begin() + static_cast<std::ptrdiff_t>(begins_[from + 1]);
  const auto found = std::lower_bound(cells_.begin() + static_cast<std::ptrdiff_t>(begins_[from]), end, to,
                                      [](const Cell& cell, std::size_t wanted) { return cell.to < wanted; });
  if (found == end || found->to != to) return std::nullopt;
  return static_cast<std::size_t>(found - cells_.begin());
}

std::optional<std::size_t> HostMatrix::cell(const dissect::IpAddress& from,
                                            const dissect::IpAddress& to) const {
  const auto place = [this](const dissect::IpAddress& host) {
    const auto found = std::lower_bound(hosts_.begin(), hosts_.end(), host);
    const bool known = found != hosts_.end() && *found == host;
    return known ? static_cast<std::size_t>(found - hosts_.begin()) : size();
  };
  return cell(place(from), place(to));
}

double MatrixScale::shade(double value) const noexcept {
  if (value <= 0) return 0;
  if (most <= least) return 1;
  return std::clamp(std::log(value / least) / std::log(most / least), 0.0, 1.0);
}

MatrixScale matrix_scale(const HostMatrix& matrix, std::size_t measure) {
  if (measures[measure].unit == Unit::share) return scale_of_shares;
  MatrixScale scale;
  for (const HostMatrix::Cell& cell : matrix.cells()) {
    const double value = cell.values[measure].value_or(0);
    if (value <= 0) continue;
    scale.most = std::max(scale.most, value);
    scale.least = scale.least == 0 ? value : std::min(scale.least, value);
  }
  return scale;
}

std::vector<MatrixBin> matrix_bins(const HostMatrix& matrix, std::size_t measure, const QRectF& view,
                                   int columns, int rows) {
  std::vector<MatrixBin> bins(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows));
  if (bins.empty() || view.isEmpty()) return bins;
  // A host wider than a bin is in all bins whose middle it covers; one narrower is in the bin of its middle.
  const auto bins_of = [](double host, double from, double length, int count) {
    const double per_host = count / length;
    const double left = (host - from) * per_host;
    const int first = static_cast<int>(std::ceil(left - 0.5));
    const int last = static_cast<int>(std::ceil(left + per_host - 0.5)) - 1;
    if (last >= first) return std::pair(std::max(first, 0), std::min(last, count - 1));
    const int only = static_cast<int>(std::floor(left + per_host / 2));
    return only < 0 || only >= count ? std::pair(0, -1) : std::pair(only, only);
  };
  for (const HostMatrix::Cell& cell : matrix.cells()) {
    const auto [top, bottom] = bins_of(cell.from, view.top(), view.height(), rows);
    if (top > bottom) continue;
    const auto [left, right] = bins_of(cell.to, view.left(), view.width(), columns);
    const std::optional<float>& value = cell.values[measure];
    for (int y = top; y <= bottom; ++y) {
      for (int x = left; x <= right; ++x) {
        MatrixBin& bin = bins[static_cast<std::size_t>(y) * static_cast<std::size_t>(columns) +
                              static_cast<std::size_t>(x)];
        bin.any = true;
        if (value && (!bin.value || *bin.value < *value)) bin.value = value;
      }
    }
  }
  return bins;
}

QRectF zoomed_matrix(const QRectF& view, double factor, const QPointF& around, std::size_t hosts) {
  constexpr double fewest = 4;
  const auto whole = static_cast<double>(hosts);
  const double least = std::min(fewest, whole);
  const double width = std::clamp(view.width() * factor, least, std::max(whole, least));
  const double height = std::clamp(view.height() * factor, least, std::max(whole, least));
  const double left = around.x() - (around.x() - view.left()) * width / std::max(view.width(), 1e-9);
  const double top = around.y() - (around.y() - view.top()) * height / std::max(view.height(), 1e-9);
  return {clamped(left, width, whole), clamped(top, height, whole), width, height};
}

QRectF moved_matrix(const QRectF& view, const QPointF& by, std::size_t hosts) {
  const auto whole = static_cast<double>(hosts);
  return {clamped(view.left() + by.x(), view.width(), whole),
          clamped(view.top() + by.y(), view.height(), whole), view.width(), view.height()};
}

}  // namespace roce::gui
