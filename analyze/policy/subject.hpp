// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "analyze/flow/marking.hpp"
#include "analyze/packet/packet_view.hpp"
#include "analyze/policy/marking_policy.hpp"
#include "analyze/record/packet_record.hpp"

namespace roce::analyze {

/// The input of MarkingPolicy::test() for a valid record.
[[nodiscard]] MarkingSubject subject_of(const PacketRecord& record) noexcept;
/// For packets of a flow with the same markings.
[[nodiscard]] MarkingSubject subject_of(const FlowKey& flow, const MarkRow& row) noexcept;

/// For a packet with a BTH; absent for others.
[[nodiscard]] std::optional<MarkingSubject> subject_of(const PacketView& packet) noexcept;

/// Violations of PacketView::policy by the packet; empty without a policy.
[[nodiscard]] std::vector<Violation> violations_of(const PacketView& packet);

}  // namespace roce::analyze
