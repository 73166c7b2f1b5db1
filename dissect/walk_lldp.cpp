// SPDX-License-Identifier: Apache-2.0
#include "dissect/headers/lldp.hpp"
#include "dissect/headers/lldp_cee.hpp"
#include "dissect/headers/lldp_dcbx.hpp"
#include "dissect/walk.hpp"

namespace roce::dissect {
namespace {

/// A kind of TLV: what it is and how many bytes it must have.
struct TlvKind {
  std::uint8_t type;
  HeaderId id;
  std::uint8_t size;
  HeaderId entry = HeaderId::count_;  ///< entries of one size fill the rest
  std::uint8_t entry_size = 0;
};

template <class Header>
consteval TlvKind row(std::uint8_t type) {
  return {type, Header::id, static_cast<std::uint8_t>(Header::size)};
}
template <class Header, class Entry>
consteval TlvKind row_with_entries(std::uint8_t type) {
  return {type, Header::id, static_cast<std::uint8_t>(Header::size), Entry::id,
          static_cast<std::uint8_t>(Entry::size)};
}

constexpr TlvKind basic_kinds[] = {row<LldpChassisId>(lldp_type_chassis_id),
                                   row<LldpPortId>(lldp_type_port_id),
                                   row<LldpTtl>(lldp_type_ttl),
                                   row<LldpPortDescription>(lldp_type_port_description),
                                   row<LldpSystemName>(lldp_type_system_name),
                                   row<LldpSystemDescription>(lldp_type_system_description),
                                   row<LldpCapabilities>(lldp_type_capabilities),
                                   row<LldpManagement>(lldp_type_management),
                                   row<LldpOrganisational>(lldp_type_organisational),
                                   row<LldpEnd>(lldp_type_end)};
constexpr TlvKind reserved_kind = row<LldpUnknown>(0);

constexpr TlvKind dcbx_kinds[] = {
    row<LldpDcbxEtsConfiguration>(dcbx_ets_configuration),
    row<LldpDcbxEtsRecommendation>(dcbx_ets_recommendation), row<LldpDcbxPfc>(dcbx_pfc),
    row_with_entries<LldpDcbxApplication, LldpDcbxApplicationEntry>(dcbx_application)};
constexpr TlvKind organisational_kind = row<LldpOrganisational>(0);

constexpr TlvKind cee_kinds[] = {
    row<LldpDcbxCeeControl>(cee_control), row<LldpDcbxCeePriorityGroups>(cee_priority_groups),
    row<LldpDcbxCeePfc>(cee_pfc),
    row_with_entries<LldpDcbxCeeApplication, LldpDcbxCeeApplicationEntry>(cee_application)};
constexpr TlvKind cee_unknown_kind = row<LldpDcbxCeeUnknown>(0);

template <std::size_t N>
const TlvKind& find(const TlvKind (&kinds)[N], std::uint8_t type, const TlvKind& otherwise) noexcept {
  for (const TlvKind& kind : kinds) {
    if (kind.type == type) return kind;
  }
  return otherwise;
}

bool contradicts(Walk& walk, HeaderId id) noexcept {
  walk.out.stop = Stop::contradicts_itself;
  walk.out.stopped_at = id;
  return false;
}

/// Records a TLV that ends at `end` (which fits) and its entries.
bool push_tlv(Walk& walk, const TlvKind& kind, std::uint32_t end) noexcept {
  const std::uint32_t length = end - walk.offset;
  if (length < kind.size) return contradicts(walk, kind.id);
  if (kind.entry_size == 0) {
    if (!walk.fits(kind.id, length)) return false;
    walk.push(kind.id, length);
    return true;
  }
  if (!walk.fits(kind.id, kind.size)) return false;
  walk.push(kind.id, kind.size);
  while (walk.offset < end) {
    if (end - walk.offset < kind.entry_size) return contradicts(walk, kind.entry);
    if (!walk.fits(kind.entry, kind.entry_size)) return false;
    walk.push(kind.entry, kind.entry_size);
  }
  return true;
}

bool walk_management(Walk& walk, std::uint32_t end) noexcept {
  const std::uint32_t length = end - walk.offset;
  if (length < LldpManagement::size) return contradicts(walk, HeaderId::lldp_management);
  const std::uint8_t* p = walk.at();
  const std::uint32_t address_length = read<LldpManagement::address_length>(p);  // subtype included
  const std::uint32_t front = LldpTlv::header_size + 1 + address_length;
  if (address_length < 2 || length < front + LldpManagementInterface::size)
    return contradicts(walk, HeaderId::lldp_management);
  const std::uint32_t object_length = p[front + LldpManagementInterface::size - 1];
  if (length < front + LldpManagementInterface::size + object_length)
    return contradicts(walk, HeaderId::lldp_management_interface);
  if (!walk.fits(HeaderId::lldp_management, front)) return false;
  walk.push(HeaderId::lldp_management, front);
  if (!walk.fits(HeaderId::lldp_management_interface, end - walk.offset)) return false;
  walk.push(HeaderId::lldp_management_interface, LldpManagementInterface::size + object_length);
  walk.offset = end;
  return true;
}

bool walk_cee(Walk& walk, std::uint32_t end) noexcept {
  if (!walk.fits(HeaderId::lldp_dcbx_cee, LldpDcbxCee::size)) return false;
  walk.push(HeaderId::lldp_dcbx_cee, LldpDcbxCee::size);
  while (walk.offset < end) {
    if (end - walk.offset < LldpTlv::header_size) return contradicts(walk, HeaderId::lldp_dcbx_cee_unknown);
    const TlvKind& kind = find(cee_kinds, read<CeeTlv::type>(walk.at()), cee_unknown_kind);
    const std::uint32_t sub_end = walk.offset + LldpTlv::header_size + LldpTlv::information_length(walk.at());
    if (sub_end > end) return contradicts(walk, kind.id);
    if (!push_tlv(walk, kind, sub_end)) return false;
  }
  return true;
}

bool walk_organisational(Walk& walk, std::uint32_t end) noexcept {
  if (end - walk.offset < LldpOrganisational::size) return contradicts(walk, HeaderId::lldp_organisational);
  const std::uint8_t* p = walk.at();
  const std::uint8_t subtype = p[LldpOrganisational::size - 1];
  switch (read<LldpOrganisational::oui>(p)) {
    case lldp_oui_8021:
      return push_tlv(walk, find(dcbx_kinds, subtype, organisational_kind), end);
    case lldp_oui_cee:
      if (subtype == cee_subtype) return walk_cee(walk, end);
      break;
    default:
      break;
  }
  return push_tlv(walk, organisational_kind, end);
}

}  // namespace

Step walk_lldp(Walk& walk) noexcept {
  // An LLDPDU ends with the End TLV; since IEEE 802.1AB-2016 the end of the frame is enough (8.2).
  while (walk.offset < walk.declared) {
    if (!walk.fits(HeaderId::lldp_unknown, LldpTlv::header_size)) break;
    const std::uint8_t type = read<LldpTlv::type>(walk.at());
    const TlvKind& kind = find(basic_kinds, type, reserved_kind);
    const std::uint32_t length = LldpTlv::header_size + LldpTlv::information_length(walk.at());
    if (!walk.fits(kind.id, length)) break;
    const std::uint32_t end = walk.offset + length;
    bool whole = false;
    switch (type) {
      case lldp_type_management:
        whole = walk_management(walk, end);
        break;
      case lldp_type_organisational:
        whole = walk_organisational(walk, end);
        break;
      default:
        whole = push_tlv(walk, kind, end);
        break;
    }
    if (!whole || type == lldp_type_end) break;
  }
  return Step::done;
}

}  // namespace roce::dissect
