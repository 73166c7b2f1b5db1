// SPDX-License-Identifier: Apache-2.0
// Reports once what a thousand connections show: one finding per connection while there are few, else one per
// pair of hosts, per host, or for the capture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/findings/shared/proof.hpp"
#include "analyze/results/finding.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// One direction of one connection that shows what a rule looks for.
struct Case {
  const Connection* connection = nullptr;  ///< never null; belongs to the snapshot
  unsigned side = 0;                       ///< 0 or 1: whose packets or requests it is about: `from`
  std::uint64_t of = 0;  ///< what proof.count is a part of (packets, requests ...); 0 = nothing
  Proof proof;
  double confidence = 1;

  [[nodiscard]] const Endpoint& from() const noexcept { return connection->ends[side]; }
  [[nodiscard]] const Endpoint& to() const noexcept { return connection->ends[1 - side]; }
  [[nodiscard]] const Requester& requester() const noexcept { return connection->requester[side]; }
  [[nodiscard]] const Events& sent() const noexcept { return connection->sent[side]; }
  [[nodiscard]] const Events& answered() const noexcept { return connection->sent[1 - side]; }
};

/// Cases that are reported together; never empty.
struct Group {
  enum class Kind : std::uint8_t {
    connection,  ///< one case
    pair,        ///< all from one host to one other
    from_host,   ///< all from one host
    to_host,     ///< all to one host
    several,     ///< the rest
  };

  Kind kind = Kind::connection;
  std::vector<Case> cases;  ///< by first packet
  Proof proof;              ///< of all
  std::uint64_t of = 0;     ///< of all
  std::size_t connections = 0;
  std::size_t pairs = 0;  ///< of hosts; if there are several, both ways between two are one

  [[nodiscard]] std::uint64_t count() const noexcept { return proof.count; }
  [[nodiscard]] bool single() const noexcept { return kind == Kind::connection; }
  [[nodiscard]] bool one_sender() const noexcept { return kind != Kind::to_host && kind != Kind::several; }
  [[nodiscard]] bool one_receiver() const noexcept {
    return kind != Kind::from_host && kind != Kind::several;
  }
  [[nodiscard]] const Case& first() const noexcept { return cases.front(); }
  /// The case with the highest count; of equals the first.
  [[nodiscard]] const Case& worst() const noexcept;
  /// Sum of a figure over the cases.
  [[nodiscard]] std::uint64_t sum(const std::function<std::uint64_t(const Case&)>& figure) const;
};

/// More than this many connections of a pair, or pairs of a host, become one finding.
inline constexpr std::size_t told_apart = 3;
/// Beyond this many findings of one rule the least important ones become one.
inline constexpr std::size_t findings_a_rule = 4;

/// Groups connections by pair and pairs by host, or everything in one group where that would still name many
/// hosts. Sorted by first packet.
[[nodiscard]] std::vector<Group> group_cases(std::vector<Case> cases);

/// What a rule reports on a group.
struct Words {
  Severity severity = Severity::info;
  std::string explanation;
  std::string advice;
  std::string_view title = {};              ///< empty: the rule's
  std::vector<std::uint64_t> packets = {};  ///< more packet numbers that prove it
};
using Describe = std::function<Words(const Group&)>;

/// Groups the cases and adds one finding per group.
void report_cases(FindingSink& sink, std::vector<Case> cases, const Describe& describe);

/// The same where the hosts matter little: many cases become one finding.
void report_at_once(FindingSink& sink, std::vector<Case> cases, const Describe& describe);

/// How far a statement on this connection can be trusted, 0..1: less if one direction is missing, the pairing
/// is doubtful, timestamps go backwards or the capture dropped packets.
[[nodiscard]] double confidence_in(const Snapshot& snapshot, const Connection& connection);

}  // namespace roce::analyze
