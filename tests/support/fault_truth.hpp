// SPDX-License-Identifier: Apache-2.0
// Books, from what the senders and the network really did, what an analysis of the capture should find,
// and whether it can be found at all.
//
// A retransmission is *decidable* if the capture holds, before it, a frame that shows its PSN to have been
// used already: of a request, any frame naming that PSN or a later one of its space (a READ request names
// all PSNs it asks for; an ACK, response or NAK names its own); of a READ or atomic response, an answer to
// that PSN or a later one, or one whose MSN counts the READ already. Else it looks like a first
// transmission: all of the tail was lost, dropped by the capture or before its beginning. A first
// transmission that is captured behind its own retransmission is marked `late_original`: only an IPv4 ID
// can tell the two apart, so an analysis may call either the repeat.
// The first answer to a READ that was issued again is no repeat (`first_answer`). Where its responder had
// executed the READ before, dropped what it had queued, and another answer's MSN shows the execution, it
// looks like one
// (`contract_silent`).
// The definitions read the capture ("repeated after a sequence NAK"), the sender may not have heard the NAK
// yet, or never: where a NAK of that PSN or an earlier one was captured since the PSN's last transmission,
// its cause is allowed as well (`also`).
// A cause is decidable if the retransmission is and the NAK, or the READ request, that made the sender
// repeat was captured.
//
// A loss is decidable
// - before the capture: if a later packet of the same run of its stream was captured, which leaves a hole
//   (a run ends where the sender goes back). What the capture has first of a stream leaves none: it may have
//   begun just then. Nor does a run of which nothing was captured that had been shown before: what is lost of
//   it looks as if it had been sent once. Where the capture itself misses packets, a hole that go-back-N
//   fills anyway shows nothing: then the receiver must have asked for it as well, see below;
// - after the capture: if a captured sequence NAK, or READ request issued again, names its PSN first (else
//   go-back-N repeated it anyway, or it and its acknowledgement look alike), and it cannot have been
//   overtaken instead, which makes receivers ask as well. Of a request: what was sent again for it is no
//   duplicate, which would have been acknowledged (IBTA 9.7.5.1.4), and that does not become one with the
//   next acknowledgement. Of a response: a timer made the requester ask, and it would have taken the response
//   however late; asked for at once, or thrown away because one before it was late, it looks the same;
// - by the capture: if a hole shows and the sender never repeated that PSN. Not a repeat that its receiver
//   had already: had it been lost, nobody would have missed it. Not a response whose READ request was not
//   captured either: nothing tells that its PSN is no request's. Not where the capture is a sample, which has
//   less than half of the packets: there repeats and NAKs are as likely to be missed.
// A packet that is damaged is lost there; before the capture, `frame` has it with its wrong ICRC, and shows
// nothing else. One that is trimmed is lost as well, which its frame shows without more: always decidable. It
// overtakes what waits in the queue that was full, and is not what that is late behind. Lost acknowledgements
// and NAKs are not decidable; nor is what the capture dropped and the link lost too.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/support/fault_types.hpp"

