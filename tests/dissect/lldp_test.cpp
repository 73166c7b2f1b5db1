// SPDX-License-Identifier: Apache-2.0
// Frames byte for byte after IEEE 802.1AB and IEEE 802.1Q, Annex D; the decoded values of the same
// TLVs were compared with tshark 4.0 on captures of switches.
#include "dissect/headers/lldp.hpp"

#include "dissect/headers/lldp_cee.hpp"
#include "dissect/headers/lldp_dcbx.hpp"
#include "literal_frame.hpp"

namespace roce::dissect {
namespace {

const std::string lldp = "0180c200000e 505400000a01 88cc";
const std::string mandatory =
    "0207 04 505400000a01"  // chassis: MAC
    "0405 05 65746830"      // port: interface name "eth0"
    "0602 0078";            // 120 s
const std::string end = "0000";

TEST(Lldp, MandatoryTlvs) {
  const LiteralFrame frame(lldp + mandatory + end + zeros(20));
  EXPECT_EQ(frame.ids(HeaderId::lldp_chassis_id),
            (std::vector{HeaderId::lldp_chassis_id, HeaderId::lldp_port_id, HeaderId::lldp_ttl,
                         HeaderId::lldp_end}));
  EXPECT_EQ(frame.d.stop, Stop::complete);
  EXPECT_EQ(frame.all("lldp.tlv.type"), (std::vector<std::uint64_t>{1, 2, 3, 0}));
  EXPECT_EQ(frame.all("lldp.tlv.len"), (std::vector<std::uint64_t>{7, 5, 2, 0}));
  EXPECT_EQ(frame.bytes_of("lldp.chassis.id.mac"), "505400000a01");
  EXPECT_EQ(frame.bytes_of("lldp.chassis.id"), "");
  EXPECT_EQ(frame.text_of("lldp.port.id"), "eth0");
  EXPECT_EQ(frame.number("lldp.time_to_live"), 120U);
  check_truncations(frame.bytes);
}

TEST(Lldp, NetworkAddressesAsIds) {
  const LiteralFrame frame(lldp + "0206 05 01 0a4d0001" + "0412 04 02 fd770000000000000000000000000001" +
                           "06020000" + end);
  EXPECT_EQ(frame.bytes_of("lldp.chassis.id.ip4"), "0a4d0001");
  EXPECT_EQ(frame.bytes_of("lldp.port.id.ip6"), "fd770000000000000000000000000001");
}

TEST(Lldp, AnAddressOfTheWrongLengthIsBytes) {
  const LiteralFrame frame(lldp + "0206 04 5054000001" + "0405 05 65746830" + "0602 0078" + end);
  EXPECT_EQ(frame.bytes_of("lldp.chassis.id.mac"), "");
  EXPECT_EQ(frame.bytes_of("lldp.chassis.id"), "5054000001");
}

TEST(Lldp, TextsCapabilitiesAndManagementAddress) {
  const LiteralFrame frame(lldp + mandatory + "0804 75706c6b" + "0a05 6c65616631" + "0c02 4f53" +
                           "0e04 0014 0004"                             // bridge, router; bridge
                           "100c 05 01 c0a80001 02 00000007 00"         // 192.168.0.1, ifIndex 7
                           "100e 02 06 aa 03 00000001 05 2b06010401" +  // another family, an OID
                           end);
  EXPECT_EQ(frame.d.stop, Stop::complete);
  EXPECT_EQ(frame.text_of("lldp.port.desc"), "uplk");
  EXPECT_EQ(frame.text_of("lldp.tlv.system.name"), "leaf1");
  EXPECT_EQ(frame.text_of("lldp.tlv.system.desc"), "OS");
  EXPECT_EQ(frame.number("lldp.tlv.system_cap"), 0x14U);
  EXPECT_EQ(frame.number("lldp.tlv.system_cap.router"), 1U);
  EXPECT_EQ(frame.number("lldp.tlv.enable_system_cap.router"), 0U);
  EXPECT_EQ(frame.number("lldp.tlv.enable_system_cap.bridge"), 1U);
  EXPECT_EQ(frame.bytes_of("lldp.mgn.addr.ip4"), "c0a80001");
  EXPECT_EQ(frame.bytes_of("lldp.mgn.addr.hex"), "aa");
  EXPECT_EQ(frame.all("lldp.mgn.interface.number"), (std::vector<std::uint64_t>{7, 1}));
  EXPECT_EQ(frame.bytes_of("lldp.mgn.obj.id.bytes"), "2b06010401");
  check_truncations(frame.bytes);
}

TEST(Lldp, IeeeDcbx) {
  const LiteralFrame frame(
      lldp + mandatory +
      "fe19 0080c2 09 83 00110022 0a141e28 00000000 02020000 000000ff"  // ETS configuration
      "fe19 0080c2 0a 00 11223344 32320000 00000000 02020202 02020200"  // ETS recommendation
      "fe06 0080c2 0b 88 08"                                            // PFC: willing, priority 3
      "fe0b 0080c2 0c 00 6312b7 618915" +                               // RoCE v2 and v1 on 3
      end);
  EXPECT_EQ(frame.d.stop, Stop::complete);
  EXPECT_EQ(frame.ids(HeaderId::lldp_dcbx_ets_configuration),
            (std::vector{HeaderId::lldp_dcbx_ets_configuration, HeaderId::lldp_dcbx_ets_recommendation,
                         HeaderId::lldp_dcbx_pfc, HeaderId::lldp_dcbx_application,
                         HeaderId::lldp_dcbx_application_entry, HeaderId::lldp_dcbx_application_entry,
                         HeaderId::lldp_end}));
  EXPECT_EQ(frame.all("lldp.dcbx.ieee.willing"), (std::vector<std::uint64_t>{1, 1}));
  EXPECT_EQ(frame.number("lldp.dcbx.ieee.ets.maxtcs"), 3U);
  EXPECT_EQ(frame.all("lldp.dcbx.feature.pg.pgid_prio3"), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(frame.all("lldp.dcbx.feature.pg.per0"), (std::vector<std::uint64_t>{10, 50}));
  EXPECT_EQ(frame.all("lldp.dcbx.ieee.ets.tsa7"), (std::vector<std::uint64_t>{255, 0}));
  EXPECT_EQ(frame.number("lldp.dcbx.ieee.pfc.numtcs"), 8U);
  EXPECT_EQ(frame.number("lldp.dcbx.feature.pfc.prio3"), 1U);
  EXPECT_EQ(frame.number("lldp.dcbx.feature.pfc.prio4"), 0U);
  EXPECT_EQ(frame.all("lldp.dcbx.ieee.app.prio"), (std::vector<std::uint64_t>{3, 3}));
  EXPECT_EQ(frame.all("lldp.dcbx.iee.app.sf"), (std::vector<std::uint64_t>{3, 1}));
  EXPECT_EQ(frame.all("lldp.dcbx.feature.app.proto"), (std::vector<std::uint64_t>{4791, 0x8915}));
  check_truncations(frame.bytes);
}

TEST(Lldp, CeeDcbx) {
  const LiteralFrame frame(lldp + mandatory +
                           "fe41 001b21 02"
                           "020a 00 00 00000005 00000004"                      // control: 5, acknowledges 4
                           "0411 00 00 c0 00 01230000 0a5a000000000000 02"     // groups
                           "0606 00 00 80 00 08 02"                            // PFC: priority 3
                           "0810 00 00 c0 00 8915 00 1b21 08 12b7 01 1b21 08"  // RoCE v1, UDP or TCP 4791
                           "0a02 abcd" +                                       // a type of another version
                           end);
  EXPECT_EQ(frame.d.stop, Stop::complete);
  EXPECT_EQ(frame.ids(HeaderId::lldp_dcbx_cee),
            (std::vector{HeaderId::lldp_dcbx_cee, HeaderId::lldp_dcbx_cee_control,
                         HeaderId::lldp_dcbx_cee_priority_groups, HeaderId::lldp_dcbx_cee_pfc,
                         HeaderId::lldp_dcbx_cee_application, HeaderId::lldp_dcbx_cee_application_entry,
                         HeaderId::lldp_dcbx_cee_application_entry, HeaderId::lldp_dcbx_cee_unknown,
                         HeaderId::lldp_end}));
  EXPECT_EQ(frame.number("lldp.dcbx.control.seq"), 5U);
  EXPECT_EQ(frame.number("lldp.dcbx.control.ack"), 4U);
  EXPECT_EQ(frame.number("lldp.dcbx.feature.pg.pgid_prio3"), 3U);
  EXPECT_EQ(frame.number("lldp.dcbx.feature.pg.per1"), 90U);
  EXPECT_EQ(frame.all("lldp.dcbx.feature.enabled"), (std::vector<std::uint64_t>{1, 1, 1}));
  EXPECT_EQ(frame.all("lldp.dcbx.feature.willing"), (std::vector<std::uint64_t>{1, 0, 1}));
  EXPECT_EQ(frame.number("lldp.dcbx.feature.pfc.prio3"), 1U);
  EXPECT_EQ(frame.all("lldp.dcbx.feature.app.proto"), (std::vector<std::uint64_t>{0x8915, 4791}));
  EXPECT_EQ(frame.all("lldp.dcbx.feature.app.sf"), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(frame.all("lldp.dcbx.feature.app.prio"), (std::vector<std::uint64_t>{8, 8}));
  check_truncations(frame.bytes);
}

TEST(Lldp, OrganisationsThatAreNotFollowed) {
  const LiteralFrame frame(lldp + mandatory + "fe06 0080c2 01 0064" + "fe06 00120f 04 05ee" +
                           "fe05 0026e1 07 99" + "1203 010203" + end);
  EXPECT_EQ(frame.all("lldp.orgtlv.oui"), (std::vector<std::uint64_t>{0x0080c2, 0x00120f, 0x0026e1}));
  EXPECT_EQ(frame.number("lldp.ieee.802_1.subtype"), 1U);
  EXPECT_EQ(frame.number("lldp.ieee.802_3.subtype"), 4U);
  EXPECT_EQ(frame.number("lldp.unknown_subtype"), 7U);
  EXPECT_EQ(frame.bytes_of("lldp.unknown_subtype.content"), "99");
  EXPECT_EQ(frame.bytes_of("lldp.orgtlv.content"), "006405ee");
  EXPECT_EQ(frame.bytes_of("lldp.tlv.content"), "010203");
}

TEST(Lldp, NoEndTlvIsNoError) {
  EXPECT_EQ(LiteralFrame(lldp + mandatory).d.stop, Stop::complete);
}

struct Damage {
  const char* what;
  const char* tlv;
  HeaderId at;
};
class LldpDamage : public testing::TestWithParam<Damage> {};
TEST_P(LldpDamage, EndsTheWalk) {
  const LiteralFrame frame(lldp + mandatory + GetParam().tlv + end);
  EXPECT_EQ(frame.d.stop, Stop::contradicts_itself);
  EXPECT_EQ(frame.d.stopped_at, GetParam().at) << header_info(frame.d.stopped_at).title;
  EXPECT_EQ(frame.ids(HeaderId::lldp_end).size(), 0U);
}
INSTANTIATE_TEST_SUITE_P(
    All, LldpDamage,
    testing::Values(
        Damage{"a TLV longer than the frame", "0a40 6c", HeaderId::lldp_system_name},
        Damage{"an empty chassis id", "0201 04", HeaderId::lldp_chassis_id},
        Damage{"TTL of one byte", "0601 78", HeaderId::lldp_ttl},
        Damage{"capabilities of three bytes", "0e03 001400", HeaderId::lldp_capabilities},
        Damage{"management address without address", "1008 01 01 02 00000007 00", HeaderId::lldp_management},
        Damage{"management address past its TLV", "1009 1f 01 c0 02 00000007 00", HeaderId::lldp_management},
        Damage{"OID past its TLV", "100c 05 01 c0a80001 02 00000007 01", HeaderId::lldp_management_interface},
        Damage{"organisation without subtype", "fe03 0080c2", HeaderId::lldp_organisational},
        Damage{"PFC of one byte", "fe05 0080c2 0b 88", HeaderId::lldp_dcbx_pfc},
        Damage{"half an application entry", "fe09 0080c2 0c 00 6312b7 61",
               HeaderId::lldp_dcbx_application_entry},
        Damage{"CEE sub-TLV past its TLV", "fe07 001b21 02 0606 00", HeaderId::lldp_dcbx_cee_pfc},
        Damage{"CEE PFC of two bytes", "fe08 001b21 02 0602 0000", HeaderId::lldp_dcbx_cee_pfc},
        Damage{"half a CEE sub-TLV header", "fe05 001b21 02 06", HeaderId::lldp_dcbx_cee_unknown}));

TEST(Lldp, TooManyEntriesAreTooDeep) {
  std::string entries;
  for (int i = 0; i < 100; ++i) entries += "6312b7";
  const LiteralFrame frame(lldp + mandatory + "ff31 0080c2 0c 00" + entries + end);
  EXPECT_EQ(frame.d.stop, Stop::too_deep);
  EXPECT_EQ(frame.d.layer_count, max_layers);
}

}  // namespace
}  // namespace roce::dissect
