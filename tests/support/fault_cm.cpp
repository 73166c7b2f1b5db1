// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_cm.hpp"

#include <algorithm>
#include <bit>

namespace roce::support {
namespace {

constexpr std::uint16_t attributes[] = {0x10, 0x13, 0x14, 0x15, 0x16};
constexpr std::uint16_t service_ports[] = {4420, 3260, 20049, 18515};
constexpr std::uint64_t tcp_service = 0x0000000001060000;  // RDMA IP CM, port space TCP
constexpr std::size_t body = 24;                           // behind the MAD header
constexpr std::size_t request_private = body + 140;

using Mad = std::array<std::uint8_t, 256>;

void put(Mad& mad, std::size_t at, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) {
    mad[at + i] = static_cast<std::uint8_t>(value >> (8 * (width - 1 - i)));
  }
}

std::uint32_t comm_id(const CmFacts& facts, End end) {
  return 0x1000U + 2 * facts.connection + static_cast<unsigned>(end);
}

void put_request(Mad& mad, const CmFacts& facts, const FaultOptions& options) {
  const std::uint16_t port = service_ports[facts.connection % std::size(service_ports)];
  put(mad, body + 0, comm_id(facts, End::a), 4);
  put(mad, body + 8, tcp_service | port, 8);
  put(mad, body + 32, facts.qp[0], 3);
  put(mad, body + 35, options.max_reads, 1);
  put(mad, body + 39, options.max_reads, 1);
  put(mad, body + 43, 20 << 3, 1);  // remote response timeout; RC
  put(mad, body + 44, facts.first_psn[0], 3);
  put(mad, body + 47, 20U << 3 | options.retry_count, 1);
  put(mad, body + 48, 0xffff, 2);
  const auto mtu = static_cast<unsigned>(std::countr_zero(options.path_mtu)) - 7;  // 256: 1
  put(mad, body + 50, mtu << 4 | options.rnr_retry, 1);
  put(mad, body + 51, 15 << 4, 1);
  std::copy(facts.gid[0].begin(), facts.gid[0].end(), mad.begin() + body + 56);
  std::copy(facts.gid[1].begin(), facts.gid[1].end(), mad.begin() + body + 72);
  put(mad, body + 92, 26 << 2 | 2, 1);  // traffic class
  put(mad, body + 93, 64, 1);           // hop limit
  put(mad, body + 95, options.timeout << 3, 1);
  put(mad, request_private + 1, options.ipv6 ? 0x60 : 0x40, 1);
  put(mad, request_private + 2, 0xc000U + facts.connection % 0x4000, 2);  // source port
  if (options.ipv6) {
    std::copy(facts.gid[0].begin(), facts.gid[0].end(), mad.begin() + request_private + 4);
    std::copy(facts.gid[1].begin(), facts.gid[1].end(), mad.begin() + request_private + 20);
  } else {
    std::copy(facts.gid[0].end() - 4, facts.gid[0].end(), mad.begin() + request_private + 16);
    std::copy(facts.gid[1].end() - 4, facts.gid[1].end(), mad.begin() + request_private + 32);
  }
}

void put_reply(Mad& mad, const CmFacts& facts, const FaultOptions& options) {
  put(mad, body + 12, facts.qp[1], 3);
  put(mad, body + 20, facts.first_psn[1], 3);
  put(mad, body + 24, options.max_reads, 1);
  put(mad, body + 25, options.max_reads, 1);
  put(mad, body + 27, options.rnr_retry << 5, 1);
}

}  // namespace

Mad make_cm_mad(CmMessage message, const CmFacts& facts, const FaultOptions& options) {
  Mad mad{};
  put(mad, 0, 0x01070203, 4);  // version 1, class CM 2, method Send
  put(mad, 8, 0x5eed000000000000U | facts.connection, 8);
  put(mad, 16, attributes[static_cast<std::size_t>(message)], 2);
  if (message == CmMessage::request) {
    put_request(mad, facts, options);
    return mad;
  }
  const End sender = sender_of(message);
  put(mad, body + 0, comm_id(facts, sender), 4);
  put(mad, body + 4, comm_id(facts, other(sender)), 4);
  if (message == CmMessage::reply) {
    put_reply(mad, facts, options);
  } else if (message == CmMessage::disconnect) {
    put(mad, body + 8, facts.qp[1], 3);
  }
  return mad;
}

}  // namespace roce::support
