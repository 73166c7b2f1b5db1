// SPDX-License-Identifier: Apache-2.0
#include "gui/models/packet_reader.hpp"

#include <algorithm>

#include "analyze/record/packet_record.hpp"
#include "dissect/dissect.hpp"
#include "dissect/icrc.hpp"
#include "dissect/trailer.hpp"
#include "dissect/ulp.hpp"
#include "gui/models/shown_text.hpp"

namespace roce::gui {

void PacketNeeds::add(const analyze::FieldFacts& facts) noexcept {
  icrc = icrc || facts.needs_icrc;
  flow = flow || facts.needs_flow;
  upper = upper || facts.needs_upper;
  verdict = verdict || facts.needs_analysis;
}

PacketNeeds PacketNeeds::of(const analyze::Filter& filter) noexcept {
  return {filter.needs_icrc(), filter.needs_flow(), filter.needs_upper(), filter.needs_analysis()};
}

PacketReader::PacketReader(std::shared_ptr<const PacketStore> store)
    : store_(std::move(store)), frames_(store_->frames()) {}

/// Time of the last packet before this one that has a time.
std::int64_t PacketReader::time_before(std::uint64_t number) {
  if (last_number_ + 1 == number && last_time_ != capture::no_time) return last_time_;
  constexpr std::uint64_t back_at_most = 16;
  for (std::uint64_t i = 1; i < number && i <= back_at_most; ++i) {
    const auto before = frames_.read(number - i);
    if (before && before->time_ns != capture::no_time) return before->time_ns;
  }
  return store_->frames()->first_time();
}

const analyze::Verdict* PacketReader::verdict_of(std::uint64_t number) {
  if (!store_->analysed()) return nullptr;
  if (number < first_verdict_ || number >= first_verdict_ + verdicts_.size()) {
    // Sequential reading fetches many at once.
    const bool forward = number == last_verdict_ + 1;
    const std::uint64_t there = store_->size() - number + 1;
    verdicts_.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(forward ? verdicts_at_once : 1, there)));
    store_->verdicts(number, verdicts_);
    first_verdict_ = number;
  }
  last_verdict_ = number;
  const auto& verdict = verdicts_[number - first_verdict_];
  return verdict ? &*verdict : nullptr;
}

/// Of the present frame.
std::optional<std::uint64_t> PacketReader::flow_of(std::uint64_t number) {
  if (!flows_) {
    snapshot_ = store_->snapshot();
    flows_ = store_->flow_ids();
  }
  if (!flows_) return std::nullopt;
  const auto found = flows_->find(analyze::ends_of(frame_.data, dissection_));
  if (found == flows_->end()) return std::nullopt;
  const analyze::Verdict* const verdict = verdict_of(number);
  if (verdict == nullptr || snapshot_ == nullptr) return found->second;
  const unsigned side = verdict->has(analyze::Verdict::b_to_a) ? 1 : 0;
  const std::optional<std::uint64_t> own = snapshot_->flow_of(verdict->connection, side);
  return own ? own : found->second;
}

const analyze::PacketView* PacketReader::read(std::uint64_t number, const PacketNeeds& needs) {
  const std::int64_t before = time_before(number);
  auto frame = frames_.read(number);
  if (!frame) {
    error_ = error_text(frame.error());
    last_number_ = 0;
    return nullptr;
  }
  frame_ = *frame;
  view_ = {};
  view_.number = number;
  view_.frame = &frame_;
  view_.interface = frames_.interface();
  view_.policy = store_->policy().get();
  if (number <= store_->size() && store_->marks(number).has(PacketMarks::commented))
    view_.comments = comments_of_.packet(store_->comments(), number, frames_.comments());
  view_.first_time_ns = store_->frames()->first_time();
  view_.previous_time_ns = before;
  last_number_ = number;
  last_time_ = frame_.time_ns != capture::no_time ? frame_.time_ns : before;
  dissect::dissect(view_.bytes(), frame_.wire, frame_.link_type, dissection_, store_->dissecting());
  if (needs.upper) {
    dissect::dissect_ulp(view_.bytes(), dissection_,
                         store_->managements().ulp_of(number, view_.bytes(), dissection_));
    if (view_.has_time()) dissect::dissect_trailer(view_.bytes(), frame_.wire, frame_.time_ns, dissection_);
  }
  if (dissection_.is_ipfix()) {
    store_->templates().read(number, frame_, dissection_, store_->dissecting(), exported_);
    view_.exported = exported_;
  }
  view_.dissection = &dissection_;
  if (needs.icrc) view_.icrc = dissect::check_icrc(view_.bytes(), dissection_);
  if (needs.flow && dissection_.is_transport()) view_.flow = flow_of(number);
  if (needs.verdict) view_.verdict = verdict_of(number);
  return &view_;
}

}  // namespace roce::gui
