// SPDX-License-Identifier: Apache-2.0
#include "dissect/header_table.hpp"

#include <array>

#include "dissect/headers/cm.hpp"
#include "dissect/headers/cm_service.hpp"
#include "dissect/headers/ethernet.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/headers/ipfix.hpp"
#include "dissect/headers/iser.hpp"
#include "dissect/headers/lldp.hpp"
#include "dissect/headers/lldp_cee.hpp"
#include "dissect/headers/lldp_dcbx.hpp"
#include "dissect/headers/mac_control.hpp"
#include "dissect/headers/mad.hpp"
#include "dissect/headers/mirror.hpp"
#include "dissect/headers/mrc.hpp"
#include "dissect/headers/nvme.hpp"
#include "dissect/headers/other_transport.hpp"
#include "dissect/headers/rpc_rdma.hpp"
#include "dissect/headers/sflow.hpp"
#include "dissect/headers/sflow_counters.hpp"
#include "dissect/headers/shell.hpp"
#include "dissect/headers/smb_direct.hpp"
#include "dissect/headers/trailer.hpp"
#include "dissect/headers/tunnel.hpp"

namespace roce::dissect {
namespace {

template <class Header>
constexpr bool fields_fit() {
  for (const Field& field : Header::fields) {
    // A field may begin after the fixed part only if it runs to the header's end.
    if (field.bits != 0 && field.end_byte() > Header::size) return false;
    if (field.is_number() && field.bits > 64) return false;
  }
  return true;
}

template <class... Header>
consteval std::array<HeaderInfo, header_count> list() {
  static_assert((fields_fit<Header>() && ...), "a field passes the end of its header");
  static_assert(sizeof...(Header) == header_count, "a HeaderId without a row, or a row twice");
  std::array<HeaderInfo, header_count> table{};
  ((table[static_cast<std::size_t>(Header::id)] =
        HeaderInfo{Header::id, Header::name, Header::title, Header::size, Header::fields}),
   ...);
  return table;
}

constexpr auto table =
    list<Ethernet, Vlan, ServiceVlan, Mpls, MacSec, Sll, Sll2, NullLoop, Erf,               //
         Ipv4, Ipv6, Ipv6HopByHop, Ipv6Routing, Ipv6Fragment, Ipv6DestinationOptions, Udp,  //
         Gre, GreChecksum, GreKey, GreSequence, Erspan2, Erspan3, ErspanPlatform, Vxlan, VxlanGpe, Geneve,
         AristaStamp, Csig,                                                                         //
         Esp, Ah, Psp, UetPrologue, UetRequest, UetAck, UetNack, Falcon, VeRoce, Ifa, IfaMetadata,  //
         SflowIpv4, SflowIpv6, SflowFlowSample, SflowFlowSampleExpanded, SflowCountersSample,
         SflowCountersSampleExpanded, SflowDiscardedSample, SflowSample, SflowRawHeader, SflowSwitch,
         SflowIbLrh, SflowIbGrh, SflowIbBth, SflowEgressQueue, SflowAcl, SflowFunction, SflowTransitDelay,
         SflowQueueDepth, SflowHardwareTrap, SflowLinuxReason, SflowTimestamp, SflowFlowRecord,
         SflowInterfaceCounters, SflowEthernetCounters, SflowPfcCounters, SflowCountersRecord,  //
         IpfixMessage, Netflow9Message, IpfixSet, IpfixTemplate, IpfixOptionsTemplate,
         Netflow9OptionsTemplate, IpfixDropMirror,  //
         Lrh, Grh, Bth, Rdeth, Deth, Xrceth, Feth, Reth, AtomicEth, Aeth, AtomicAckEth, ImmDt, Ieth, MrcMeth,
         MrcTseth, MrcSeth, MrcNeth, MrcPeth, MrcErth, MrcEeth, Payload, Icrc, Vcrc,  //
         MacPause, MacPfc, MacControl, LldpChassisId, LldpPortId, LldpTtl, LldpPortDescription,
         LldpSystemName, LldpSystemDescription, LldpCapabilities, LldpManagement, LldpManagementInterface,
         LldpDcbxEtsConfiguration, LldpDcbxEtsRecommendation, LldpDcbxPfc, LldpDcbxApplication,
         LldpDcbxApplicationEntry, LldpDcbxCee, LldpDcbxCeeControl, LldpDcbxCeePriorityGroups, LldpDcbxCeePfc,
         LldpDcbxCeeApplication, LldpDcbxCeeApplicationEntry, LldpDcbxCeeUnknown, LldpOrganisational,
         LldpUnknown, LldpEnd,  //
         Mad, CmReq, CmMra, CmRej, CmRep, CmRtu, CmDreq, CmDrep, CmSidrReq, CmSidrRep, CmLap, CmApr,
         CmUnknown, IpCm,                                                            //
         MetamakoFcs, MetamakoExtension, MetamakoLongExtension, Metamako, Exablaze,  //
         NvmeRdmaRequest, NvmeRdmaReply, NvmeRdmaReject, NvmeCommand, NvmeFabricsCommand, NvmeCompletion,
         Iser, Iscsi, RpcRdma, RpcRdmaReadSegment, RpcRdmaWriteChunk, RpcRdmaReplyChunk, RpcRdmaSegment,
         RpcRdmaError, RpcCall, RpcReply, SmbDirect, SmbDirectNegotiateRequest, SmbDirectNegotiateResponse,
         SmbDirectData>();

consteval bool every_id_has_its_row() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].id != static_cast<HeaderId>(i) || table[i].title.empty()) return false;
  }
  return true;
}
static_assert(every_id_has_its_row());

}  // namespace

std::span<const HeaderInfo> header_table() noexcept {
  return table;
}
const HeaderInfo& header_info(HeaderId id) noexcept {
  return table[static_cast<std::size_t>(id)];
}

}  // namespace roce::dissect
