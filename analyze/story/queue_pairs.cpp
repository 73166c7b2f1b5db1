// SPDX-License-Identifier: Apache-2.0
#include "analyze/story/queue_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"

namespace roce::analyze {
namespace {

/// A queue pair number that the capture shows, with its address.
struct SeenQueuePair {
  std::uint32_t number;
  dissect::IpAddress address;
  bool datagrams = false;  ///< UD: no connection

  auto operator<=>(const SeenQueuePair&) const noexcept = default;
};

std::vector<SeenQueuePair> queue_pairs_seen(const Snapshot& snapshot) {
  constexpr std::uint32_t cm = 1;
  std::vector<SeenQueuePair> all;
  for (const Connection& connection : snapshot.connections) {
    for (const Endpoint& end : connection.ends) {
      if (end.qp) all.push_back({*end.qp, end.address});
    }
  }
  for (const CmExchange& exchange : snapshot.exchanges) {
    if (exchange.client_qpn) all.push_back({*exchange.client_qpn, exchange.client});
    if (exchange.server_qpn) all.push_back({*exchange.server_qpn, exchange.server});
  }
  for (const Flow& flow : snapshot.flows) {
    if (!flow.connection && flow.key.dst_qp > cm) all.push_back({flow.key.dst_qp, flow.key.dst, true});
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end(),
                        [](const SeenQueuePair& a, const SeenQueuePair& b) {
                          return a.number == b.number && a.address == b.address;
                        }),
            all.end());
  return all;
}

std::string seen_text(const SeenQueuePair& seen) {
  return fmt::format("0x{:06x} of {}{}", seen.number, address_text(seen.address),
                     seen.datagrams ? " (UD)" : "");
}

/// The number with its digits read in the other base: 0x94 for 94, and 94 for 0x94.
std::optional<std::uint32_t> in_other_base(std::uint32_t number, bool digits_are_hexadecimal) {
  const std::string digits = digits_are_hexadecimal ? fmt::format("{}", number) : fmt::format("{:x}", number);
  std::uint32_t other = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, other, digits_are_hexadecimal ? 16 : 10);
  return failure == std::errc() && stop == end ? std::optional(other) : std::nullopt;
}

const SeenQueuePair* with_number(const std::vector<SeenQueuePair>& all, std::uint32_t number) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const SeenQueuePair& seen) { return seen.number == number; });
  return found == all.end() ? nullptr : &*found;
}

std::string what_was_meant(const std::vector<SeenQueuePair>& all, std::uint32_t number) {
  for (const bool hexadecimal : {true, false}) {
    const auto other = in_other_base(number, hexadecimal);
    const SeenQueuePair* seen = other && *other != number ? with_number(all, *other) : nullptr;
    if (seen == nullptr) continue;
    return fmt::format("; did you mean {} ({} in decimal)?", seen_text(*seen), *other);
  }
  return {};
}

/// The nearest by number, so that a wrong digit shows.
std::string nearest_text(std::vector<SeenQueuePair> all, std::uint32_t number) {
  constexpr std::size_t most = 6;
  const auto distance = [&](const SeenQueuePair& seen) {
    return seen.number > number ? seen.number - number : number - seen.number;
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const SeenQueuePair& a, const SeenQueuePair& b) { return distance(a) < distance(b); });
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + seen_text(all[i]);
  if (all.size() > most) text += fmt::format(" and {} more", all.size() - most);
  return text;
}

bool is_at(const SoughtQueuePair& sought, const dissect::IpAddress& address) {
  return !sought.host || *sought.host == address;
}

}  // namespace

std::vector<QueuePair> find_queue_pairs(const Snapshot& snapshot, const SoughtQueuePair& sought) {
  std::vector<std::pair<std::uint64_t, QueuePair>> found;  // with the first packet
  std::vector<bool> connected(snapshot.exchanges.size(), false);
  for (const Connection& connection : snapshot.connections) {
    if (connection.cm && *connection.cm < connected.size()) connected[*connection.cm] = true;
    const auto fits = [&](unsigned side) {
      const Endpoint& end = connection.ends[side];
      return end.qp == sought.number && is_at(sought, end.address);
    };
    if (!fits(0) && !fits(1)) continue;
    QueuePair pair;
    pair.connection = connection.id;
    pair.side = fits(0) ? 0 : 1;
    pair.both = fits(0) && fits(1);
    found.emplace_back(connection.first_frame, pair);
  }
  for (std::uint32_t i = 0; i < snapshot.exchanges.size(); ++i) {
    const CmExchange& exchange = snapshot.exchanges[i];
    if (connected[i]) continue;
    const bool client = exchange.client_qpn == sought.number && is_at(sought, exchange.client);
    const bool server = exchange.server_qpn == sought.number && is_at(sought, exchange.server);
    if (!client && !server) continue;
    QueuePair pair;
    pair.exchange = i;
    pair.side = client ? 0 : 1;
    pair.both = client && server;
    found.emplace_back(exchange.req ? exchange.req.frame : exchange.dreq.frame, pair);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<QueuePair> pairs;
  for (const auto& [frame, pair] : found) pairs.push_back(pair);
  return pairs;
}

std::string not_found_text(const Snapshot& snapshot, const SoughtQueuePair& sought) {
  const std::vector<SeenQueuePair> all = queue_pairs_seen(snapshot);
  std::string text = fmt::format("no queue pair 0x{:x} ({})", sought.number, sought.number);
  if (sought.host) text += " of " + address_text(*sought.host);
  text += fmt::format(" in {}", packets_text(snapshot.totals.packets));
  if (all.empty()) return text + ", which show none at all";
  const SeenQueuePair* elsewhere = with_number(all, sought.number);
  if (elsewhere != nullptr && elsewhere->datagrams)
    return text + ": " + seen_text(*elsewhere) + " has datagrams only, and so no connection and no story";
  if (elsewhere != nullptr) return text + ", but " + seen_text(*elsewhere);
  text += what_was_meant(all, sought.number);
  if (snapshot.evicted_flows != 0)
    text += fmt::format("; {} are no longer listed", plural(snapshot.evicted_flows, "flow", "flows"));
  return text + "; there are " + nearest_text(all, sought.number);
}

}  // namespace roce::analyze