namespace roce::support {

enum class LostWhere : std::uint8_t { before_capture, after_capture, by_capture, trimmed };

struct FrameTruth {
  std::uint64_t frame = 0;
  SpaceId space = 0;
  Kind kind = Kind::ack;
  std::uint32_t psn = 0;
  Repeat repeat{};
  bool decidable = true;
  bool cause_decidable = true;
  bool out_of_order = false;  // a first transmission that was overtaken
  bool late_original = false;
  bool duplicate_network = false;
  bool duplicate_capture = false;
  std::uint64_t original = 0;      // retransmission: first frame with that PSN; 0: none was captured
  std::uint64_t previous = 0;      // ... and the last one before this
  std::uint64_t duplicate_of = 0;  // the frame that holds the same transmission
};

struct LossTruth {
  SpaceId space = 0;
  Kind kind = Kind::ack;
  std::uint32_t psn = 0;
  LostWhere where = LostWhere::before_capture;
  std::uint64_t frame = 0;  // lost after the capture, or damaged or trimmed before it; 0: not captured
  bool repeat = false;      // it was a retransmission itself
  bool damaged = false;     // its receiver got it and discarded it
  bool decidable = false;
};

// Frames that are nothing special are not told.
class TruthSink {
 public:
  virtual ~TruthSink() = default;
  virtual void frame(const FrameTruth& truth) = 0;
  virtual void lost(const LossTruth& truth) = 0;
};

// One PSN space.
class SpaceTruth {
 public:
  // `window`: outstanding PSNs at most. `capture_drop`: probability that the capture misses a packet that
  // passes.
  SpaceTruth(SpaceId space, std::uint32_t first_psn, std::uint32_t window, double capture_drop = 0);

  // `packet` was captured as frame packet.frame, `twin_frame` holds the same transmission or is 0.
  void captured(Packet& packet, std::uint64_t twin_frame, TruthSink& sink);
  void lost(const Packet& packet, LostWhere where, TruthSink& sink);
  void new_run(bool responses, std::uint32_t psn, bool alone, TruthSink& sink);
  // The answers tell that this request, which a NAK had named, was no duplicate when it came.
  void proved_lost(std::uint32_t psn, TruthSink& sink);
  // Its receiver had it already.
  void not_needed(const Packet& packet);
  void finish(TruthSink& sink);

  // Messages of which the capture holds the last request packet and an answer that acknowledges it.
  std::uint64_t answered() const { return answered_; }

 private:
  struct Slot {  // frames captured with one PSN
    std::uint32_t psn = psn_mask + 1;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    bool ends_message = false;
  };
  struct Nak {
    std::uint32_t psn = 0;
    std::uint64_t frame = 0;
    Cause cause = Cause::nak;
  };
  struct Pending {
    LossTruth loss;
    std::uint32_t run = 0;
    std::uint64_t sequence = 0;
    bool visible = false;   // leaves a hole in the capture
    bool repeated = false;  // the sender sent that PSN again
    bool named = false;     // the receiver asked for it
    bool proved = false;    // and the capture tells that it was not only late
    bool needed = true;     // missed by the capture: its receiver did not have it yet
  };
  struct Stream {
    std::vector<Slot> slots;
    std::vector<Pending> pending;
    std::uint64_t last_sequence = 0;  // captured
    std::uint32_t run = 0;
    std::uint32_t end = 0;  // behind the last PSN that a captured frame shows as used
    bool any = false;       // captured
  };

  Stream& stream_of(const Packet& packet) { return streams_[is_response(packet.kind) ? 1 : 0]; }
  Slot& slot(Stream& stream, std::uint32_t psn) { return stream.slots[psn & slot_mask_]; }
  bool known_as_what(const LossTruth& loss) const;
  void settle(const Pending& pending, TruthSink& sink) const;
  void name(Stream& stream, std::uint32_t psn, bool proves, TruthSink& sink);
  void show_holes(Stream& stream, const Packet& packet, std::uint32_t from, TruthSink& sink);
  void remember(Stream& stream, const Packet& packet);
  void count_answers(const Packet& packet);
  bool shows_executed(const Packet& packet) const;
  std::uint8_t causes_by_naks(const Packet& packet, std::uint64_t since) const;

  SpaceId space_;
  bool capture_misses_;
  bool sampled_;
  std::uint32_t slot_mask_;
  Stream streams_[2];          // requests, responses
  std::array<Nak, 8> naks_{};  // the last ones captured
  std::uint32_t next_nak_ = 0;
  std::uint32_t msn_ = 0;  // highest one captured
  bool any_msn_ = false;
  std::uint32_t answered_end_;
  std::uint64_t answered_ = 0;
};

}  // namespace roce::support
