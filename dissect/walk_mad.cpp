// SPDX-License-Identifier: Apache-2.0
#include "dissect/headers/cm.hpp"
#include "dissect/headers/cm_service.hpp"
#include "dissect/walk.hpp"

namespace roce::dissect {
namespace {

struct CmRow {
  std::uint16_t attribute;
  HeaderId id;
  std::uint8_t size;               ///< without private data
  std::uint8_t service_id_offset;  ///< of messages whose private data can begin with IpCm; else 0
};

template <class Header>
consteval CmRow cm_row(std::uint16_t attribute, std::uint8_t service_id_offset = 0) {
  static_assert(Header::size <= mad_body_size);
  return {attribute, Header::id, static_cast<std::uint8_t>(Header::size), service_id_offset};
}
constexpr CmRow messages[] = {
    cm_row<CmReq>(cm_attribute_req, 8),       cm_row<CmMra>(cm_attribute_mra),
    cm_row<CmRej>(cm_attribute_rej),          cm_row<CmRep>(cm_attribute_rep),
    cm_row<CmRtu>(cm_attribute_rtu),          cm_row<CmDreq>(cm_attribute_dreq),
    cm_row<CmDrep>(cm_attribute_drep),        cm_row<CmSidrReq>(cm_attribute_sidr_req, 8),
    cm_row<CmSidrRep>(cm_attribute_sidr_rep), cm_row<CmLap>(cm_attribute_lap),
    cm_row<CmApr>(cm_attribute_apr)};
constexpr CmRow unknown_message{0, HeaderId::cm_unknown, 0, 0};

const CmRow& message_of(std::uint16_t attribute) noexcept {
  for (const CmRow& message : messages) {
    if (message.attribute == attribute) return message;
  }
  return unknown_message;
}

/// Records `id` from here to `end`, or to the frame's end if that comes first and records why it stopped.
void push_to(Walk& walk, HeaderId id, std::uint32_t end) noexcept {
  const std::uint32_t there = std::min({end, walk.available, walk.declared});
  walk.push(id, there > walk.offset ? there - walk.offset : 0);
  if (there < end) (void)walk.fits(id, end - there);
}

}  // namespace

Step walk_mad(Walk& walk) noexcept {
  const std::uint32_t end = walk.offset + mad_total_size;
  if (!walk.fits(HeaderId::mad, Mad::size)) return Step::done;
  const std::uint8_t* p = walk.at();
  walk.out.mad = walk.out.layer_count;
  if (read<Mad::management_class>(p) != mad_class_cm) {
    push_to(walk, HeaderId::mad, end);
    return Step::done;
  }
  walk.push(HeaderId::mad, Mad::size);

  const CmRow& message = message_of(read<Mad::attribute_id>(p));
  if (!walk.fits(message.id, message.size)) return Step::done;
  if (message.service_id_offset == 0 ||
      load_be<5>(walk.at() + message.service_id_offset) != ip_cm_service_prefix) {
    push_to(walk, message.id, end);
    return Step::done;
  }
  walk.push(message.id, message.size);
  if (!walk.fits(HeaderId::ip_cm, IpCm::size)) return Step::done;
  push_to(walk, HeaderId::ip_cm, end);
  return Step::done;
}

}  // namespace roce::dissect
