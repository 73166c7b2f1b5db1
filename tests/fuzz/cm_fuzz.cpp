// SPDX-License-Identifier: Apache-2.0
// The CM tracker under messages in any order. The first byte is the tracker's limit; then eight bytes a
// message: kind, flags, both ids, queue pair, PSN, time, and what is answered or why.
#include <cstdlib>

#include "tests/analyze/cm/cm_messages.hpp"

namespace {

using namespace roce;
using analyze::CmExchange;
using analyze::CmMad;
using analyze::CmSeen;

constexpr support::Ipv4Address hosts[] = {{10, 0, 0, 1}, {10, 0, 0, 2}, {10, 0, 0, 3}};

void require(bool holds) {
  if (!holds) std::abort();
}

/// The few values make ids, queue pairs and PSNs meet again and again.
CmMad message_of(const std::uint8_t* p) {
  const std::uint16_t attribute = static_cast<std::uint16_t>(0x10 + p[0] % 12);
  CmMad mad(attribute, p[5] % 3U);
  mad.put(0, 4, p[2] % 5U).put(4, 4, p[3] % 5U);
  const std::uint32_t qpn = p[4] % 4U;
  switch (attribute) {
    case 0x10:
      mad.put(8, 8, p[7]).put(32, 3, qpn).put(43, 1, p[7]).put(44, 3, p[5] % 3U);
      break;
    case 0x11:
      mad.put(8, 1, p[7]);
      break;
    case 0x12:
      mad.put(8, 1, p[7]).put(10, 2, p[7] % 8U);
      break;
    case 0x13:
      mad.put(12, 3, qpn).put(16, 3, p[7]).put(20, 3, p[5] % 3U);
      break;
    case 0x15:
      mad.put(8, 3, qpn);
      break;
    case 0x17:
      mad.put(8, 8, p[7] % 2U);
      break;
    case 0x18:
      mad.put(4, 1, p[7] % 3U).put(8, 3, qpn);
      break;
    default:
      break;
  }
  return mad;
}

void advance(analyze::CmWire& wire, std::uint8_t step) {
  constexpr std::int64_t second = analyze::CmWire::second;
  constexpr std::int64_t steps[] = {0, 1, second / 2, 3 * second, 200 * second, -second, -3600 * second};
  if (step % 8 == 7) {
    wire.time = step < 64 ? INT64_MIN : step < 128 ? INT64_MAX : step < 192 ? INT64_MIN + 1 : 0;
  } else if (__builtin_add_overflow(wire.time, steps[step % 8], &wire.time)) {
    wire.time = 0;
  }
}

void check(const CmExchange& x, std::uint64_t messages) {
  require(x.number < messages);
  require(static_cast<std::size_t>(x.state) <= static_cast<std::size_t>(CmExchange::State::disconnected));
  std::uint64_t seen = 0;
  for (const CmSeen* s : {&x.req, &x.mra, &x.rep, &x.rtu, &x.rej, &x.dreq, &x.drep}) {
    require((s->frame == 0) == (s->count == 0));
    require(s->frame <= messages && s->count <= messages);
    seen += s->count;
  }
  require(seen > 0);  // no exchange without a message
  require(!x.reject_reason || x.rej);
  require(!x.sidr_status || (x.sidr && x.rep));
  (void)analyze::connect_time_ns(x);
  (void)analyze::answer_time_ns(x);
  if (analyze::unanswered(x)) require(x.req && !x.rep);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 9 || size > 8193) return 0;
  const std::size_t limit = data[0] % 8U + 1U;
  analyze::CmWire wire(limit);
  std::uint64_t messages = 0;
  for (const std::uint8_t* p = data + 1; p + 8 <= data + size; p += 8) {
    const auto& from = hosts[p[1] % 3U];
    const auto& to = hosts[p[1] / 4U % 3U];
    advance(wire, p[6]);
    if ((p[1] & 0x40U) == 0) ++wire.psn;  // else a copy, or a sender that does not count
    const CmExchange* made = wire.again(message_of(p), from, to);
    ++messages;
    if (made != nullptr) {
      require(made->client_qpn && made->server_qpn && !made->sidr);
      check(*made, messages);
    }
    for (const auto& host : hosts) {
      for (std::uint32_t qpn = 0; qpn < 4; ++qpn) {
        const CmExchange* x = wire.tracker.exchange_of(analyze::ip(host), qpn);
        if (x == nullptr) continue;
        check(*x, messages);
        require((x->client == analyze::ip(host) && x->client_qpn == qpn) ||
                (x->server == analyze::ip(host) && x->server_qpn == qpn));
      }
    }
  }
  auto next = static_cast<std::uint32_t>(wire.tracker.forgotten());
  const auto exchanges = wire.tracker.take_exchanges();
  require(exchanges.size() <= limit && exchanges.size() + next <= messages);
  require(next == 0 || exchanges.size() == limit);
  for (const CmExchange& x : exchanges) {
    require(x.number == next++);
    check(x, messages);
  }
  return 0;
}
