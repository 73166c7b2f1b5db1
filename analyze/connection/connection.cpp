// SPDX-License-Identifier: Apache-2.0
#include "analyze/connection/connection.hpp"

#include "analyze/base/units.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

constexpr EnumNames<Evidence, evidence_count> evidence_names({{Evidence::cm, "cm"},
                                                              {Evidence::udp_source_port, "udp_source_port"},
                                                              {Evidence::answers, "answers"},
                                                              {Evidence::nak, "nak"},
                                                              {Evidence::cnp, "cnp"},
                                                              {Evidence::msn, "msn"}});

constexpr EnumNames<OperationKind, operation_kind_count> kind_names({{OperationKind::send, "send"},
                                                                     {OperationKind::write, "write"},
                                                                     {OperationKind::read, "read"},
                                                                     {OperationKind::atomic, "atomic"},
                                                                     {OperationKind::flush, "flush"},
                                                                     {OperationKind::atomic_write,
                                                                      "atomic_write"}});

constexpr EnumNames<Connection::State, 4> state_names({{Connection::State::half_seen, "half_seen"},
                                                       {Connection::State::open, "open"},
                                                       {Connection::State::closed, "closed"},
                                                       {Connection::State::failed, "failed"}});

}  // namespace

bool RetryChain::longer_than(const RetryChain& other) const noexcept {
  if (resends != other.resends) return resends > other.resends;
  return span_ns(first_time_ns, last_time_ns) > span_ns(other.first_time_ns, other.last_time_ns);
}

std::string_view evidence_name(Evidence evidence) noexcept {
  return evidence_names[evidence];
}

std::string_view nak_kind_name(NakKind kind) noexcept {
  using enum NakKind;
  static constexpr EnumNames<NakKind, nak_kind_count> names(
      {{sequence_error, "sequence_error"},
       {invalid_request, "invalid_request"},
       {remote_access_error, "remote_access_error"},
       {remote_operational_error, "remote_operational_error"},
       {invalid_rd_request, "invalid_rd_request"},
       {rnr, "rnr"}});
  return names[kind];
}

std::string_view operation_kind_name(OperationKind kind) noexcept {
  return kind_names[kind];
}

std::uint32_t least_retries(const Connection& connection) noexcept {
  return connection.retry_count.value_or(2);
}

std::string_view connection_state_name(Connection::State state) noexcept {
  return state_names[state];
}

const OperationStats* Requester::operation(OperationKind kind) const noexcept {
  for (const OperationStats& stats : operations) {
    if (stats.kind == kind) return &stats;
  }
  return nullptr;
}

}  // namespace roce::analyze
