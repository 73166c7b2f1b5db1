// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analyze/cm/cm_exchange.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissection.hpp"
#include "dissect/types.hpp"
#include "dissect/ulp.hpp"

namespace roce::analyze {

/// Follows the connection managers of all hosts: who connects to whom, with which queue pairs and
/// parameters, how long it took, why it failed. Bounded: the oldest exchanges are forgotten first
/// (and counted). Not thread-safe.
class CmTracker {
 public:
  static constexpr std::size_t default_limit = default_exchange_limit;

  explicit CmTracker(std::size_t limit = default_limit);
  CmTracker(const CmTracker& other);
  CmTracker(CmTracker&&) noexcept;
  CmTracker& operator=(CmTracker&&) noexcept;
  ~CmTracker();

  /// Looks at a packet that may be a CM message; cheap for all others. Returns the exchange of which
  /// both queue pairs have become known by this very packet, a REP or a REQ that came after its REP: a
  /// new connection begins here. (Queue pairs known by a DREQ only are in exchange_of().) The pointer
  /// lives until the next learn(). `number` counts from 1.
  const CmExchange* learn(std::uint64_t number, const capture::Frame& frame,
                          const dissect::Dissection& dissection);

  /// The exchange that the last packet given to learn() belongs to; null: to none. The pointer lives until
  /// the next learn().
  [[nodiscard]] const CmExchange* last_learned() const noexcept;

  /// The exchange that made this queue pair at this address its end, if one was captured; the last
  /// one where the number was used again. The pointer lives until the next learn().
  [[nodiscard]] const CmExchange* exchange_of(const dissect::IpAddress& address, std::uint32_t qpn) const;

  /// What the packet's destination queue pair carries; for REP and REJ what their REQ asked for.
  [[nodiscard]] dissect::Ulp ulp_of(dissect::Bytes frame, const dissect::Dissection& dissection) const;
  /// What a queue pair at an address carries.
  [[nodiscard]] dissect::Ulp ulp_of(const dissect::IpAddress& address, std::uint32_t qpn) const;

  /// Stable number of an exchange, from 0 in order of their first messages.
  [[nodiscard]] std::uint32_t index_of(const CmExchange& exchange) const noexcept { return exchange.number; }
  /// Where take_exchanges() would put the exchange of this number, which is less by those forgotten
  /// before; absent if it is one of them.
  [[nodiscard]] std::optional<std::uint32_t> place_of(std::uint32_t number) const noexcept;
  /// All that were kept, by number. Afterwards the tracker knows none.
  [[nodiscard]] std::vector<CmExchange> take_exchanges();
  [[nodiscard]] std::uint64_t forgotten() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::analyze
