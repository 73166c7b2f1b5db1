// SPDX-License-Identifier: Apache-2.0
// Texts on a packet for graphs and ladder.
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
/// The PSN as in the packet: 24 bits, decimal.
[[nodiscard]] QString psn_text(std::int64_t psn);
/// Notable facts: "retransmitted after a NAK", "lost downstream of the capture point" ...
[[nodiscard]] QStringList remarks_of(const analyze::TracePoint& point);
/// All of it, one fact per line, for tool tips. `origin_ns` is the origin of relative times.
[[nodiscard]] QString point_text(const analyze::TracePoint& point, std::int64_t origin_ns);
/// What the trace omits of its connection; empty: nothing.
[[nodiscard]] QString missing_text(const analyze::ConnectionTrace& trace);

}  // namespace roce::gui
