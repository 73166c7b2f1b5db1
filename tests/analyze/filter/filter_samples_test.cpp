// SPDX-License-Identifier: Apache-2.0
// Display filters on real captures, counted by tshark.
#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyze/filter/filter.hpp"
#include "capture/core/source.hpp"
#include "dissect/dissect.hpp"

namespace roce::analyze {
namespace filter_samples_test {
namespace {

Filter compiled(std::string_view expression) {
  auto filter = Filter::compile(expression);
  if (!filter) {
    ADD_FAILURE() << filter.error().describe(expression);
    return std::move(*Filter::compile(""));
  }
  return std::move(*filter);
}

/// A file of samples/, read once.
class Sample {
 public:
  explicit Sample(const std::string& name) {
    auto source = capture::open_files({std::string(ROCE_SAMPLES) + "/" + name});
    if (!source) {
      ADD_FAILURE() << "cannot open sample " << name;
      return;
    }
    for (;;) {
      capture::FrameBatch& batch = *batches_.emplace_back(std::make_unique<capture::FrameBatch>());
      const auto count = (*source)->next_batch(batch, 1000);
      if (!count || *count == 0) return;
    }
  }

  std::size_t count(std::string_view expression) const {
    const Filter filter = compiled(expression);
    std::size_t matches = 0;
    PacketView view;
    dissect::Dissection dissection;
    for (const auto& batch : batches_) {
      for (const capture::Frame& frame : batch->frames) {
        if (view.number++ == 0) view.first_time_ns = view.previous_time_ns = frame.time_ns;
        view.frame = &frame;
        view.dissection = &dissection;
        dissect::dissect(view.bytes(), frame.wire, frame.link_type, dissection);
        if (filter.needs_icrc()) view.icrc = dissect::check_icrc(view.bytes(), dissection);
        matches += filter.matches(view) ? 1U : 0U;
        view.previous_time_ns = frame.time_ns;
      }
    }
    return matches;
  }

