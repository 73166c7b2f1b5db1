// SPDX-License-Identifier: Apache-2.0
// What is wrong here, said once: one trouble with its cause, its place, what it costs and what would decide
// what the capture leaves open. Findings and incidents are the evidence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/results/finding.hpp"
#include "dissect/enum_names.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

struct Snapshot;

/// By what it did to the traffic; the values of `severity`.
enum class Consequence : std::uint8_t {
  odd,       ///< not as it should be, without harm in this capture
  degraded,  ///< time or bandwidth was lost
  fatal,     ///< a queue pair ended, a request or a connection was refused
};
inline constexpr EnumNames<Consequence, 3> consequence_names({{Consequence::odd, "odd"},
                                                              {Consequence::degraded, "degraded"},
                                                              {Consequence::fatal, "fatal"}});
/// The severity of findings that is shown alike: with the same colour and sign.
[[nodiscard]] constexpr Severity severity_like(Consequence consequence) noexcept {
  return consequence == Consequence::fatal      ? Severity::error
         : consequence == Consequence::degraded ? Severity::warning
                                                : Severity::notice;
}

/// On what a diagnosis holds as a whole, the narrowest first; the values of `place.level`.
enum class Level : std::uint8_t {
  connection,  ///< one connection, in one direction
  direction,   ///< all or several queue pairs from one host to another
  host,        ///< one host, with several others
  port,        ///< a port of a switch or NIC, by its MAC address
  capture,     ///< several hosts without one in common, or everything
  count_
};
inline constexpr std::size_t level_count = static_cast<std::size_t>(Level::count_);
inline constexpr EnumNames<Level, level_count> level_names({{Level::connection, "connection"},
                                                            {Level::direction, "direction"},
                                                            {Level::host, "host"},
                                                            {Level::port, "port"},
                                                            {Level::capture, "capture"}});

/// Where it happened on the way of the packets that it hit, seen from the capture point; the values of
/// `place.seen`.
enum class Whereabouts : std::uint8_t {
  not_known,
  upstream,        ///< between their sender and the capture point
  downstream,      ///< between the capture point and their receiver
  between_points,  ///< between two capture points
  responder,       ///< in the host that answers
  count_
};
inline constexpr std::size_t whereabouts_count = static_cast<std::size_t>(Whereabouts::count_);
inline constexpr EnumNames<Whereabouts, whereabouts_count> whereabouts_names(
    {{Whereabouts::not_known, "not_known"},
     {Whereabouts::upstream, "upstream"},
     {Whereabouts::downstream, "downstream"},
     {Whereabouts::between_points, "between_points"},
     {Whereabouts::responder, "responder"}});

/// How losses are spread; the values of `kind`.
enum class Pattern : std::uint8_t {
  none,      ///< nothing is known, or it is no loss
  single,    ///< single packets, now and then
  bursts,    ///< several in a row: a queue that was full
  periodic,  ///< at even intervals
  outage,    ///< everything for a while
  by_class,  ///< of one DSCP only, while others lose none
  by_path,   ///< of one UDP source port only
  by_size,   ///< nothing from a size on gets through, while smaller packets do: a smaller MTU on the way
  count_
};
inline constexpr std::size_t pattern_count = static_cast<std::size_t>(Pattern::count_);
inline constexpr EnumNames<Pattern, pattern_count> pattern_names({{Pattern::none, ""},
                                                                  {Pattern::single, "single"},
                                                                  {Pattern::bursts, "bursts"},
                                                                  {Pattern::periodic, "periodic"},
                                                                  {Pattern::outage, "outage"},
                                                                  {Pattern::by_class, "by_class"},
                                                                  {Pattern::by_path, "by_path"},
                                                                  {Pattern::by_size, "by_size"}});

/// What it cost, over all connections.
struct Cost {
  std::uint64_t repeated_packets = 0;
  std::uint64_t repeated_bytes = 0;     ///< on the wire
  std::uint64_t discarded_packets = 0;  ///< by receivers, at most
  std::int64_t stalled_ns = 0;          ///< without goodput, summed up over connections
  std::int64_t recovery_median_ns = 0;  ///< of its incidents; 0: not known
  std::int64_t recovery_longest_ns = 0;
  std::uint64_t failed = 0;  ///< connections that ended by it
};

