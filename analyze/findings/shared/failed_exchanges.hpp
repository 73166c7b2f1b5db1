// SPDX-License-Identifier: Apache-2.0
// CM exchanges that failed in the same way, reported together.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

struct ExchangeCase {
  const CmExchange* exchange = nullptr;  ///< never null; belongs to the snapshot
  std::uint32_t kind = 0;                ///< of failure, in the rule's own numbering
  Proof proof;
  std::vector<CmSeen CmExchange::*> messages;  ///< that prove it

  /// Adds the messages of one kind as proof, if they were captured.
  void add(CmSeen CmExchange::*message);
};

struct ExchangeGroup {
  std::uint32_t kind = 0;  ///< of the first case; the others may be of other kinds where there are many
  const CmExchange* first = nullptr;
  Proof proof;  ///< count: exchanges
  std::set<dissect::IpAddress> clients;
  std::set<dissect::IpAddress> servers;
  std::set<std::uint64_t> services;
  std::vector<const ExchangeCase*> cases;

  /// "10.0.0.1", or "12 hosts".
  [[nodiscard]] std::string client_text() const;
  [[nodiscard]] std::string server_text() const;
  /// "service 0x0000000001061144 (NVMe-oF, port 4420)", or "3 services".
  [[nodiscard]] std::string service_text() const;
};

/// By client, server and service; by fewer of these where that would make too many. The groups point at
/// `cases`, which must outlive them.
[[nodiscard]] std::vector<ExchangeGroup> group_exchanges(const std::vector<ExchangeCase>& cases);

/// A finding of a group: who, when and which packets.
[[nodiscard]] Finding finding_of(const ExchangeGroup& group);

/// "The messages (3): roceanalyze packets FILE -Y '...'": those that prove it. `all`: a wider display filter,
/// used where the exchanges are too many to list.
[[nodiscard]] std::string messages_command(const Snapshot& snapshot, const ExchangeGroup& group,
                                           std::string_view all);

}  // namespace roce::analyze
