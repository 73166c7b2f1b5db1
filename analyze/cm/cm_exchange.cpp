// SPDX-License-Identifier: Apache-2.0
#include "analyze/cm/cm_exchange.hpp"

#include <iterator>

#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

std::optional<std::uint64_t> span_of(const CmSeen& from, const CmSeen& to) noexcept {
  if (!from || !to || from.time_ns == capture::no_time || to.time_ns == capture::no_time) return std::nullopt;
  if (to.time_ns < from.time_ns) return std::nullopt;
  return static_cast<std::uint64_t>(to.time_ns) - static_cast<std::uint64_t>(from.time_ns);
}

}  // namespace

std::string_view cm_state_name(CmExchange::State state) noexcept {
  using enum CmExchange::State;
  static constexpr EnumNames<CmExchange::State, 5> names({{requested, "requested"},
                                                          {replied, "replied"},
                                                          {established, "established"},
                                                          {rejected, "rejected"},
                                                          {disconnected, "disconnected"}});
  return names[state];
}

bool unanswered(const CmExchange& x) noexcept {
  // A DREQ, DREP or RTU shows that there was a REP, captured or not.
  return x.req && !x.rep && !x.mra && !x.rtu && !x.dreq && !x.drep && !(x.rej && x.rejected_by_server);
}

bool retries_exhausted(const CmExchange& x) noexcept {
  return unanswered(x) && !x.sidr && x.req.count > x.max_cm_retries;
}

std::optional<std::uint64_t> connect_time_ns(const CmExchange& x) noexcept {
  return span_of(x.req, x.rtu ? x.rtu : x.rep);
}

std::optional<std::uint64_t> answer_time_ns(const CmExchange& x) noexcept {
  if (x.rep) return span_of(x.req, x.rep);
  return x.rejected_by_server ? span_of(x.req, x.rej) : std::nullopt;
}

std::optional<std::uint64_t> ready_time_ns(const CmExchange& x) noexcept {
  return span_of(x.rep, x.rtu);
}

}  // namespace roce::analyze
