// SPDX-License-Identifier: Apache-2.0
// The CM exchanges of real captures, against what the programs printed and what the wire shows.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "analyze/cm/cm_tracker.hpp"
#include "analyze/record/packet_record.hpp"
#include "capture/core/source.hpp"
#include "dissect/dissect.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {
namespace cm_samples_test {
namespace {

using State = CmExchange::State;

struct Expected {
  const char* name;
  std::size_t made;                   ///< connections: learn() returned them
  std::array<std::size_t, 5> states;  ///< requested, replied, established, rejected, disconnected
  /// Queue pairs of the last exchange, client and server: with perftest as it printed them
  /// ("local address: LID 0000 QPN 0x0037 ..."), else 0.
  std::uint32_t client_qpn = 0;
  std::uint32_t server_qpn = 0;
};
std::ostream& operator<<(std::ostream& out, const Expected& expected) {
  return out << expected.name;
}

constexpr Expected samples[] = {
    {"02_send_bw_cm.pcap.zst", 2, {0, 0, 0, 0, 2}, 0x37, 0x37},
    {"02_send_bw_cm_v6.pcap.zst", 2, {0, 0, 0, 0, 2}, 0x3b, 0x3b},
    {"02_write_bw_cm.pcap.zst", 2, {0, 0, 0, 0, 2}, 0x39, 0x39},
    {"03_cmtime.pcap", 41, {0, 0, 0, 0, 41}},  // 1, and twice 20 at once
    {"03_fi_verbs.pcap.zst", 1, {0, 0, 0, 0, 1}},
    {"03_rdma_client.pcap", 1, {0, 0, 0, 0, 1}},
    {"03_rdma_xclient.pcap", 1, {0, 0, 0, 0, 1}},
    {"03_riostream.pcap.zst", 1, {0, 0, 0, 0, 1}},
    {"03_rping.pcap", 1, {0, 0, 0, 0, 1}},
    {"03_rping_killed_client.pcap", 1, {0, 0, 0, 0, 1}},
    {"03_rping_large.pcap.zst", 1, {0, 0, 0, 0, 1}},
    {"03_rping_noserver.pcap", 0, {0, 0, 0, 1, 0}},
    {"03_ucmatose.pcap.zst", 5, {0, 0, 0, 0, 5}},
    {"03_ucmatose_migrate.pcap", 2, {0, 0, 0, 0, 2}},
    {"03_ucmatose_v6.pcap", 0, {0, 0, 0, 2, 0}},
    {"03_udaddy.pcap", 0, {0, 2, 0, 0, 0}},  // SIDR
    {"03_udaddy_v6.pcap", 0, {0, 0, 0, 2, 0}},
    {"08_vlan100_rping.pcap", 1, {0, 0, 0, 0, 1}},
    {"10_iser.pcap", 2, {0, 0, 0, 0, 2}},
    {"10_nfs4_rdma.pcap.zst", 1, {0, 0, 0, 0, 1}},
    {"10_nvmeof_discover.pcap", 1, {0, 0, 0, 1, 1}},
    {"10_nvmeof_io.pcap.zst", 3, {0, 0, 0, 2, 3}},
    {"10_rds.pcap", 1, {0, 0, 1, 0, 0}},  // the capture ended first
    {"10_srp.pcap", 0, {0, 0, 0, 1, 0}},
    {"61_rping.pcap", 1, {0, 0, 0, 0, 1}},
    {"61_nvmeof_io.pcap.zst", 2, {0, 0, 0, 0, 2}},
};

/// The first request to each queue pair: its number and PSN.
struct FirstRequest {
  std::uint64_t number = 0;
  std::uint32_t psn = 0;
};

struct Read {
  std::size_t made = 0;
  std::vector<CmExchange> exchanges;
  std::map<std::pair<dissect::IpAddress, std::uint32_t>, FirstRequest> requests;
};

Read read_sample(const std::string& name) {
  Read result;
  auto source = capture::open_files({std::string(ROCE_SAMPLES) + "/" + name});
  if (!source) {
    ADD_FAILURE() << "cannot open sample " << name;
    return result;
  }
  CmTracker tracker;
  capture::FrameBatch batch;
  dissect::Dissection d;
  std::uint64_t number = 0;
  for (;;) {
    const auto count = (*source)->next_batch(batch, 1000);
    if (!count || *count == 0) break;
    for (const capture::Frame& frame : batch.frames) {
      dissect::dissect({frame.data, frame.captured}, frame.wire, frame.link_type, d);
      if (const CmExchange* made = tracker.learn(++number, frame, d)) {
        ++result.made;
        EXPECT_EQ(tracker.exchange_of(made->client, made->client_qpn.value()), made);
        EXPECT_EQ(tracker.exchange_of(made->server, made->server_qpn.value()), made);
      }
      PacketRecord record;
      make_record(frame, d, record);
      if (record.has(PacketRecord::valid) && dissect::opcode_info(record.opcode).request &&
          record.key.dst_qp > 1) {
        result.requests.try_emplace({record.key.dst, record.key.dst_qp}, FirstRequest{number, record.psn});
      }
    }
  }
  EXPECT_EQ(tracker.forgotten(), 0U);
  result.exchanges = tracker.take_exchanges();
  return result;
}

class CmSamples : public testing::TestWithParam<Expected> {};

TEST_P(CmSamples, ExchangesAreWhole) {
  const Expected& expected = GetParam();
  const Read read = read_sample(expected.name);
  EXPECT_EQ(read.made, expected.made);
  std::array<std::size_t, 5> states{};
  for (const CmExchange& x : read.exchanges) {
    ++states[static_cast<std::size_t>(x.state)];
    EXPECT_FALSE(unanswered(x));
    EXPECT_TRUE(answer_time_ns(x));
    for (const CmSeen* seen : {&x.req, &x.rep, &x.rtu, &x.rej, &x.dreq, &x.drep}) {
      EXPECT_LE(seen->count, 1U);  // nothing was lost or repeated in these
    }
    if (x.state == State::disconnected) {
      EXPECT_EQ(x.service, dissect::CmTransport::rc);
      EXPECT_EQ(x.pmtu, 4096U);
      EXPECT_TRUE(connect_time_ns(x));
      EXPECT_TRUE(x.drep);
    }
    // The connection's first requests carry the PSNs that the exchange announced.
    const auto check = [&](const dissect::IpAddress& to, std::optional<std::uint32_t> qpn,
                           std::optional<std::uint32_t> psn) {
      if (!qpn || x.sidr) return;
      const auto found = read.requests.find({to, *qpn});
      if (found == read.requests.end()) return;
      EXPECT_EQ(found->second.psn, psn);
      EXPECT_GT(found->second.number, x.rep.frame);
      EXPECT_TRUE(!x.dreq || found->second.number < x.drep.frame);
    };
    check(x.server, x.server_qpn, x.client_psn);
    check(x.client, x.client_qpn, x.server_psn);
  }
  EXPECT_EQ(states, expected.states);
  if (expected.client_qpn != 0 && !read.exchanges.empty()) {
    EXPECT_EQ(read.exchanges.back().client_qpn, expected.client_qpn);
    EXPECT_EQ(read.exchanges.back().server_qpn, expected.server_qpn);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CmSamples, testing::ValuesIn(samples));

TEST(CmSamples, SayWhyAConnectionFailed) {
  const auto nobody = read_sample("03_rping_noserver.pcap").exchanges;
  ASSERT_EQ(nobody.size(), 1U);
  EXPECT_EQ(nobody[0].reject_reason, 8);  // invalid service id
  EXPECT_TRUE(nobody[0].rejected_by_server);

  // The second client gave up (reason 4) while the server's refusal was under way.
  const auto refused = read_sample("03_ucmatose_v6.pcap").exchanges;
  ASSERT_EQ(refused.size(), 2U);
  for (const CmExchange& x : refused) {
    EXPECT_EQ(x.reject_reason, dissect::cm_reject_consumer);
    EXPECT_TRUE(x.rejected_by_server);
  }

  for (const CmExchange& x : read_sample("03_udaddy_v6.pcap").exchanges) {
    EXPECT_TRUE(x.sidr);
    EXPECT_EQ(x.sidr_status, 2);  // rejected by the service provider
    EXPECT_FALSE(x.server_qpn);
  }
}

// What the options asked for is what the REQ says.
TEST(CmSamples, ParametersAreThoseAskedFor) {
  const auto marked = read_sample("02_write_bw_cm.pcap.zst").exchanges;
  ASSERT_EQ(marked.size(), 2U);
  EXPECT_EQ(marked[1].traffic_class, 104);  // -T 104
  EXPECT_EQ(read_sample("02_send_bw_cm.pcap.zst").exchanges.at(1).traffic_class, 0);
  const auto rping = read_sample("03_rping.pcap").exchanges.at(0);
  EXPECT_EQ(rping.client_qpn, 0xefU);
  EXPECT_EQ(rping.server_qpn, 0xc8U);
  EXPECT_EQ(rping.server_psn, 1398315U);
  EXPECT_EQ(rping.client_psn, 8243819U);
  EXPECT_EQ(dissect::service_port(rping.service_id).port, 7174);
}

}  // namespace
}  // namespace cm_samples_test
}  // namespace roce::analyze
