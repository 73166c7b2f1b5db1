// SPDX-License-Identifier: Apache-2.0
// What graphs and ladders say of a packet, in words.
#pragma once

#include <QString>
#include <QStringList>

#include "analyze/results/snapshot.hpp"
#include "analyze/trace/connection_trace.hpp"

namespace roce::gui {

/// "a → b".
[[nodiscard]] QString direction_text(const analyze::TracePoint& point);
/// "RDMA WRITE First", "ACK", "NAK PSN sequence error", "CNP".
[[nodiscard]] QString kind_text(const analyze::TracePoint& point);
/// The 24 bits that the packet has.
[[nodiscard]] QString psn_text(std::int64_t psn);
/// What is to be said of it besides: "sent again after a NAK", "lost behind the capture point" ...
[[nodiscard]] QStringList remarks_of(const analyze::TracePoint& point);
/// All of it, a line each, for tool tips. `origin_ns` is where relative times begin.
[[nodiscard]] QString point_text(const analyze::TracePoint& point, std::int64_t origin_ns);
/// What a trace does not show of its connection; empty: it shows all.
[[nodiscard]] QString missing_text(const analyze::ConnectionTrace& trace);

}  // namespace roce::gui
