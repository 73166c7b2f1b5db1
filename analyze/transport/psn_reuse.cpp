// SPDX-License-Identifier: Apache-2.0
// Whether a packet is of another use of the queue pairs' numbers.
#include "analyze/transport/psn_fast_path.hpp"

namespace roce::analyze {
namespace {

constexpr std::int64_t psn_range = std::int64_t{1} << 24U;
/// Beyond this a PSN belongs to another sequence; the largest messages have as many packets.
constexpr std::int64_t far = std::int64_t{1} << 18U;

}  // namespace

bool PsnSpace::far_off(const PacketBrief& r) const noexcept {
  if (!req_.seen) return false;
  const std::int64_t distance = place(r.psn) - req_.next;
  if (distance > 0 && messages_.open_end()) return distance > psn_range / 4;
  return distance > far || distance < -far;
}

bool PsnSpace::begins_anew_unasked(const PacketBrief& r) noexcept {
  constexpr std::int64_t setting_up_ns = 10'000'000, no_copy_ns = 1'000'000'000;
  const dissect::OpcodeInfo& info = dissect::opcode_info(r.opcode);
  if (info.service != dissect::Service::uc || !req_.seen || !info.starts_message()) return false;
  if (place(r.psn) >= req_.next || r.time_ns == capture::no_time || req_.last_ns == capture::no_time)
    return false;
  const bool ids = request_facts_.ids_tell(r);
  if (r.time_ns - req_.last_ns < (ids ? setting_up_ns : no_copy_ns)) return false;
  const Seen* seen = sent_.find(place(r.psn));
  return !ids || ((seen == nullptr || seen->ip_id != r.ip_id) && !request_facts_.is_behind(r));
}

bool PsnSpace::counts_anew(const PacketRecord& r) const noexcept {
  return r.has(PacketRecord::has_aeth) && !rose(r.aeth & serial_mask, resp_.msn);
}

bool PsnSpace::unasked(const PacketRecord& r) const noexcept {
  if (!req_.seen || !resp_.acked_known || !resp_.msn_known || resp_.acked < req_.next) return false;
  // What is confirmed once more comes with the count of today.
  const std::int64_t psn = place(r.psn);
  return psn >= req_.next || (psn < resp_.acked && counts_anew(r));
}

bool PsnSpace::remembers(const PacketRecord& r, bool request) noexcept {
  const Seen* seen = (request ? sent_ : answers_).find(place(r.psn));
  return seen != nullptr && seen->opcode == r.opcode &&
         (!r.has(PacketRecord::has_ip_id) || seen->ip_id == r.ip_id);
}

void PsnSpace::absorb_answers(const PsnSpace& other) noexcept {
  if (!other.resp_.seen) return;
  resp_.acks += other.resp_.acks;
  acks_left_out_ += other.acks_left_out_;
  req_.new_bytes += other.req_.new_bytes;
  resp_.fitting += other.resp_.fitting;
  resp_.firsts += other.resp_.firsts;
  coverage_.repeats += other.coverage_.repeats;
  coverage_.refilled += other.coverage_.refilled;
  coverage_.breaks += other.coverage_.breaks;
  coverage_.copies += other.coverage_.copies;
  coverage_.copies_elsewhere += other.coverage_.copies_elsewhere;
  unfitting_ += other.unfitting_;
  resp_.seen = true;
  resp_.msn = other.resp_.msn;
  resp_.msn_known = other.resp_.msn_known;
  answer_facts_ = other.answer_facts_;
  if (!req_.seen || !other.resp_.acked_known) return;
  const auto placed = [this](std::int64_t psn) {
    return place(static_cast<std::uint32_t>(psn & (psn_range - 1)));
  };
  // What came while nobody knew whose it was is not missing, nor what answers requests that an episode holds.
  if (other.resp_.answered >= 0 && placed(other.resp_.answered) > req_.first) {
    resp_.answered = std::max(resp_.answered, placed(other.resp_.answered));
    for (; awaits() && first_awaited().end <= resp_.answered; ++awaited_head_) {
    }
    if (awaits()) first_awaited().next = std::max(first_awaited().next, resp_.answered);
  }
  const std::int64_t acked = placed(other.resp_.acked);
  if (acked > req_.next || acked <= req_.first) return;
  resp_.acked = acked;
  resp_.acked_known = true;
}

}  // namespace roce::analyze
