// SPDX-License-Identifier: Apache-2.0
// Any series of packets of MRC, 16 bytes each: few hosts, queue pairs, paths and PSNs, so that they meet.
// Each repeat is counted once, and no loss is listed that is not counted.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "analyze/mrc/mrc_tracker.hpp"
#include "dissect/bytes.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace roce;

constexpr std::uint8_t opcodes[] = {0xc6, 0xc7, 0xc8, 0xca, 0xdc, 0xdc, 0xdd, 0xde, 0xd1, 0xd8, 0xc0};

analyze::MrcPacket packet_of(const std::uint8_t* p, std::int64_t& now) {
  analyze::MrcPacket packet;
  const bool back = (p[0] & 1U) != 0;
  packet.key.src.bytes[15] = back ? 2 : 1;
  packet.key.dst.bytes[15] = back ? 1 : 2;
  packet.key.dst_qp = 0x100 + (p[0] >> 1U & 3U);
  packet.key.transport = dissect::Transport::roce_v2_ipv4;
  packet.opcode = opcodes[p[1] % sizeof opcodes];
  packet.rtx = (p[0] & 8U) != 0;
  packet.of_probe = (p[0] & 16U) != 0;
  packet.whole = (p[0] & 32U) == 0;
  packet.icrc = p[2] & 7U;
  packet.reason = p[2] >> 5U;
  packet.hint = p[2] >> 3U & 3U;
  const std::uint32_t base = (p[0] & 64U) != 0 ? 0xffff00 : (p[0] & 128U) != 0 ? 0x700000 : 0;
  packet.psn = (base + dissect::load_be16(p + 4)) & analyze::mrc_psn_mask;
  packet.cack = (base + dissect::load_be16(p + 6)) & analyze::mrc_psn_mask;
  packet.ack_psn = (packet.cack + p[8]) & analyze::mrc_psn_mask;
  packet.first_bit = (packet.cack + p[9]) & analyze::mrc_psn_mask;
  packet.bitmap = dissect::load_be(p + 8, 8);
  packet.udp_source = p[3] & 7U;
  packet.ev = (p[3] & 128U) != 0 ? std::uint32_t{p[3] & 7U} << 16U : p[3] & 7U;
  packet.mpr = p[10];
  packet.probe_id = p[11];
  packet.time_ns = (p[12] & 240U) == 240U ? capture::no_time : (now += p[12]);
  packet.payload = packet.wire = p[13];
  return packet;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t each = 16;
  analyze::MrcTracker tracker;
  std::int64_t now = 1000;
  std::uint64_t number = 0;
  for (std::size_t at = 0; at + each <= std::min<std::size_t>(size, 65536); at += each)
    tracker.see(packet_of(data + at, now), ++number, 0);
  analyze::MrcTracker copy = tracker;  // as for an interim snapshot
  (void)std::move(copy).finish();
  const analyze::Mrc mrc = std::move(tracker).finish();
  std::uint64_t lost = 0;
  for (const analyze::MrcStream& stream : mrc.streams) {
    require(stream.needed + stream.needless + stream.undecided == stream.repeats, "each repeat once");
    require(stream.repeats <= stream.packets, "repeats are packets");
    lost += stream.losses();
    std::uint64_t by_path = stream.paths_dropped;
    for (const analyze::MrcPath& path : stream.paths) {
      require(path.trimmed <= path.lost && path.repeats <= path.packets, "parts of a path");
      by_path += path.packets;
    }
    require(by_path + stream.damaged == stream.packets, "each packet on one path");
  }
  require(lost == mrc.losses.size() + mrc.losses_dropped, "each loss in the list");
  for (const analyze::MrcLoss& loss : mrc.losses) {
    require(loss.stream < mrc.streams.size(), "stream of a loss");
    require(!loss.path || *loss.path < mrc.streams[loss.stream].paths.size(), "path of a loss");
  }
  (void)analyze::bad_paths(mrc);
  return 0;
}
