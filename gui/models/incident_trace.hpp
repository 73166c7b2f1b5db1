// SPDX-License-Identifier: Apache-2.0
// The packets of one incident, for its ladder.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <memory>
#include <stop_token>

#include "analyze/results/snapshot.hpp"
#include "analyze/trace/connection_trace.hpp"
#include "gui/models/packet_store.hpp"

namespace roce::gui {

/// Frames from the first to the last packet of an incident that are read at most.
inline constexpr std::uint64_t most_incident_frames = 200'000;

/// The packets of that incident with their verdicts, read from the store, and those that are sent again in
/// it: null if reading was stopped. If the incident is longer than `most` frames, `stopped` is set in the
/// trace. Any thread.
[[nodiscard]] std::shared_ptr<const analyze::ConnectionTrace> incident_trace(
    const std::shared_ptr<const PacketStore>& packets, const analyze::Snapshot& snapshot,
    const analyze::Incident& incident, const std::stop_token& stop,
    std::uint64_t most = most_incident_frames);

/// By which rule a packet is taken for what it is: "IBTA 9.7.5.2.8: A sequence NAK asked for it."; empty for
/// those that nothing is said of.
[[nodiscard]] QString rule_text(const analyze::Verdict& verdict);

/// What an incident was, how it was noticed, what it cost, and how its place is known, a sentence each.
[[nodiscard]] QStringList incident_sentences(const analyze::Snapshot& snapshot,
                                             const analyze::Incident& incident);

}  // namespace roce::gui
