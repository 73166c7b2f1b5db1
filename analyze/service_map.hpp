// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "dissect/cm.hpp"
#include "dissect/dissection.hpp"
#include "dissect/types.hpp"
#include "dissect/ulp.hpp"

namespace roce::analyze {

/// Which upper-layer protocol a queue pair carries, as the CM exchange that made it says. Bounded:
/// the oldest entries are forgotten first. Not thread-safe.
class ServiceMap {
 public:
  explicit ServiceMap(std::size_t limit = 64 * 1024);
  ServiceMap(ServiceMap&&) noexcept;
  ServiceMap& operator=(ServiceMap&&) noexcept;
  ~ServiceMap();

  /// Looks at every packet that may be a CM message; cheap for all others. `frame` is what was dissected.
  void learn(dissect::Bytes frame, const dissect::Dissection& dissection);

  /// What the packet's destination queue pair carries; for REP and REJ what their REQ asked for.
  [[nodiscard]] dissect::Ulp of(dissect::Bytes frame, const dissect::Dissection& dissection) const;
  /// What a queue pair at an address carries.
  [[nodiscard]] dissect::Ulp of(const dissect::IpAddress& address, std::uint32_t qpn) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::analyze
