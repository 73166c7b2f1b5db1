// SPDX-License-Identifier: Apache-2.0
// Second copies where no IPv4 IDs tell them: made by the capture, or by the network?
#include "analyze/tracker/tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_copies_no_ids_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};

struct Copies {
  std::uint64_t by_capture = 0;
  std::uint64_t by_network = 0;
};

/// READs of four responses, of which the first comes twice; so do all requests where `requests_too`.
Copies copies_of_responses(bool requests_too) {
  Wire wire;
  const auto send = [&](PacketRecord r, bool twice) {
    r.more = static_cast<std::uint8_t>(r.more & ~PacketRecord::has_ip_id);
    r.ip_id = 0;
    wire.send(r);
    if (!twice) return;
    r.time_ns = wire.now_ns += 100;
    wire.send(r);
  };
  for (std::uint32_t psn = 100; psn < 500; psn += 4) {
    PacketRecord request = wire.make(a, b, read_request, psn);
    request.dma_length = 4096;
    send(request, requests_too);
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint8_t opcode = i == 0 ? 0x0d : i == 3 ? 0x0f : 0x0e;
      PacketRecord response = wire.make(b, a, opcode, psn + i);
      response.payload = 1024;
      if (opcode != 0x0e) {
        response.flags |= PacketRecord::has_aeth;
        response.aeth = 0x1f000000U | psn;
      }
      send(response, i == 0);
    }
  }
  wire.finish();
  const Events& sent = wire.connection().sent[1];
  return {sent.count(Event::duplicate_capture), sent.count(Event::duplicate_network)};
}

TEST(TrackerCopiesNoIds, WhereRequestsComeTwiceResponsesDoByTheCapture) {
  const Copies copies = copies_of_responses(true);
  EXPECT_GE(copies.by_capture, 95U);
  EXPECT_LE(copies.by_network, 5U);
}

TEST(TrackerCopiesNoIds, ElseTheNetworkMadeThem) {
  const Copies copies = copies_of_responses(false);
  EXPECT_LE(copies.by_capture, 5U);
  EXPECT_GE(copies.by_network, 95U);
}

/// A mirror shows everything twice, acknowledgements and NAKs as well.
TEST(TrackerCopiesNoIds, AnswersComeTwiceAsRequestsDo) {
  Wire wire;
  const auto send = [&](PacketRecord r) {
    r.more = static_cast<std::uint8_t>(r.more & ~PacketRecord::has_ip_id);
    r.ip_id = 0;
    wire.send(r);
    r.time_ns += 300;
    wire.send(r);
  };
  const auto answer = [&](std::uint32_t psn, std::uint8_t syndrome) {
    PacketRecord r = wire.make(b, a, acknowledge, psn);
    r.flags |= PacketRecord::has_aeth;
    r.aeth = std::uint32_t{syndrome} << 24U | (psn - 99);
    send(r);
  };
  for (std::uint32_t psn = 100; psn < 140; ++psn) {
    send(wire.make(a, b, write_only, psn));
    answer(psn, 0x1f);
  }
  for (std::uint32_t psn = 141; psn < 144; ++psn) send(wire.make(a, b, write_only, psn));
  answer(140, nak_sequence);
  wire.now_ns += 5000;
  for (std::uint32_t psn = 140; psn < 144; ++psn) send(wire.make(a, b, write_only, psn));
  answer(143, 0x1f);
  wire.finish();
  EXPECT_GE(wire.flow(b, a).sequence().duplicate_captures, 37U);
  EXPECT_LE(wire.connection().requester[0].acks, 46U);
  EXPECT_EQ(wire.connection().sent[1].count(Event::nak_sequence_error), 1U);
  EXPECT_EQ(wire.flow(a, b).sequence().retransmitted_packets(), 4U);
}

TEST(TrackerCopiesNoIds, UcRepeatsNothing) {
  Wire wire;
  for (std::uint32_t psn = 100; psn < 140; ++psn) {
    PacketRecord r = wire.make(a, b, uc_send_only, psn);
    r.more = static_cast<std::uint8_t>(r.more & ~PacketRecord::has_ip_id);
    r.ip_id = 0;
    wire.send(r);
    r.time_ns += 50'000;
    if (psn % 2 == 0) wire.send(r);
  }
  wire.finish();
  const SequenceCounts& counts = wire.flow(a, b).sequence();
  EXPECT_EQ(counts.duplicate_captures + counts.duplicate_network, 20U);
}

/// A READ that is asked again is answered again, with the count of messages of then: no copy has another
/// AETH.
TEST(TrackerCopiesNoIds, AnAnswerWithAnotherCountIsNoCopy) {
  for (const bool counts_on : {true, false}) {
    Wire wire;
    const auto respond = [&](std::uint32_t psn, std::uint32_t msn, std::int64_t after_ns) {
      wire.now_ns += after_ns;
      PacketRecord r = wire.make(b, a, read_response_only, psn);
      r.more = static_cast<std::uint8_t>(r.more & ~PacketRecord::has_ip_id);
      r.ip_id = 0;
      r.payload = 1024;
      r.flags |= PacketRecord::has_aeth;
      r.more |= PacketRecord::payload_whole;
      r.aeth = 0x1f000000U | msn;
      return wire.send(r);
    };
    respond(100, 10, 0);
    respond(133, 25, 233'000);
    const auto again = respond(100, counts_on ? 25 : 10, 100);
    respond(140, 26, 30'000);
    wire.finish();
    EXPECT_EQ(wire.verdict(again).has(Verdict::duplicate_network), !counts_on);
  }
}

/// The timer of the oldest request sends it again alone, with AckReq, to hear how far the responder came: no
/// copy has another AckReq.
TEST(TrackerCopiesNoIds, ARequestWithAnotherAckReqIsNoCopy) {
  for (const bool asks : {true, false}) {
    Wire wire;
    const auto plain = [&](PacketRecord r, std::int64_t after_ns) {
      r.more = static_cast<std::uint8_t>(r.more & ~PacketRecord::has_ip_id);
      r.ip_id = 0;
      r.time_ns = wire.now_ns += after_ns;
      return wire.send(r);
    };
    const auto send = [&](std::uint32_t psn, bool ask) {
      PacketRecord r = wire.make(a, b, write_only, psn);
      if (ask) r.flags |= PacketRecord::ack_requested;
      return plain(r, 35'000);
    };
    const auto answer = [&](std::uint32_t psn) {
      PacketRecord r = wire.make(b, a, acknowledge, psn);
      r.flags |= PacketRecord::has_aeth;
      r.aeth = 0x1f000000U | (psn - 99);
      return plain(r, 25'000);
    };
    const auto talk = [&](std::uint32_t from, std::uint32_t to) {
      for (std::uint32_t psn = from; psn < to; ++psn) send(psn, psn + 1 == to);
      answer(to - 1);
    };
    for (std::uint32_t psn = 100; psn < 200; psn += 10) talk(psn, psn + 10);
    talk(200, 216);
    const auto again = send(200, asks);
    answer(215);
    for (std::uint32_t psn = 216; psn < 246; psn += 10) talk(psn, psn + 10);
    wire.finish();
    EXPECT_EQ(wire.verdict(again).has(Verdict::duplicate_network), !asks);
    EXPECT_EQ(wire.verdict(again).has(Verdict::retransmission), asks);
  }
}

}  // namespace
}  // namespace tracker_copies_no_ids_test
}  // namespace roce::analyze
