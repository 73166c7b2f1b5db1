// SPDX-License-Identifier: Apache-2.0
#include "analyze/connection/connection.hpp"

#include <utility>

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

std::uint32_t least_retries(const CmExchange* exchange) noexcept {
  return exchange != nullptr && exchange->retry_count ? *exchange->retry_count : 2;
}

void settle_retries(Connection& connection, const CmExchange* exchange) {
  bool failed = false;
  for (unsigned side = 0; side < 2; ++side) {
    Requester& requester = connection.requester[side];
    const RetryChain& chain = std::as_const(requester).trouble->worst_chain;
    if (requester.retries_exhausted && chain.resends < least_retries(exchange)) {
      requester.retries_exhausted = false;
      connection.sent[side].take_back(Event::retries_exhausted, chain.last_frame);
    }
    failed = failed || requester.retries_exhausted || requester.rnr_exhausted || requester.refused_fatally;
  }
  if (connection.state == Connection::State::failed && !failed)
    connection.state = connection.paired() ? Connection::State::open : Connection::State::half_seen;
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
