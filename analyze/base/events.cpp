// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/events.hpp"

#include <algorithm>

#include "capture/core/frame.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

void keep_time(EventLog& log, std::int64_t time_ns) noexcept {
  if (time_ns == capture::no_time) return;
  if (log.first_time_ns == capture::no_time) log.first_time_ns = log.last_time_ns = time_ns;
  log.first_time_ns = std::min(log.first_time_ns, time_ns);
  log.last_time_ns = std::max(log.last_time_ns, time_ns);
}

using enum Event;
constexpr EnumNames<Event, event_count> event_names({
    {gap, "gap"},
    {lost_before_capture, "lost_before_capture"},
    {lost_after_capture, "lost_after_capture"},
    {lost_by_capture, "lost_by_capture"},
    {lost_trimmed, "lost_trimmed"},
    {lost_undecided, "lost_undecided"},
    {lost_between_points, "lost_between_points"},
    {retransmitted_nak, "retransmitted_nak"},
    {retransmitted_timeout, "retransmitted_timeout"},
    {retransmitted_rnr, "retransmitted_rnr"},
    {retransmitted_read_retry, "retransmitted_read_retry"},
    {retransmitted_unknown, "retransmitted_unknown"},
    {response_repeated, "response_repeated"},
    {spurious, "spurious"},
    {out_of_order, "out_of_order"},
    {duplicate_capture, "duplicate_capture"},
    {duplicate_network, "duplicate_network"},
    {go_back_n, "go_back_n"},
    {go_back_n_no_progress, "go_back_n_no_progress"},
    {wasted, "wasted"},
    {retries_exhausted, "retries_exhausted"},
    {rnr_exhausted, "rnr_exhausted"},
    {illegal_sequence, "illegal_sequence"},
    {wrong_length, "wrong_length"},
    {uc_message_lost, "uc_message_lost"},
    {icrc_mismatch, "icrc_mismatch"},
    {damaged_between_points, "damaged_between_points"},
    {ce_marked, "ce_marked"},
    {repeat_marked_otherwise, "repeat_marked_otherwise"},
    {mac_changed, "mac_changed"},
    {time_backwards, "time_backwards"},
    {nak_sequence_error, "nak_sequence_error"},
    {nak_invalid_request, "nak_invalid_request"},
    {nak_remote_access_error, "nak_remote_access_error"},
    {nak_remote_operational_error, "nak_remote_operational_error"},
    {nak_invalid_rd_request, "nak_invalid_rd_request"},
    {rnr_nak, "rnr_nak"},
    {ack_unseen, "ack_unseen"},
    {msn_backwards, "msn_backwards"},
    {zero_credits, "zero_credits"},
    {cnp, "cnp"},
});

}  // namespace

// Verdicts may come late, for frames of long ago: the lowest numbers are kept in whatever order they come.
void EventFrames::add(std::uint64_t frame) {
  if (frame == 0 || (several_.size() == kept && frame > several_.back())) return;
  if (empty()) {
    one_ = frame;
    return;
  }
  const std::ptrdiff_t at = std::lower_bound(begin(), end(), frame) - begin();
  if (at == static_cast<std::ptrdiff_t>(kept) || (*this)[static_cast<std::size_t>(at)] == frame) return;
  if (several_.empty()) {
    several_.reserve(2);
    several_.push_back(one_);
  }
  if (several_.size() == kept) several_.pop_back();
  several_.insert(several_.begin() + at, frame);
}

std::string_view event_name(Event event) noexcept {
  return event_names[event];
}

void Events::add(Event event, std::uint64_t frame, std::int64_t time_ns, std::uint64_t count) {
  if (count == 0) return;
  auto entry = std::find_if(logs_.begin(), logs_.end(), [&](const Entry& e) { return e.event == event; });
  if (entry == logs_.end()) {
    // Few kinds happen to a connection, often only one: no room in advance.
    logs_.reserve(logs_.size() + 1);
    logs_.emplace_back(event);
    entry = logs_.end() - 1;
    entry->first_time_ns = entry->last_time_ns = time_ns;
  }
  // Gaps that nothing filled are counted at the end, on packets that came long before.
  const bool again =
      frame == entry->last_frame || std::binary_search(entry->frames.begin(), entry->frames.end(), frame);
  entry->several_at_once |= count > 1 || (frame != 0 && again);
  entry->last_frame = frame;
  entry->count += count;
  keep_time(*entry, time_ns);
  entry->frames.add(frame);
}

const EventLog* Events::find(Event event) const noexcept {
  for (const Entry& entry : logs_) {
    if (entry.event == event) return &entry;
  }
  return nullptr;
}

std::uint64_t Events::count(Event event) const noexcept {
  const EventLog* log = find(event);
  return log == nullptr ? 0 : log->count;
}

Events Events::counted_as(Event from, Event as) const {
  Events all = *this;
  const auto moved =
      std::find_if(all.logs_.begin(), all.logs_.end(), [&](const Entry& e) { return e.event == from; });
  if (moved == all.logs_.end()) return all;
  const auto into =
      std::find_if(all.logs_.begin(), all.logs_.end(), [&](const Entry& e) { return e.event == as; });
  if (into == all.logs_.end()) {
    moved->event = as;
    return all;
  }
  into->count += moved->count;
  for (const std::int64_t time_ns : {moved->first_time_ns, moved->last_time_ns}) keep_time(*into, time_ns);
  for (const std::uint64_t frame : moved->frames) {
    into->several_at_once |= std::binary_search(into->frames.begin(), into->frames.end(), frame);
    into->frames.add(frame);
  }
  into->last_frame = std::max(into->last_frame, moved->last_frame);
  into->several_at_once |= moved->several_at_once;
  all.logs_.erase(moved);
  return all;
}

}  // namespace roce::analyze
