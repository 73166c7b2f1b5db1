// SPDX-License-Identifier: Apache-2.0
#include "cli/packets/pipe_follower.hpp"

#include <utility>

namespace roce::cli {
namespace {

// Of what waits at a time: as many packets as the tracker holds, and no more bytes than are easily spared.
constexpr std::size_t frames_at_most = 128 * std::size_t{1024};
constexpr std::uint64_t bytes_at_most = std::uint64_t{64} << 20U;
/// Somebody may be watching. Longer than the retries of most queue pairs take.
constexpr std::int64_t waits_at_most_ns = 10'000'000'000;

analyze::TrackerOptions options_of(analyze::VerdictStore& verdicts, const dissect::Options& dissecting) {
  analyze::TrackerOptions options;
  options.trimmed_dscps = dissecting.trimmed_dscps;
  options.verdicts = &verdicts;
  return options;
}

}  // namespace

PipeFollower::PipeFollower(const dissect::Options& dissect_options, bool check_icrc)
    : dissect_options_(dissect_options),
      check_icrc_(check_icrc),
      tracker_(options_of(verdicts_, dissect_options)) {}

void PipeFollower::add(std::shared_ptr<const Piece> piece) {
  pieces_.push_back(std::move(piece));
}

std::optional<PipeFollower::Ready> PipeFollower::next() {
  while (waiting_.empty() || !first_is_decided()) {
    if (follow_one()) continue;
    if (!ends_ || ended_) return std::nullopt;
    ended_ = overdue_ = true;
    static_cast<void>(tracker_.finish());
  }
  overdue_ = ended_;
  Ready ready = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= ready.frame->captured;
  verdicts_.forget_before(++returned_);
  return ready;
}

const analyze::Verdict* PipeFollower::verdict() {
  const analyze::Verdict* const kept = verdicts_.find(returned_);
  if (kept == nullptr) return nullptr;
  verdict_ = *kept;
  verdict_.response = 0;  // known only of what happened to wait
  verdict_.incident = 0;  // numbered at the end
  // Whether the capture misses packets is known at the end as well.
  verdict_.read_losses_as(analyze::LossReading::lost);
  return &verdict_;
}

/// False if there is no frame to be followed.
bool PipeFollower::follow_one() {
  while (!pieces_.empty() && at_ == pieces_.front()->batch.frames.size()) {
    pieces_.pop_front();
    at_ = 0;
  }
  if (pieces_.empty()) return false;
  const std::shared_ptr<const Piece>& piece = pieces_.front();
  const capture::Frame& frame = piece->batch.frames[at_++];
  ++followed_;
  waiting_.push_back({piece, &frame, follow(frame)});
  waiting_bytes_ += frame.captured;
  overdue_ = wait_too_long(frame);
  if (overdue_) tracker_.decide_until(returned_ + 1);
  return true;
}

std::optional<std::uint64_t> PipeFollower::follow(const capture::Frame& frame) {
  const dissect::Bytes bytes(frame.data, frame.captured);
  dissect::dissect(bytes, frame.wire, frame.link_type, dissection_, dissect_options_);
  const bool damaged = check_icrc_ && dissection_.mad != dissect::Dissection::none &&
                       tracker_.shows_damage(bytes, dissection_);
  const analyze::CmExchange* const made = damaged ? nullptr : cm_.learn(followed_, frame, dissection_);
  if (made != nullptr) tracker_.connected(*made, cm_.index_of(*made));
  analyze::make_record(frame, dissection_, record_);
  if (!record_.has(analyze::PacketRecord::valid)) return std::nullopt;
  if (check_icrc_) record_.icrc = static_cast<std::uint8_t>(dissect::check_icrc(bytes, dissection_).status);
  const std::optional<std::uint64_t> flow = tracker_.flow_id(record_);
  tracker_.track_one(record_, followed_);
  return flow;
}

bool PipeFollower::first_is_decided() {
  if (overdue_) return true;
  const analyze::Verdict* const kept = verdicts_.find(returned_ + 1);
  return kept == nullptr || !kept->has(analyze::Verdict::undecided);
}

bool PipeFollower::wait_too_long(const capture::Frame& now) const noexcept {
  const std::int64_t since = waiting_.front().frame->time_ns;
  const bool timed = since != capture::no_time && now.time_ns != capture::no_time;
  return waiting_.size() > frames_at_most || waiting_bytes_ > bytes_at_most ||
         (timed && now.time_ns - since > waits_at_most_ns);
}

}  // namespace roce::cli
