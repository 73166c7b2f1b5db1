// SPDX-License-Identifier: Apache-2.0
#include "analyze/story/joined_errors.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/connection/find_connection.hpp"
#include "analyze/errors/completion_status.hpp"
#include "analyze/findings/shared/texts.hpp"
#include "analyze/story/story_parts.hpp"

namespace roce::analyze {
namespace {

constexpr std::size_t kept_matches = 8;

/// What of an error a side of a connection has: 0 if something contradicts.
enum Likeness : unsigned { contradicts = 0, addresses_only = 1, queue_pair = 2 };

/// Whether a known value is another one. `matched` is set if it is the same.
template <class Value>
bool differs(const std::optional<Value>& logged, const std::optional<Value>& seen, bool& matched) {
  if (!logged || !seen) return false;
  matched = matched || *logged == *seen;
  return *logged != *seen;
}

Likeness likeness(const Connection& connection, unsigned side, const LoggedError& error) {
  const Endpoint& own = connection.ends[side];
  const Endpoint& peer = connection.ends[1 - side];
  bool by_number = false, by_address = false;
  if (differs(error.local_qp, own.qp, by_number) || differs(error.remote_qp, peer.qp, by_number))
    return contradicts;
  if (differs(error.local, std::optional(own.address), by_address)) return contradicts;
  if (differs(error.remote, std::optional(peer.address), by_address)) return contradicts;
  if (by_number) return queue_pair;
  // A number that the capture does not show, because that direction is missing, is not contradicted by it.
  return by_address ? addresses_only : contradicts;
}

/// The connection had begun when the error was logged.
bool had_begun(const Connection& connection, const LoggedError& error) {
  constexpr std::int64_t slack_ns = 1'000'000'000;  // of two clocks
  if (!error.time_ns || !error.zone_known || connection.first_time_ns == capture::no_time) return true;
  return span_ns(*error.time_ns, connection.first_time_ns) < slack_ns;
}

using Candidates = std::vector<ErrorMatch>;

template <class Test>
void keep_those(Candidates& candidates, Test test) {
  if (std::any_of(candidates.begin(), candidates.end(), test))
    std::erase_if(candidates, [&](const ErrorMatch& each) { return !test(each); });
}

/// Those that have what the log names; `by_number`: one has the queue pair.
Candidates candidates_of(const Snapshot& snapshot, const LoggedError& error, bool& by_number) {
  Candidates candidates;
  std::vector<Likeness> how;
  for (const Connection& connection : snapshot.connections) {
    for (const std::uint8_t side : {std::uint8_t{0}, std::uint8_t{1}}) {
      const Likeness alike = likeness(connection, side, error);
      if (alike == contradicts) continue;
      candidates.push_back({connection.id, side, {}});
      how.push_back(alike);
    }
  }
  by_number = std::find(how.begin(), how.end(), queue_pair) != how.end();
  if (by_number) {
    std::size_t at = 0;
    std::erase_if(candidates, [&](const ErrorMatch&) { return how[at++] != queue_pair; });
  }
  return candidates;
}

/// Sides whose requests failed in just this way: what an error without names can be of.
Candidates failed_so(const Snapshot& snapshot, const LoggedError& error) {
  Candidates candidates;
  if (!error.status || *error.status == wc_flushed) return candidates;
  for (const Connection& connection : snapshot.connections) {
    if (connection.state != Connection::State::failed) continue;
    for (const std::uint8_t side : {std::uint8_t{0}, std::uint8_t{1}}) {
      if (wire_evidence_of(snapshot, connection, side, error).shown)
        candidates.push_back({connection.id, side, {}});
    }
  }
  return candidates;
}

std::string named_text(const LoggedError& error) {
  std::string text;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (error.local_qp) add(fmt::format("queue pair 0x{:06x}", *error.local_qp));
  if (error.local) add("at " + address_text(*error.local));
  if (error.remote_qp) add(fmt::format("peer queue pair 0x{:06x}", *error.remote_qp));
  if (error.remote) add("peer at " + address_text(*error.remote));
  return text;
}

std::string when_text(const Connection& connection, const LoggedError& error) {
  if (!error.time_ns || connection.last_time_ns == capture::no_time) return {};
  const std::int64_t after = span_ns(connection.last_time_ns, *error.time_ns);
  constexpr std::int64_t second = 1'000'000'000, day = 24 * 3600 * second;
  if (after < second || (!error.zone_known && after > day)) return {};
  return fmt::format(" (logged {} after its last packet{})", duration_text(after),
                     error.zone_known ? "" : ", if its clock shows UTC");
}

std::string match_text(const Snapshot& snapshot, const LoggedError& error, const ErrorMatch& match) {
  const Connection& connection = *find_connection(snapshot.connections, match.connection);
  const std::string of = endpoint_text(connection.ends[match.side]);
  return fmt::format("{} reports for {}: {}{}; on the wire: {}", log_program_words(error.program), of,
                     error_text(error), when_text(connection, error), match.evidence.text);
}

std::string text_of(const Snapshot& snapshot, const LoggedError& error, const JoinedError& joined) {
  const std::string what = fmt::format("{} reports {}", log_program_words(error.program), error_text(error));
  switch (joined.fit) {
    case Fit::fits:
      return match_text(snapshot, error, joined.matches.front());
    case Fit::may_fit: {
      const std::string first = match_text(snapshot, error, joined.matches.front());
      if (joined.candidates == 1) return "probably: " + first;
      return fmt::format("one of {} queue pairs, the first: {}", joined.candidates, first);
    }
    case Fit::not_here:
      return fmt::format("{}; nothing in this capture fits: {}", what, named_text(error));
    case Fit::names_nobody:
    case Fit::count_:
      break;
  }
  return fmt::format("{}, but neither a queue pair nor an address{}", what,
                     error.event.empty() ? ", and no queue pair here failed so" : "");
}

JoinedError join(const Snapshot& snapshot, const LoggedError& error) {
  JoinedError joined;
  bool by_number = false;
  Candidates candidates =
      error.names_somebody() ? candidates_of(snapshot, error, by_number) : failed_so(snapshot, error);
  for (ErrorMatch& match : candidates)
    match.evidence = wire_evidence_of(snapshot, *find_connection(snapshot.connections, match.connection),
                                      match.side, error);
  keep_those(candidates, [&](const ErrorMatch& match) {
    return had_begun(*find_connection(snapshot.connections, match.connection), error);
  });
  keep_those(candidates, [](const ErrorMatch& match) { return match.evidence.shown; });
  joined.candidates = candidates.size();
  if (candidates.empty()) {
    joined.fit = error.names_somebody() ? Fit::not_here : Fit::names_nobody;
  } else {
    const bool sure = candidates.size() == 1 &&
                      (by_number || (error.local && error.remote && candidates.front().evidence.shown));
    joined.fit = sure ? Fit::fits : Fit::may_fit;
  }
  if (candidates.size() > kept_matches) candidates.resize(kept_matches);
  joined.matches = std::move(candidates);
  joined.text = text_of(snapshot, error, joined);
  return joined;
}

}  // namespace

std::string error_text(const LoggedError& error) {
  std::string text;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (error.status) add(completion_text(*error.status));
  if (!error.event.empty()) add(fmt::format("\"{}\"", error.event));
  if (error.vendor_error) {
    const bool of_mlx5 = error.program != LogProgram::bnxt_re && error.program != LogProgram::irdma;
    const bool says_more = of_mlx5 && status_of_mlx5_vendor(*error.vendor_error) != error.status;
    const std::string_view words = says_more ? mlx5_vendor_words(*error.vendor_error) : std::string_view();
    add(fmt::format("vendor error 0x{:x}{}", *error.vendor_error,
                    words.empty() ? std::string() : fmt::format(" (with mlx5: {})", words)));
  }
  if (text.empty()) text = "an error";
  if (!error.operation.empty()) text += " of " + error.operation;
  if (!error.device.empty()) text += " on " + error.device;
  if (error.times > 1) text += fmt::format(", {}", times_text(error.times));
  return text;
}

std::vector<JoinedError> join_errors(const Snapshot& snapshot, std::span<const ErrorLog> logs) {
  std::vector<JoinedError> all;
  for (std::size_t log = 0; log < logs.size(); ++log) {
    for (std::size_t i = 0; i < logs[log].errors.size(); ++i) {
      all.push_back(join(snapshot, logs[log].errors[i]));
      all.back().log = log;
      all.back().error = i;
    }
  }
  return all;
}

}  // namespace roce::analyze
