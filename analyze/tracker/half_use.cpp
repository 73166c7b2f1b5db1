// SPDX-License-Identifier: Apache-2.0
#include "analyze/tracker/half_use.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "analyze/episode/another_use.hpp"
#include "analyze/episode/thresholds.hpp"
#include "analyze/transport/messages.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {
namespace {

using dissect::serial_distance;
using dissect::serial_mask;
using dissect::serial_steps;

/// A responder may count READs and atomics before it answers those before them: that many at most. So many
/// messages may also be over when one that begins anew first answers.
constexpr std::int32_t counted_early = 256;
/// So many answers in a row are not overtaken by one.
constexpr std::uint32_t many_fallen = 3;
/// Of fewer answers nobody knows whether their responder counts messages at all (MSN).
constexpr std::uint32_t known_to_count = 16;

}  // namespace

bool UseTurn::answered_by(const UseTurn& answer) const noexcept {
  const std::uint32_t behind = serial_steps(psn, answer.psn);
  if (behind > episode::soon_psns || answer.msn > behind + 1) return false;
  // A host may stamp what it receives before what it sent.
  return answer.time_ns >= time_ns - episode::latest_stamp_ns && answer.silent_from_ns <= time_ns;
}

UseTurn HalfUse::turn_at(const PacketRecord& record, bool request) const noexcept {
  return {silent_from_ns_, record.time_ns, number_, record.psn, record.aeth & serial_mask, request, false};
}

std::optional<UseTurn> HalfUse::take(const PacketRecord& record, const dissect::OpcodeInfo& info,
                                     std::uint64_t number) {
  const bool sequence = info.service == dissect::Service::rc || info.service == dissect::Service::xrc;
  went_back_ = false;
  if (!sequence || info.operation == dissect::Operation::cnp || record.time_ns == capture::no_time) return {};
  if (last_ns_ != capture::no_time && record.time_ns - last_ns_ >= episode::soonest_reuse_ns) {
    silent_from_ns_ = last_ns_;
    number_ = number;
    request_since_ = answer_since_ = false;
  }
  last_ns_ = std::max(last_ns_, record.time_ns);
  std::optional<UseTurn> found;
  if (info.request) {
    found = take_request(record, info);
    request_since_ = true;
  } else if (info.response && record.has(PacketRecord::has_aeth)) {
    found = take_answer(record, info);
    answer_since_ = true;
  }
  if (found) turns_[found->request ? 1 : 0] = found;
  return found;
}

std::optional<UseTurn> HalfUse::take_request(const PacketRecord& record, const dissect::OpcodeInfo& info) {
  const std::uint32_t psn = record.psn;
  if (!requests_) {
    requests_ = true;
    first_ = next_ = last_ = psn;
  }
  if (open_read_ && serial_distance(read_, psn) > 0 && serial_distance(next_, psn) <= 0) next_ = psn;
  std::optional<UseTurn> found;
  const std::int32_t ahead = serial_distance(next_, psn);
  const bool far = std::abs(ahead) > episode::far_psns;
  const bool after_silence = !request_since_ && silent_from_ns_ != capture::no_time;
  if (far && far_ && serial_steps(far_->psn, psn) <= episode::soon_psns) {
    found = far_;
    found->sure = true;
  } else if (far && after_silence) {
    far_ = turn_at(record, true);
  } else if (ahead != 0 && after_silence) {
    found = turn_at(record, true);
    const bool sent = serial_distance(first_, psn) >= 0;
    found->sure = ahead < 0 && !sent && begins_here_;
  }
  if (far) return found;
  went_back_ = ahead < 0 && serial_distance(last_, psn) <= 0;
  last_ = psn;
  far_.reset();
  if (ahead < 0) return found;
  // How many PSNs a READ takes hangs on the path MTU, which may be the least.
  open_read_ = info.operation == dissect::Operation::read_request;
  read_ = psn;
  next_ = (psn + (open_read_ ? std::max(record.dma_length / every_pmtu, 1U) : 1U)) & serial_mask;
  return found;
}

std::optional<UseTurn> HalfUse::take_answer(const PacketRecord& record, const dissect::OpcodeInfo& info) {
  const std::uint32_t msn = record.aeth & serial_mask;
  const bool done = (record.aeth >> 29U & 3U) == 0;
  const std::uint32_t behind = (record.psn + (done ? 1U : 0U)) & serial_mask;
  if (!answers_) {
    answers_ = true;
    msn_ = msn;
    done_ = behind;
    return {};
  }
  const std::int32_t more = serial_distance(msn_, msn);
  const std::int32_t on = serial_distance(done_, behind);
  const bool after_silence = !answer_since_ && silent_from_ns_ != capture::no_time;
  if (more >= 0) {
    fallen_ = 0;
    msn_ = msn;
    ++counted_;
    // What is asked for again is confirmed with the last PSN, if nothing of it is read.
    const bool confirms = done && info.operation == dissect::Operation::acknowledge;
    std::optional<UseTurn> found;
    if (on < 0 && confirms && after_silence) found = turn_at(record, false);
    if (on > 0) done_ = behind;
    return found;
  }
  // Who counts no messages, or seldom, tells nothing by that; what is read again may carry the count of then.
  const bool counts = std::exchange(counted_, 0) >= known_to_count || begins_here_;
  const bool read_again = info.operation != dissect::Operation::acknowledge;
  if (fallen_ != 0) {
    fallen_ = serial_distance(low_msn_, msn) >= 0 && !read_again ? fallen_ + 1 : 1;
    low_msn_ = msn;
    if (fallen_ != many_fallen || !turns_[0]) return {};
    // One that comes over a longer path overtakes several.
    std::optional<UseTurn> found = turns_[0];
    found->sure = found->time_ns - found->silent_from_ns > episode::paths_differ_ns;
    return found;
  }
  if (!after_silence) return {};
  fallen_ = 1;
  low_msn_ = msn;
  UseTurn found = turn_at(record, false);
  const bool anew = msn <= static_cast<std::uint32_t>(counted_early);
  const bool elsewhere =
      on > episode::soon_psns || on < -episode::far_psns || (on < 0 && -more > -on + counted_early);
  found.sure = counts && anew && elsewhere;
  return found;
}

}  // namespace roce::analyze
