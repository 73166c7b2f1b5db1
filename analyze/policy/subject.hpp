// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "analyze/flow/marking.hpp"
#include "analyze/packet/packet_view.hpp"
#include "analyze/policy/marking_policy.hpp"
#include "analyze/record/packet_record.hpp"

namespace roce::analyze {

/// What a policy judges, of a valid record.
[[nodiscard]] MarkingSubject subject_of(const PacketRecord& record) noexcept;
/// Of packets of a flow that are marked alike.
[[nodiscard]] MarkingSubject subject_of(const FlowKey& flow, const MarkRow& row) noexcept;

/// Of a packet that belongs to the transport; nothing for others.
[[nodiscard]] std::optional<MarkingSubject> subject_of(const PacketView& packet) noexcept;

/// What PacketView::policy says of the packet; nothing without one.
[[nodiscard]] std::vector<Breach> breaches_of(const PacketView& packet);

}  // namespace roce::analyze
