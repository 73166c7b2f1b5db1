// SPDX-License-Identifier: Apache-2.0
// Data center bridging by the DCB family of netlink (linux/dcbnl.h, IEEE 802.1Qaz and 802.1Qbb).
#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "capture/host/netlink_messages.hpp"
#include "capture/host/readers.hpp"

namespace roce::capture {
namespace {

// Newer than the headers of Debian 12 (Linux 6.3).
constexpr std::uint16_t attr_ieee_app_trust_table = 11, attr_app_trust = 1;
constexpr std::size_t most_apps = 4096;

template <std::size_t Size, class From, class To>
void copy(const From (&from)[Size], std::array<To, Size>& to) {
  std::copy(std::begin(from), std::end(from), to.begin());
}

std::optional<DcbPfc> pfc_of(Bytes payload) {
  const auto told = value_of<ieee_pfc>(payload);
  if (!told) return std::nullopt;
  DcbPfc pfc;
  pfc.capable = told->pfc_cap;
  pfc.enabled = told->pfc_en;
  pfc.bypass_macsec = told->mbc != 0;
  pfc.delay = told->delay;
  for (std::size_t i = 0; i < pfc.requests.size(); ++i) {
    pfc.requests[i] = told->requests[i];
    pfc.indications[i] = told->indications[i];
  }
  return pfc;
}

std::optional<DcbEts> ets_of(Bytes payload) {
  const auto told = value_of<ieee_ets>(payload);
  if (!told) return std::nullopt;
  DcbEts ets;
  ets.willing = told->willing != 0;
  ets.capable = told->ets_cap;
  copy(told->tc_tx_bw, ets.tc_bandwidth);
  copy(told->tc_tsa, ets.tc_algorithm);
  copy(told->prio_tc, ets.priority_tc);
  return ets;
}

std::optional<DcbBuffer> buffer_of(Bytes payload) {
  const auto told = value_of<dcbnl_buffer>(payload);
  if (!told) return std::nullopt;
  DcbBuffer buffer;
  copy(told->prio2buffer, buffer.priority_buffer);
  copy(told->buffer_size, buffer.bytes);
  buffer.total_bytes = told->total_size;
  return buffer;
}

void read_apps(Bytes table, std::vector<DcbApp>& apps) {
  for_each_attribute(table, [&](std::uint16_t type, Bytes payload) {
    const auto app = value_of<dcb_app>(payload);
    if (type == DCB_ATTR_IEEE_APP && app && apps.size() < most_apps)
      apps.push_back({app->selector, app->protocol, app->priority});
  });
}

void read_ieee(Bytes nest, DcbFacts& dcb) {
  for_each_attribute(nest, [&](std::uint16_t type, Bytes payload) {
    switch (type) {
      case DCB_ATTR_IEEE_PFC:
        dcb.pfc = pfc_of(payload);
        break;
      case DCB_ATTR_IEEE_ETS:
        dcb.ets = ets_of(payload);
        break;
      case DCB_ATTR_IEEE_PEER_PFC:
        dcb.peer_pfc = pfc_of(payload);
        break;
      case DCB_ATTR_IEEE_PEER_ETS:
        dcb.peer_ets = ets_of(payload);
        break;
      case DCB_ATTR_DCB_BUFFER:
        dcb.buffer = buffer_of(payload);
        break;
      case DCB_ATTR_IEEE_APP_TABLE:
        read_apps(payload, dcb.apps);
        break;
      case attr_ieee_app_trust_table:
        for_each_attribute(payload, [&](std::uint16_t inner, Bytes value) {
          if (inner == attr_app_trust && !value.empty() && dcb.trust.size() < most_apps)
            dcb.trust.push_back(static_cast<unsigned>(value.front()));
        });
        break;
      default:
        break;
    }
  });
}

}  // namespace

DcbFacts read_dcb(KernelQueries& kernel, HostTree& problems, const std::string& interface) {
  DcbFacts dcb;
  NetlinkRequest request(RTM_GETDCB, 0);
  request.header(dcbmsg{AF_UNSPEC, DCB_CMD_IEEE_GET, 0}).attribute(DCB_ATTR_IFNAME, interface);
  const auto answer = kernel.netlink(NETLINK_ROUTE, request.bytes());
  if (!answer) {
    const int error = answer.error().system_errno;
    if (error == EOPNOTSUPP) {
      dcb.reason = "its driver has no DCB";
    } else {
      dcb.reason = answer.error().message;
      problems.problem("netlink DCB " + interface, answer.error().message);
    }
    return dcb;
  }
  for_each_message(*answer, [&](std::uint16_t type, Bytes message) {
    if ((type != RTM_GETDCB && type != RTM_SETDCB) || message.size() < sizeof(dcbmsg)) return;
    for_each_attribute(behind(message, NLMSG_ALIGN(sizeof(dcbmsg))), [&](std::uint16_t kind, Bytes payload) {
      if (kind == DCB_ATTR_IEEE) {
        dcb.known = true;
        read_ieee(payload, dcb);
      }
      if (kind == DCB_ATTR_DCBX) dcb.dcbx = value_of<std::uint8_t>(payload);
    });
  });
  if (!dcb.known) dcb.reason = "the kernel's answer has no IEEE settings";
  return dcb;
}

}  // namespace roce::capture
