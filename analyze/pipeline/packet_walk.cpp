// SPDX-License-Identifier: Apache-2.0
#include "analyze/pipeline/packet_walk.hpp"

#include "analyze/tracker/tracker.hpp"
#include "dissect/trailer.hpp"
#include "dissect/ulp.hpp"

namespace roce::analyze {

PacketView PacketWalk::next(const capture::Frame& frame,
                            const std::vector<capture::InterfaceInfo>& interfaces,
                            const capture::BatchComments& comments, const Tracker* known) {
  const bool timed = frame.time_ns != capture::no_time;
  if (timed && !first_time_) first_time_ = previous_time_ = frame.time_ns;
  PacketView view;
  view.number = ++number_;
  view.frame = &frame;
  view.dissection = &dissection_;
  view.comments = comments.of(frame);
  if (frame.interface < interfaces.size()) view.interface = &interfaces[frame.interface];
  view.first_time_ns = first_time_.value_or(0);
  view.previous_time_ns = previous_time_;
  if (timed) previous_time_ = frame.time_ns;

  dissect::dissect(view.bytes(), frame.wire, frame.link_type, dissection_, options_);
  const bool damaged = known != nullptr && dissection_.mad != dissect::Dissection::none &&
                       known->shows_damage(view.bytes(), dissection_);
  connected_ = damaged ? nullptr : cm_.learn(number_, frame, dissection_);
  dissect::dissect_ulp(view.bytes(), dissection_, cm_.ulp_of(view.bytes(), dissection_));
  if (timed) dissect::dissect_trailer(view.bytes(), frame.wire, frame.time_ns, dissection_);
  if (dissection_.is_ipfix()) view.exported = exported_.read(number_, frame, dissection_, options_);
  return view;
}

}  // namespace roce::analyze
