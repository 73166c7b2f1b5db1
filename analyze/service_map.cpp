// SPDX-License-Identifier: Apache-2.0
#include "analyze/service_map.hpp"

#include <tsl/robin_map.h>

#include <cstring>

#include "analyze/packet_record.hpp"
#include "dissect/headers/infiniband.hpp"

namespace roce::analyze {
namespace {

using dissect::Bytes;
using dissect::CmKind;
using dissect::Dissection;
using dissect::IpAddress;
using dissect::Ulp;

/// A queue pair, or a communication id of the CM, at an address.
struct Place {
  IpAddress address;
  std::uint32_t number = 0;
  bool communication = false;
  bool operator==(const Place&) const noexcept = default;
};

struct PlaceHash {
  std::size_t operator()(const Place& place) const noexcept {
    FlowKey key;
    key.dst = place.address;
    key.dst_qp = place.number;
    return key.hash() ^ (place.communication ? 0x9e3779b97f4a7c15U : 0U);
  }
};

bool may_be_cm(const Dissection& d) noexcept {
  return d.mad != Dissection::none;
}

}  // namespace

struct ServiceMap::Impl {
  std::size_t limit;
  tsl::robin_map<Place, Ulp, PlaceHash> map;
  std::deque<Place> order;  ///< oldest first

  void put(const Place& place, Ulp ulp) {
    const auto [entry, fresh] = map.insert_or_assign(place, ulp);
    if (!fresh) return;
    order.push_back(place);
    if (order.size() > limit) {
      map.erase(order.front());
      order.pop_front();
    }
  }

  [[nodiscard]] Ulp get(const Place& place) const {
    const auto found = map.find(place);
    return found == map.end() ? Ulp::none : found->second;
  }
};

ServiceMap::ServiceMap(std::size_t limit) : impl_(std::make_unique<Impl>()) {
  impl_->limit = limit == 0 ? 1 : limit;
}
ServiceMap::ServiceMap(ServiceMap&&) noexcept = default;
ServiceMap& ServiceMap::operator=(ServiceMap&&) noexcept = default;
ServiceMap::~ServiceMap() = default;

void ServiceMap::learn(Bytes frame, const Dissection& d) {
  if (!may_be_cm(d) || d.network == Dissection::none) return;
  const auto message = dissect::decode_cm(frame, d);
  if (!message || !message->whole) return;
  const FlowKey ends = ends_of(frame.data(), d);
  if (message->kind == CmKind::req) {
    // A service that we do not know overwrites too: the number may have carried another before.
    const Ulp ulp = dissect::ulp_of_service(message->service_id);
    impl_->put({ends.src, message->local_comm_id, true}, ulp);
    impl_->put({ends.src, message->local_qpn.value(), false}, ulp);
  } else if (message->kind == CmKind::rep) {
    impl_->put({ends.src, message->local_qpn.value(), false},
               impl_->get({ends.dst, message->remote_comm_id, true}));
  }
}

Ulp ServiceMap::of(Bytes frame, const Dissection& d) const {
  if (!d.is_transport() || d.network == Dissection::none) return Ulp::none;
  const FlowKey ends = ends_of(frame.data(), d);
  if (may_be_cm(d)) {
    const auto message = dissect::decode_cm(frame, d);
    if (!message || (message->kind != CmKind::rep && message->kind != CmKind::rej)) return Ulp::none;
    return impl_->get({ends.dst, message->remote_comm_id, true});
  }
  return impl_->get({ends.dst, ends.dst_qp, false});
}

Ulp ServiceMap::of(const IpAddress& address, std::uint32_t qpn) const {
  return impl_->get({address, qpn, false});
}

}  // namespace roce::analyze
