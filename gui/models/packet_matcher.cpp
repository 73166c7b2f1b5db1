// SPDX-License-Identifier: Apache-2.0
#include "gui/models/packet_matcher.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "analyze/filter/field_registry.hpp"

namespace roce::gui {
namespace {

constexpr std::uint64_t bit(PacketMarks::Bit one) {
  return std::uint64_t{1} << one;
}
constexpr std::uint64_t connection_bits = ~std::uint64_t{0} << PacketMarks::connection |
                                          bit(PacketMarks::connection_known) | bit(PacketMarks::judged);
constexpr std::uint64_t cause_bits = std::uint64_t{7} << PacketMarks::cause;
constexpr std::uint64_t lost_bits = bit(PacketMarks::lost_before) | bit(PacketMarks::lost_after) |
                                    bit(PacketMarks::lost_between_points) | bit(PacketMarks::missed) |
                                    bit(PacketMarks::missed_of_other);

/// A field that is determined by some bits of the marks, on packets with (or without) other bits.
struct IndexedField {
  std::string_view name;
  std::uint64_t bits;
  std::uint64_t with = 0;
  std::uint64_t without = 0;
};
constexpr IndexedField indexed_fields[] = {
    {"infiniband.bth.opcode", PacketMarks::opcode_bits, bit(PacketMarks::transport)},
    {"infiniband.bth", PacketMarks::opcode_bits, bit(PacketMarks::transport)},
    {"frame.comment", 0, 0, bit(PacketMarks::commented)},
    {"roce.connection", connection_bits},
    {"roce.direction", connection_bits | bit(PacketMarks::b_to_a)},
    {"roce.analysis.flags", lost_bits | bit(PacketMarks::gap) | bit(PacketMarks::retransmission) |
                                bit(PacketMarks::spurious) | bit(PacketMarks::duplicate_capture) |
                                bit(PacketMarks::duplicate_network) | bit(PacketMarks::out_of_order) |
                                bit(PacketMarks::ack_unseen) | bit(PacketMarks::illegal_sequence) |
                                bit(PacketMarks::wrong_length) | bit(PacketMarks::msn_backwards) |
                                bit(PacketMarks::source_mac_changed) | bit(PacketMarks::time_backwards)},
    {"roce.analysis.retransmission", bit(PacketMarks::retransmission)},
    {"roce.analysis.retransmission.cause", cause_bits},
    {"roce.analysis.spurious", bit(PacketMarks::spurious)},
    {"roce.analysis.duplicate_capture", bit(PacketMarks::duplicate_capture)},
    {"roce.analysis.duplicate_network", bit(PacketMarks::duplicate_network)},
    {"roce.analysis.lost", lost_bits},
    {"roce.analysis.lost.direction", lost_bits | bit(PacketMarks::b_to_a)},
    {"roce.analysis.lost_between_points", bit(PacketMarks::lost_between_points)},
    {"roce.analysis.out_of_order", bit(PacketMarks::out_of_order)},
    {"roce.analysis.ack_unseen", bit(PacketMarks::ack_unseen)},
    {"roce.analysis.illegal_sequence", bit(PacketMarks::illegal_sequence)},
    {"roce.analysis.wrong_length", bit(PacketMarks::wrong_length)},
    {"roce.analysis.msn_backwards", bit(PacketMarks::msn_backwards)},
    {"roce.analysis.time_backwards", bit(PacketMarks::time_backwards)},
    {"roce.analysis.source_mac_changed", bit(PacketMarks::source_mac_changed)},
};

const IndexedField* indexed(std::string_view name) {
  const auto* const found = std::find_if(std::begin(indexed_fields), std::end(indexed_fields),
                                         [name](const IndexedField& field) { return field.name == name; });
  return found == std::end(indexed_fields) ? nullptr : found;
}

}  // namespace

PacketMatcher::PacketMatcher(std::shared_ptr<const PacketStore> store, PacketQuestion question)
    : store_(std::move(store)), question_(std::move(question)), reader_(store_), near_(near_size) {
  if (question_.time) time_ = Inside::some;
  decided_ = 1;  // never equal while no bit is decisive
  if (!question_.filter) return;
  needs_ = PacketNeeds::of(*question_.filter);
  by_marks_ = true;
  std::uint64_t with = 0, without = 0;
  for (const analyze::FieldRef field : question_.filter->fields()) {
    const IndexedField* row = indexed(analyze::field_facts(field).name);
    by_marks_ = by_marks_ && row != nullptr;
    if (row == nullptr) continue;
    key_bits_ |= row->bits;
    with |= row->with;
    without |= row->without;
  }
  if (!by_marks_) return;
  decisive_ = with | without;
  decided_ = with;
}

bool PacketMatcher::ask(std::uint64_t number) {
  const analyze::PacketView* view = reader_.read(number, needs_);
  if (view == nullptr) {
    ++unreadable_;
    return false;
  }
  return question_.filter->matches(*view);
}

bool PacketMatcher::known(std::uint64_t key, std::uint64_t number) {
  Known& near = near_[(key * 0x9e3779b97f4a7c15U) >> 52U];
  static_assert(near_size == std::size_t{1} << 12U);
  if (near.key != key) {
    auto found = far_.find(key);
    if (found == far_.end()) {
      if (far_.size() >= known_at_most) far_.clear();
      found = far_.emplace(key, ask(number)).first;
    }
    near = {key, found->second};
  }
  last_key_ = key;
  return last_answer_ = near.answer;
}

bool PacketMatcher::in_time(std::uint64_t number) {
  const TimeSpan span = *question_.time;
  const std::uint64_t group = (number - 1) / capture::FrameStore::group_frames;
  if (group != group_) {
    group_ = group;
    const auto times = store_->frames()->times_of_group(group);
    group_inside_ = times.to < span.from || times.from > span.to     ? Inside::none
                    : times.from >= span.from && times.to <= span.to ? Inside::all
                                                                     : Inside::some;
  }
  if (group_inside_ != Inside::some) return group_inside_ == Inside::all;
  const analyze::PacketView* view = reader_.read(number, {});
  if (view == nullptr) {
    ++unreadable_;
    return false;
  }
  return view->has_time() && view->frame->time_ns >= span.from && view->frame->time_ns <= span.to;
}

}  // namespace roce::gui
