// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "capture/core/frame.hpp"

namespace roce::analyze {
namespace {

using Kind = Group::Kind;

constexpr struct {
  Event event;
  std::string_view words;
} causes[] = {
    {Event::retransmitted_nak, "after a sequence NAK"},
    {Event::retransmitted_timeout, "after a timeout"},
    {Event::retransmitted_rnr, "after an RNR NAK"},
    {Event::retransmitted_read_retry, "for a READ retry"},
    {Event::retransmitted_unknown, "for a reason not captured"},
};

std::string connections_text(const Group& group) {
  return plural(group.connections, "connection", "connections");
}

}  // namespace

std::string endpoint_text(const Endpoint& endpoint) {
  return endpoint.qp ? fmt::format("{} QP 0x{:06x}", address_text(endpoint.address), *endpoint.qp)
                     : address_text(endpoint.address) + " QP ?";
}

std::string ends_text(const Connection& connection, unsigned side) {
  return endpoint_text(connection.ends[side]) + " > " + endpoint_text(connection.ends[1 - side]);
}

std::string subject_text(const Group& group) {
  const Case& first = group.first();
  const std::string connections = connections_text(group);
  switch (group.kind) {
    case Kind::connection:
      return ends_text(*first.connection, first.side);
    case Kind::pair:
      return fmt::format("{} > {} ({})", address_text(first.from().address), address_text(first.to().address),
                         connections);
    case Kind::from_host:
      return fmt::format("{} > {} hosts ({})", address_text(first.from().address), group.pairs, connections);
    case Kind::to_host:
      return fmt::format("{} hosts > {} ({})", group.pairs, address_text(first.to().address), connections);
    case Kind::several:
      break;
  }
  return fmt::format("{} of {}", connections, plural(group.pairs, "pair of hosts", "pairs of hosts"));
}

std::string scope_text(const Group& group) {
  const Case& first = group.first();
  const std::string connections = connections_text(group);
  switch (group.kind) {
    case Kind::connection:
      return {};
    case Kind::pair:
      return fmt::format("In {} from {} to {}: ", connections, address_text(first.from().address),
                         address_text(first.to().address));
    case Kind::from_host:
      return fmt::format("In {} from {} to {} hosts: ", connections, address_text(first.from().address),
                         group.pairs);
    case Kind::to_host:
      return fmt::format("In {} from {} hosts to {}: ", connections, group.pairs,
                         address_text(first.to().address));
    case Kind::several:
      break;
  }
  return fmt::format("In {} of {}: ", connections, plural(group.pairs, "pair of hosts", "pairs of hosts"));
}

std::string worst_text(const Group& group) {
  if (group.single()) return {};
  const Case& worst = group.worst();
  return fmt::format(" Most in connection {} ({}): {}.", worst.connection->id,
                     ends_text(*worst.connection, worst.side), worst.proof.count);
}

std::string from_text(const Group& group) {
  return group.one_sender() ? address_text(group.first().from().address) : std::string("the senders");
}

std::string to_text(const Group& group) {
  return group.one_receiver() ? address_text(group.first().to().address) : std::string("the receivers");
}

std::string wait_text(std::uint64_t nanoseconds) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return duration_text(static_cast<std::int64_t>(std::min(nanoseconds, most)));
}

std::string times_text(std::uint64_t n) {
  return n == 1 ? "once" : n == 2 ? "twice" : fmt::format("{} times", n);
}

std::string share_text(std::uint64_t part, std::uint64_t whole, std::string_view what) {
  if (whole == 0) return fmt::format("{} {}", part, what);
  return fmt::format("{} of {} {} ({})", part, whole, what, percent_text(part, whole));
}

std::string goodput_text(const Group& group) {
  std::uint64_t good = 0;
  std::uint64_t wire = 0;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  const Connection* before = nullptr;  // the two directions of one connection may both be cases
  for (const Case& c : group.cases) {
    if (c.connection == before) continue;
    before = c.connection;
    if (c.connection->left_out[0] + c.connection->left_out[1] != 0) return {};  // a part proves nothing
    good += new_bytes_of(*c.connection);
    wire += c.connection->bytes[0] + c.connection->bytes[1];
    if (c.connection->first_time_ns == capture::no_time) continue;
    first_ns = std::min(first_ns, c.connection->first_time_ns);
    last_ns = std::max(last_ns, c.connection->last_time_ns);
  }
  // Atomics move no message bytes.
  if (good == 0 || good > wire || last_ns <= first_ns) return {};
  return fmt::format(" Goodput {}, on the wire {} ({}).", rate_text(mean_rate_bps(good, first_ns, last_ns)),
                     rate_text(mean_rate_bps(wire, first_ns, last_ns)), percent_text(good, wire));
}

std::string repeats_text(const Group& group) {
  std::string text;
  const std::uint64_t all = group.sum([](const Case& c) { return repeats_of(c.sent()); });
  for (const auto& cause : causes) {
    const std::uint64_t n = group.sum([&](const Case& c) { return c.sent().count(cause.event); });
    if (n == 0) continue;
    if (n == all) return n == 1 ? std::string(cause.words) : fmt::format("all {}", cause.words);
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", n, cause.words);
  }
  return text;
}

std::uint64_t repeats_of(const Events& sent) noexcept {
  std::uint64_t sum = 0;
  for (const auto& cause : causes) sum += sent.count(cause.event);
  return sum;
}

std::uint64_t new_bytes_of(const Connection& connection) noexcept {
  return connection.requester[0].new_bytes + connection.requester[1].new_bytes;
}

unsigned timeout_code_of(std::uint64_t spacing_ns) noexcept {
  constexpr unsigned last = 31;
  unsigned code = 0;
  // Halfway between two powers in the geometric sense: spacing / base > sqrt(2).
  while (code<last&& static_cast<double>(spacing_ns)> 1.414 *
         static_cast<double>(std::uint64_t{4096} << code))
    ++code;
  return code;
}

const CmExchange* exchange_of(const Snapshot& snapshot, const Connection& connection) noexcept {
  if (!connection.cm || *connection.cm >= snapshot.exchanges.size()) return nullptr;
  return &snapshot.exchanges[*connection.cm];
}

}  // namespace roce::analyze
