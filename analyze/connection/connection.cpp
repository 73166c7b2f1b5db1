// SPDX-License-Identifier: Apache-2.0
#include "analyze/connection/connection.hpp"

#include <iterator>

namespace roce::analyze {
namespace {

constexpr std::string_view evidence_names[] = {"cm", "udp_source_port", "answers", "nak", "cnp", "msn"};
static_assert(std::size(evidence_names) == evidence_count);

constexpr std::string_view kind_names[] = {"send", "write", "read", "atomic", "flush", "atomic_write"};
static_assert(std::size(kind_names) == operation_kind_count);

constexpr std::string_view state_names[] = {"half_seen", "open", "closed", "failed"};
static_assert(std::size(state_names) == static_cast<std::size_t>(Connection::State::failed) + 1);

}  // namespace

std::string_view evidence_name(Evidence evidence) noexcept {
  const auto i = static_cast<std::size_t>(evidence);
  return i < evidence_count ? evidence_names[i] : std::string_view{};
}

std::string_view operation_kind_name(OperationKind kind) noexcept {
  const auto i = static_cast<std::size_t>(kind);
  return i < operation_kind_count ? kind_names[i] : std::string_view{};
}

std::string_view connection_state_name(Connection::State state) noexcept {
  const auto i = static_cast<std::size_t>(state);
  return i < std::size(state_names) ? state_names[i] : std::string_view{};
}

const OperationStats* Requester::operation(OperationKind kind) const noexcept {
  for (const OperationStats& stats : operations) {
    if (stats.kind == kind) return &stats;
  }
  return nullptr;
}

}  // namespace roce::analyze