/// One trouble. A plain value; `cause` is a view of a literal.
struct Diagnosis {
  std::string_view cause;  ///< snake_case, stable: the id of its row in analyze/diagnosis/root_causes.hpp
  Consequence severity = Consequence::odd;
  std::string sentence;  ///< what is wrong, where and how much, as it would stand in a ticket

  Level level = Level::capture;
  std::optional<dissect::IpAddress> from;  ///< the sender of the packets that it hit; none: several
  std::optional<dissect::IpAddress> to;    ///< their receiver
  std::optional<dissect::IpAddress> host;  ///< at Level::host the one that all have in common
  std::string subject;                     ///< the same in words
  Whereabouts seen = Whereabouts::not_known;
  Pattern pattern = Pattern::none;

  std::uint64_t at_least = 0;            ///< of what, the sentence says: packets lost, NAKs, queue pairs
  std::optional<std::uint64_t> at_most;  ///< none: as many as `at_least`, or nobody knows
  std::uint64_t of = 0;                  ///< packets that `at_least` is a part of; 0: nothing
  std::optional<std::int64_t> since_ns;  ///< ns since the epoch
  std::optional<std::int64_t> until_ns;
  Cost cost;
  double confidence = 1;  ///< 0..1

  std::vector<std::string> facts;         ///< what is known beyond the sentence: whole sentences
  std::vector<std::string> alternatives;  ///< what the capture cannot exclude
  std::string would_decide;               ///< which capture or counter would decide between them
  std::string advice;                     ///< what to do, with commands; may be empty
  std::vector<std::string> commands;      ///< that show it, with FILE for the capture

  std::vector<std::size_t> findings;       ///< its evidence: indices of Snapshot::findings
  std::vector<std::uint32_t> incidents;    ///< ids of the first few
  std::uint64_t incident_count = 0;        ///< of all
  std::vector<std::uint32_t> connections;  ///< ids of the first few
  std::uint64_t connection_count = 0;
  std::vector<std::uint64_t> packets;  ///< numbers of the first few that show it
};

/// Diagnoses of a snapshot whose other parts are complete: fills Snapshot::diagnoses, worst first.
void diagnose(Snapshot& snapshot);

/// What every output begins with: the worst diagnosis of a snapshot; null: none.
[[nodiscard]] const Diagnosis* worst_diagnosis(const Snapshot& snapshot) noexcept;

// What outputs say of a diagnosis below its sentence, in this order. Empty where there is nothing to say.
/// The subject, unless the sentence begins with it.
[[nodiscard]] std::string_view subject_text(const Diagnosis& diagnosis) noexcept;
/// The facts in a row.
[[nodiscard]] std::string facts_text(const Diagnosis& diagnosis);
/// "Not ruled out: dropped by 10.0.0.1 itself before it was on the wire."
[[nodiscard]] std::string not_excluded_text(const Diagnosis& diagnosis);
/// "To confirm: a capture at 10.0.0.1, compared with this one."
[[nodiscard]] std::string would_decide_text(const Diagnosis& diagnosis);
/// The confidence where it is worth mentioning; 1: sure enough.
[[nodiscard]] double doubt(const Diagnosis& diagnosis) noexcept;

/// Findings of one rule among the evidence of a diagnosis.
struct EvidenceOfRule {
  std::string_view id;
  std::uint64_t count = 0;
};
[[nodiscard]] std::vector<EvidenceOfRule> evidence_by_rule(const Snapshot& snapshot,
                                                           const Diagnosis& diagnosis);
/// The host on whose side a trouble lies: the one that all have in common, the sender of what was hit
/// upstream of the capture point, else the receiver, which answers late or not at all. None between two
/// capture points, and where several hosts have nothing in common.
[[nodiscard]] std::optional<dissect::IpAddress> blamed_host(const Diagnosis& diagnosis) noexcept;
/// "Evidence: loss_after_capture, go_back_n_storm"
[[nodiscard]] std::string evidence_text(const Snapshot& snapshot, const Diagnosis& diagnosis);

/// By finding: the first diagnosis that it is evidence of; null: none.
[[nodiscard]] std::vector<const Diagnosis*> diagnoses_of_findings(const Snapshot& snapshot);

}  // namespace roce::analyze
