// SPDX-License-Identifier: Apache-2.0
// Parts of a story; only for the files of this room.
#pragma once

#include <string>
#include <vector>

#include "analyze/story/story.hpp"

namespace roce::analyze {

/// The address of a side; its queue pair where both have the same address.
[[nodiscard]] std::string who(const Connection& connection, unsigned side);

/// A line about packets from `first` to `last`.
[[nodiscard]] StoryLine line_at(StoryKind kind, std::uint64_t first, std::uint64_t last, std::string text);
/// A line about the whole.
[[nodiscard]] StoryLine line_of_all(StoryKind kind, std::string text);

/// Whether the capture bears what is said of losses, repeats and answers of this connection.
[[nodiscard]] bool can_be_judged(const Snapshot& snapshot, const Connection& connection) noexcept;

/// How the CM set it up, and how it ended it.
void tell_exchange(const CmExchange& exchange, std::vector<StoryLine>& lines);
/// "10.0.0.2 rejected ..."; empty if the exchange did not fail.
[[nodiscard]] std::string failed_exchange_text(const CmExchange& exchange);
/// "10.0.0.1 disconnects (DREQ) ..."; empty if nobody did.
[[nodiscard]] std::string disconnect_text(const CmExchange& exchange);

/// The incidents of a connection: those that ended it one by one, others too if they are few.
void tell_incidents(const Snapshot& snapshot, const Connection& connection, std::vector<StoryLine>& lines);
/// "22 incidents, at least 22 packets lost, 1749 sent again (1.89 MB)"; empty if there are none.
[[nodiscard]] std::string incidents_summary(const Snapshot& snapshot, const Connection& connection);

/// What the applications at both ends will have seen.
void tell_applications(const Snapshot& snapshot, const Connection& connection, std::vector<StoryLine>& lines);
/// The commands that show more.
void tell_commands(const Snapshot& snapshot, const Connection& connection, std::vector<StoryLine>& lines);

/// The request that a fatal NAK refused first; nullptr if there was none, or it is not kept.
[[nodiscard]] const RefusedRequest* first_refused(const Connection& connection, unsigned side) noexcept;
/// "RDMA WRITE First (PSN 12, packet 40; address 0x7f.., R_Key 0x00001234, 65536 bytes)"
[[nodiscard]] std::string refused_text(const RefusedRequest& refused);
/// "remote access error, 0x62"
[[nodiscard]] std::string nak_text(std::uint8_t syndrome);

}  // namespace roce::analyze
