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

/// Follows the CM exchanges of all hosts: client and server, queue pairs and parameters, how long the
/// connection setup took, why it failed. Bounded: the oldest exchanges are dropped first and counted.
/// Not thread-safe.
class CmTracker {
 public:
  static constexpr std::size_t default_limit = default_exchange_limit;

  explicit CmTracker(std::size_t limit = default_limit);
  CmTracker(const CmTracker& other);
  CmTracker(CmTracker&&) noexcept;
  CmTracker& operator=(CmTracker&&) noexcept;
  ~CmTracker();

  /// Processes a packet that may be a CM message; cheap for all others. Returns an exchange if with this
  /// packet (a REP, or a REQ captured after its REP) both queue pairs are known: a new connection begins.
  /// (Queue pairs known only from a DREQ are in exchange_of().) The pointer is valid until the next learn().
  /// `number` is the frame number, from 1.
  const CmExchange* learn(std::uint64_t number, const capture::Frame& frame,
                          const dissect::Dissection& dissection);

  /// The exchange of the last packet given to learn(), or null. The pointer is valid until the next learn().
  [[nodiscard]] const CmExchange* last_learned() const noexcept;

  /// The exchange of this queue pair at this address, if one was captured; after QP reuse the last one. The
  /// pointer is valid until the next learn().
  [[nodiscard]] const CmExchange* exchange_of(const dissect::IpAddress& address, std::uint32_t qpn) const;

  /// Upper-layer protocol of the packet's destination queue pair; of REP and REJ the one their REQ requested.
  [[nodiscard]] dissect::Ulp ulp_of(dissect::Bytes frame, const dissect::Dissection& dissection) const;
  /// Upper-layer protocol of a queue pair at an address.
  [[nodiscard]] dissect::Ulp ulp_of(const dissect::IpAddress& address, std::uint32_t qpn) const;

  /// Permanent number of an exchange, from 0 in the order of first messages.
  [[nodiscard]] std::uint32_t index_of(const CmExchange& exchange) const noexcept { return exchange.number; }
  /// Index of the exchange of this number in take_exchanges(), where dropped ones are missing; absent if it
  /// was dropped.
  [[nodiscard]] std::optional<std::uint32_t> place_of(std::uint32_t number) const noexcept;
  /// All exchanges that are kept, by number. The tracker is empty afterwards.
  [[nodiscard]] std::vector<CmExchange> take_exchanges();
  /// Number of exchanges that were dropped.
  [[nodiscard]] std::uint64_t forgotten() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::analyze