 private:
  std::vector<std::unique_ptr<capture::FrameBatch>> batches_;
};

struct Count {
  std::string_view expression;
  std::size_t packets;
};

// Numbers of `tshark -r FILE -Y EXPRESSION | wc -l`, tshark 4.0.17.
constexpr Count sample_06_flush[] = {
    {"infiniband.bth.opcode == 17", 20},
    {"infiniband.bth.opcode != 17", 80},
    {"infiniband.bth.opcode > 17", 20},
    {"infiniband.bth.opcode <= 17", 80},
    {"not infiniband.bth.opcode == 17", 98},
    {"infiniband.bth.opcode", 100},
    {"frame.number in {1..5}", 5},
    {"frame.number in {1, 3, 5..7}", 5},
    {"frame.number == 010", 1},
    {"frame.number==0b11", 1},
    {"frame.number == 'a'", 1},
    {"frame.number & 1", 59},
    {"frame.number & 3 == 3", 29},
    {"ip.src[0:2] == 0a:4d", 118},
    {"eth.src[0] == 52", 118},
    {"eth.src[0] == 0x52", 118},
    {"eth.src[-1:] == 01", 118},
    {"eth.src[4-5] == 0a:01", 71},
    {"any ip.addr == 10.77.0.1", 118},
    {"all ip.addr == 10.77.0.1", 0},
    {"ip.addr === 10.77.0.1", 0},
    {"ip.addr !== 10.77.0.1", 118},
    {"ip.addr != 10.77.0.1", 0},
    {"ip.addr != 10.77.0.9", 118},
    {"infiniband.bth.a", 100},
    {"infiniband.bth.a == 1", 40},
    {"infiniband.bth.a == 2", 40},
    {"infiniband.bth.a == true", 40},
    {"infiniband.bth.a != 0", 40},
    {"frame.time_epoch > 1700000000.5", 118},
    {"arp", 0},
    {"tcp", 18},
    {"tcp and not roce", 18},
    {"icmp or icmpv6", 0},
    {"tcp[0:2] == 4a:38", 7},
    {"tcp contains 4a:38", 18},
    {"frame.time", 118},
    {"frame.time >= \"2026-11-20 10:59:44.4998098\"", 68},
    {"frame.time < \"Nov 20, 2026 10:59:44.4998098 UTC\"", 50},
    {"frame.time > \"2026-11-20T11:59:44.4998098+01:00\"", 68},
    {"frame.time == 2026-11-20", 0},
    {"frame.time in {2026-11-19..2026-11-21}", 118},
    {"eth.src[5:] == 01", 118},
    {"frame.time_relative < 0.2457", 29},
    {"frame.time_delta > 0.005", 16},
    {"infiniband.bth.psn > 5 or ip and udp", 100},
    {"ip.addr == 10.77.0.0/30", 118},
    {"ip.addr < 10.77.0.2", 118},
    {"ip.src > 10.77.0.1", 47},
    {"ip.src >= 10.77.0.1", 118},
    {"infiniband.reth.r_key == infiniband.reth.dmalen", 0},
    {"ip.src == ip.dst", 0},
    {"ip.src < ip.dst", 71},
    {"udp.port in {1000 .. 2000, 4791}", 100},
    {"frame.number not in {1,2}", 116},
    {"ip.src not in {10.77.0.1}", 47},
    {"not not ip", 118},
    {"!ip.src == 10.77.0.1", 47},
    {"!(udp.port == 4791) || frame.len > 1000", 58},
    {"frame.protocols contains \"infini\"", 100},
    {"frame.protocols matches \"^ETH:\"", 118},
    {"frame.protocols matches \"ip:(udp|sctp)\"", 100},
    {"udp.port==4791&&ip", 100},
    {"infiniband.aeth contains 00:00", 40},
    {"infiniband.bth contains 11", 20},
    {"infiniband.bth[0] == 11", 20},
    {"infiniband.aeth.syndrome.credit_count == 31", 40},
    {"ip.dsfield.ecn == 0", 118},
    {"ip.flags.df == 1", 118},
    {"ip.id > 0x1000", 106},
    {"infiniband.payload[0:2] == 00:00", 0},
    {"infiniband.bth.destqp eq 0x8f", 100},
    {"ip.ttl ge 64", 118},
    {"ip.ttl lt 64", 0},
    {"ip.ttl le 64", 118},
    {"ip.ttl gt 63", 118},
    {"ip.ttl ne 64", 0},
    {"eth.dst == 52:54:00:00:0b:01", 71},
    {"eth.dst == 52-54-00-00-0b-01", 71},
    {"eth.dst == 5254.0000.0b01", 71},
    {"eth.addr contains 0b:01", 118},
    {"eth.src > 52:54:00:00:0a:01", 47},
};
constexpr Count sample_08_qinq[] = {
    {"vlan", 100},
    {"ieee8021ad", 100},
    {"vlan.id == 30", 100},
    {"vlan.priority == 3", 100},
    {"ieee8021ad.id == 200 && vlan.id == 30", 100},
    {"vlan.id in {1..4000}", 100},
};
constexpr Count sample_09_vxlan[] = {
    {"vxlan", 104},
    {"ip.src == 10.77.0.1", 105},
    {"ip.addr != 10.77.0.1", 0},
    {"ip.ttl == 64", 145},
    {"all ip.ttl == 64", 145},
    {"any ip.ttl != 64", 0},
    {"ip.src == 10.77.0.1 and infiniband", 80},
    {"udp.dstport == 4789", 104},
    {"udp.dstport != 4789", 0},
    {"all udp.dstport == 4789", 4},
    {"udp.dstport === 4791", 0},
    {"udp.port !== 4789", 104},
    {"vxlan.vni == 42", 104},
    {"eth.src == eth.dst", 0},
    {"ip.src == ip.dst", 0},
};
constexpr Count sample_02_send_bw_cm_v6[] = {
    {"ipv6", 156},
    {"ipv6.src == fd77::1", 109},
    {"ipv6.addr == fd77::/64", 156},
    {"ipv6.addr != fd77::1", 0},
    {"ipv6.src[0:2] == fd:77", 156},
    {"ipv6.dst in {fd77::1 .. fd77::2}", 156},
    {"ipv6.tclass.dscp == 0", 156},
    {"ipv6.hlim < 64", 0},
    {"ipv6.nxt == 17", 156},
};
constexpr Count sample_04_write_loss1_ca[] = {
    {"infiniband.aeth.syndrome.error_code == 0", 22},
    {"infiniband.aeth", 82},
    {"infiniband.aeth.syndrome != 31", 22},
    {"infiniband.bth.psn in {0x100 .. 0xffff00}", 3751},
    {"frame.len > 1000 && infiniband.bth.a == 0", 3553},
};

TEST(Filter, counts_as_tshark) {
  struct Table {
    const char* sample;
    std::span<const Count> rows;
  };
  const Table tables[] = {{"06_flush.pcap", sample_06_flush},
                          {"08_qinq.pcap.zst", sample_08_qinq},
                          {"09_vxlan.pcap.zst", sample_09_vxlan},
                          {"02_send_bw_cm_v6.pcap.zst", sample_02_send_bw_cm_v6},
                          {"04_write_loss1.ca.pcap.zst", sample_04_write_loss1_ca}};
  for (const Table& table : tables) {
    const Sample sample(table.sample);
    for (const Count& row : table.rows)
      EXPECT_EQ(sample.count(row.expression), row.packets) << table.sample << ": " << row.expression;
  }
}

// Where we know more than tshark 4.0: the opcodes of FLUSH and CNP, names of opcodes and NAK codes.
TEST(Filter, knows_what_wireshark_lacks) {
  const Sample flush("06_flush.pcap");
  EXPECT_EQ(flush.count("infiniband.bth.opcode == \"RC FLUSH\""), 20U);
  EXPECT_EQ(flush.count("infiniband.bth.opcode == FLUSH"), 20U);
  EXPECT_EQ(flush.count("infiniband.bth.opcode == \"rdma write first\""), 20U);
  EXPECT_EQ(flush.count("infiniband.bth.opcode == \"UC RDMA WRITE First\""), 0U);
  EXPECT_EQ(flush.count("infiniband.bth.opcode matches \"write (first|last)$\""), 40U);
  EXPECT_EQ(flush.count("infiniband.bth.opcode contains \"WRITE\""), 40U);
  EXPECT_EQ(flush.count("infiniband.bth.opcode in {FLUSH, \"RDMA WRITE Last\" 17}"), 60U);
  EXPECT_EQ(flush.count("infiniband.reth.va > 0xffffffff"), 40U);
  EXPECT_EQ(flush.count("roce.icrc.status == match"), 100U);
  EXPECT_EQ(flush.count("roce.icrc.status == \"mismatch\""), 0U);
  EXPECT_EQ(flush.count("roce.operation matches \"^flush$\""), 20U);
  EXPECT_EQ(flush.count("roce.src == 10.77.0.1 and roce.addr == 10.77.0.0/24"), 71U);
  EXPECT_EQ(flush.count("roce.src == ip.dst"), 0U);
  EXPECT_EQ(flush.count("roce.src == ip.src"), 118U);

  const Sample vxlan("09_vxlan.pcap.zst");
  EXPECT_EQ(vxlan.count("roce.outer.dscp == 0 && roce.dscp == 26"), 100U);
  EXPECT_EQ(vxlan.count("roce.outer.src == 10.77.0.1 && infiniband"), 80U);
  EXPECT_EQ(vxlan.count("roce.outer.dst == 10.77.0.1 && infiniband"), 20U);
  EXPECT_EQ(vxlan.count("roce.outer.pcp"), 0U);
  EXPECT_EQ(Sample("09_vxlan_ce.cb.pcap.zst").count("roce.outer.ecn == CE && roce.ecn == 2"), 95U);
  EXPECT_EQ(Sample("09_vxlan6.pcap.zst").count("roce.outer.src == fd77::1 && infiniband"), 80U);
  EXPECT_EQ(Sample("09_mirror_erspan2.pcap.zst").count("roce.outer.dscp"), 0U) << "a mirror's headers";

  const Sample loss("04_write_loss1.ca.pcap.zst");
  EXPECT_EQ(loss.count("infiniband.aeth.syndrome.error_code == \"PSN sequence error\""),
            loss.count("infiniband.aeth.syndrome == 96"));
  EXPECT_GT(loss.count("infiniband.aeth.syndrome.opcode == NAK"), 0U);
}

}  // namespace
}  // namespace filter_samples_test
}  // namespace roce::analyze
