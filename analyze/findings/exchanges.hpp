// SPDX-License-Identifier: Apache-2.0
// CM exchanges that failed alike, told together.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "analyze/findings/common.hpp"

namespace roce::analyze {

struct ExchangeCase {
  const CmExchange* exchange = nullptr;  ///< never null
  std::uint32_t kind = 0;                ///< of failure, the rule's own numbers: others are told apart
  Proof proof;
};

struct ExchangeGroup {
  std::uint32_t kind = 0;
  const CmExchange* first = nullptr;
  Proof proof;  ///< count: exchanges
  std::set<dissect::IpAddress> clients;
  std::set<dissect::IpAddress> servers;
  std::set<std::uint64_t> services;

  /// "10.0.0.1", or "12 hosts".
  [[nodiscard]] std::string client_text() const;
  [[nodiscard]] std::string server_text() const;
  /// "service 0x0000000001061144 (NVMe-oF, port 4420)", or "3 services".
  [[nodiscard]] std::string service_text() const;
};

/// By client, server and service; by less of that where it would make too many.
[[nodiscard]] std::vector<ExchangeGroup> group_exchanges(const std::vector<ExchangeCase>& cases);

/// A finding of a group: who, when and which packets.
[[nodiscard]] Finding finding_of(const ExchangeGroup& group);

/// Adds the packets of one kind of CM message, if they were seen.
void add_seen(Proof& proof, const CmSeen& seen);

}  // namespace roce::analyze
