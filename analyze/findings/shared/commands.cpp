// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analyze/findings/shared/texts.hpp"

namespace roce::analyze {
namespace {

using By = Shown::By;
using Kind = Group::Kind;
/// A direction of a connection: its id and the side that sends, or that it is about.
using Direction = std::pair<std::uint32_t, unsigned>;
using Directions = std::set<Direction>;

constexpr std::string_view direction_names[] = {"a_to_b", "b_to_a"};

unsigned sender_of(const Case& c, const Shown& shown) noexcept {
  return shown.by == By::other ? 1 - c.side : c.side;
}

Directions directions_of(const Group& group, const Shown& shown) {
  Directions all;
  for (const Case& c : group.cases) all.emplace(c.connection->id, sender_of(c, shown));
  return all;
}

/// A part of the capture that a filter can name.
struct Scope {
  std::string test;                          ///< empty: all of it
  std::optional<unsigned> direction;         ///< only what goes from this side
  std::set<std::uint32_t> connections;       ///< empty: of any connection
  const dissect::IpAddress* from = nullptr;  ///< null: any
  const dissect::IpAddress* to = nullptr;
  bool both_ways = false;  ///< from and to may be exchanged

  [[nodiscard]] bool holds(const Connection& c, unsigned sender) const {
    if (direction && *direction != sender) return false;
    if (!connections.empty()) return connections.count(c.id) != 0;
    const auto lies = [&](unsigned side) {
      return (from == nullptr || c.ends[side].address == *from) &&
             (to == nullptr || c.ends[1 - side].address == *to);
    };
    return lies(sender) || (both_ways && lies(1 - sender));
  }
};

/// Whether the scope has no direction with such packets besides the wanted ones, all of which it contains.
bool is_exact(const Snapshot& snapshot, const Shown& shown, const Scope& scope, const Directions& wanted) {
  return std::all_of(snapshot.connections.begin(), snapshot.connections.end(), [&](const Connection& c) {
    for (unsigned sender = 0; sender < 2; ++sender) {
      if (scope.holds(c, sender) && shown.packets(c, sender) != 0 && wanted.count({c.id, sender}) == 0)
        return false;
    }
    return true;
  });
}

std::string direction_test(const Shown& shown, unsigned direction) {
  return fmt::format("{} == {}", shown.by == By::either ? shown.whose : "roce.direction",
                     direction_names[direction]);
}

std::optional<Scope> scope_of_connections(const Group& group, const Shown& shown, const Directions& wanted) {
  constexpr std::size_t listed = 12;
  Scope scope;
  for (const auto& [id, sender] : wanted) scope.connections.insert(id);
  if (scope.connections.size() > listed) return std::nullopt;
  std::string ids;
  for (const std::uint32_t id : scope.connections) ids += (ids.empty() ? "" : ", ") + std::to_string(id);
  scope.test = scope.connections.size() == 1 ? "roce.connection == " + ids
                                             : fmt::format("roce.connection in {{{}}}", ids);
  // Only where the other direction has such packets too.
  const bool others = std::any_of(group.cases.begin(), group.cases.end(), [&](const Case& c) {
    const unsigned back = 1 - sender_of(c, shown);
    return shown.packets(*c.connection, back) != 0 && wanted.count({c.connection->id, back}) == 0;
  });
  if (!others) return scope;
  const unsigned direction = wanted.begin()->second;
  const bool one_way = std::all_of(wanted.begin(), wanted.end(),
                                   [&](const Direction& each) { return each.second == direction; });
  if (!one_way || (shown.by == By::either && shown.whose.empty())) return std::nullopt;
  scope.direction = direction;
  scope.test += " && " + direction_test(shown, direction);
  return scope;
}

Scope scope_of_addresses(const Snapshot& snapshot, const Group& group, const Shown& shown) {
  const Case& first = group.first();
  Scope scope;
  const dissect::IpAddress* from = &first.from().address;
  const dissect::IpAddress* to = &first.to().address;
  if (group.kind != Kind::pair && group.kind != Kind::from_host) from = nullptr;
  if (group.kind != Kind::pair && group.kind != Kind::to_host) to = nullptr;
  if (shown.by == By::other) std::swap(from, to);
  scope.from = from;
  scope.to = to;
  scope.both_ways = shown.by == By::either;
  // Packets without a connection may pass as well.
  const bool strangers = std::any_of(snapshot.flows.begin(), snapshot.flows.end(),
                                     [](const Flow& flow) { return !flow.connection; });
  if (strangers) scope.test = "roce.connection";
  const auto add = [&](std::string_view field, const dissect::IpAddress* address) {
    if (address == nullptr) return;
    scope.test += fmt::format("{}{} == {}", scope.test.empty() ? "" : " && ",
                              scope.both_ways ? "roce.addr" : field, address_text(*address));
  };
  add("roce.src", from);
  add("roce.dst", to);
  return scope;
}

/// The parts of the test that exclude packets that are not counted.
std::string exceptions(const Snapshot& snapshot, const Shown& shown, const Scope& scope) {
  bool by_capture = false;
  bool by_network = false;
  bool damaged = false;
  for (const Connection& c : snapshot.connections) {
    for (unsigned sender = 0; sender < 2; ++sender) {
      if (shown.by != By::either && !scope.holds(c, sender)) continue;
      const Events& sent = c.sent[sender];
      by_capture |= shown.copies_pass && sent.count(Event::duplicate_capture) != 0;
      by_network |= shown.copies_pass && sent.count(Event::duplicate_network) != 0;
      // If all are wrong, the capture is at fault, and they are counted.
      const std::uint64_t wrong = sent.count(Event::icrc_mismatch);
      damaged |= shown.damaged_pass && wrong != 0 && wrong < c.packets[sender];
    }
  }
  std::string text;
  if (by_capture) text += " && !roce.analysis.duplicate_capture";
  if (by_network) text += " && !roce.analysis.duplicate_network";
  if (damaged) text += " && !(roce.icrc.status == mismatch)";
  return text;
}

std::string joined(const Scope& scope, const Shown& shown, const std::string& except) {
  const bool alternatives = shown.test.find(" || ") != std::string::npos;
  const bool alone = scope.test.empty() && except.empty();
  std::string text = scope.test + (scope.test.empty() ? "" : " && ");
  text += alternatives && !alone ? "(" + shown.test + ")" : shown.test;
  return text + except;
}

struct Found {
  std::string test;
  std::uint64_t packets = 0;
  bool exact = true;
};

Found find_test(const Snapshot& snapshot, const Group& group, const Shown& shown) {
  const Directions wanted = directions_of(group, shown);
  Found found;
  for (const Connection& c : snapshot.connections) {
    for (unsigned sender = 0; sender < 2; ++sender) {
      if (wanted.count({c.id, sender}) != 0) found.packets += shown.packets(c, sender);
    }
  }
  Scope scope;
  if (group.single()) {
    const std::optional<Scope> narrow = scope_of_connections(group, shown, wanted);
    found.exact = narrow.has_value();
    scope = narrow.value_or(Scope{});
    if (!narrow) scope.test = fmt::format("roce.connection == {}", group.first().connection->id);
  } else {
    scope = scope_of_addresses(snapshot, group, shown);
    if (!is_exact(snapshot, shown, scope, wanted)) {
      const std::optional<Scope> narrow = scope_of_connections(group, shown, wanted);
      found.exact = narrow.has_value();
      if (narrow) scope = *narrow;
    }
  }
  found.test = joined(scope, shown, exceptions(snapshot, shown, scope));
  return found;
}

/// In single quotes, as a POSIX shell reads it.
std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

}  // namespace

Shown shown_by_flag(std::string_view test, Event event, By by) {
  Shown shown;
  shown.test = test;
  shown.by = by;
  shown.packets = [event, by](const Connection& c, unsigned sender) {
    return c.sent[by == By::other ? 1 - sender : sender].count(event);
  };
  return shown;
}

Shown shown_by_repeats() {
  Shown shown;
  shown.test = "roce.analysis.retransmission";
  shown.packets = [](const Connection& c, unsigned sender) { return repeats_of(c.sent[sender]); };
  shown.copies_pass = true;
  return shown;
}

Shown shown_by_answers(std::string_view test, Event event) {
  Shown shown;
  shown.test = test;
  shown.by = By::other;
  shown.packets = [event](const Connection& c, unsigned sender) { return c.sent[sender].count(event); };
  shown.copies_pass = true;
  shown.damaged_pass = true;
  return shown;
}

std::string show_command(const Snapshot& snapshot, const Group& group, std::string_view what,
                         const Shown& shown) {
  const Found found = find_test(snapshot, group, shown);
  if (found.exact) return show_command(snapshot, what, found.packets, group.count(), found.test);
  return fmt::format("{}, among those of other connections: {}", what, packets_command(snapshot, found.test));
}

std::string show_losses(const Snapshot& snapshot, const Group& group, const Shown& shown, Event event) {
  const Found found = find_test(snapshot, group, shown);
  const bool several = std::any_of(group.cases.begin(), group.cases.end(), [&](const Case& c) {
    const EventLog* log = c.sent().find(event);
    return log != nullptr && log->several_at_once;
  });
  return fmt::format("The packets that show {}{}: {}",
                     several              ? "them, some of them more than one"
                     : group.count() == 1 ? "it"
                                          : "them",
                     found.exact ? "" : ", among those of other connections",
                     packets_command(snapshot, found.test));
}

std::string show_command(const Snapshot& snapshot, std::string_view what, std::uint64_t packets,
                         std::uint64_t figure, std::string_view test) {
  const std::string number = packets == figure ? std::string() : fmt::format(" ({})", packets);
  return fmt::format("{}{}: {}", what, number, packets_command(snapshot, test));
}

std::string packets_command(const Snapshot& snapshot, std::string_view test) {
  std::string filter(test);
  if (!snapshot.filter.empty()) {
    const bool alternatives =
        filter.find(" || ") != std::string::npos || filter.find(" or ") != std::string::npos;
    filter = fmt::format("({}) && {}", snapshot.filter, alternatives ? "(" + filter + ")" : filter);
  }
  return fmt::format("roceanalyze packets FILE{} -Y {}", snapshot.same_packets, quoted(filter));
}

std::string without_copies(const Snapshot& snapshot, std::string test) {
  bool by_capture = false;
  bool by_network = false;
  for (const Flow& flow : snapshot.flows) {
    by_capture |= flow.sequence().duplicate_captures != 0;
    by_network |= flow.sequence().duplicate_network != 0;
  }
  if (by_capture) test += " && !roce.analysis.duplicate_capture";
  if (by_network) test += " && !roce.analysis.duplicate_network";
  return test;
}

}  // namespace roce::analyze
