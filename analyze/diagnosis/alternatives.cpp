// SPDX-License-Identifier: Apache-2.0
#include "analyze/diagnosis/alternatives.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "analyze/diagnosis/facts.hpp"
#include "analyze/diagnosis/party.hpp"

namespace roce::analyze::diagnosis {
namespace {

constexpr std::string_view drops_of =
    "rdma statistic show; ethtool -S DEV | grep -iE 'drop|discard|out_of_buffer|crc'";

}  // namespace

void leave_open(const Trouble& t, Diagnosis& d) {
  const struct {
    Party from;
    Party to;
  } w{party_of(t, &Route::first), party_of(t, &Route::second)};
  const auto open = [&](std::string text) { d.alternatives.push_back(std::move(text)); };
  switch (t.cause) {
    case RootCause::loss:
      if (t.seen == Whereabouts::downstream) {
        open(fmt::format("dropped by {} rather than on the way to {}", w.to.oneself(),
                         w.to.does("it", "them")));
        open("damaged on the way: a wrong ICRC is dropped, too");
        if (t.symptoms.has(RootCause::loss_or_reordering) || t.symptoms.has(RootCause::reordering))
          open("late rather than lost: packets that overtake each other behind this capture");
        d.would_decide =
            fmt::format("a capture at {}, or its counters ({}), against the drops of the switches on the way",
                        w.to.place(), drops_of);
      } else if (t.seen == Whereabouts::upstream) {
        if (const Incident* odd = unlike_others(t); odd != nullptr) {
          open(fmt::format("{} of them, missing together by packet {}, not captured rather than lost",
                           odd->lost_before, odd->first_frame));
        }
        open(fmt::format("dropped by {} before {} on the wire", w.from.oneself(),
                         w.from.does("it was", "they were")));
        d.would_decide = fmt::format(
            "a capture at {}, compared with this one (roceanalyze compare), or the drops of the "
            "switches on the way to here",
            w.from.place());
      }
      break;
    case RootCause::trimming:
      open("trimmed not by a switch but by a device that cuts packets and renews their IP length");
      d.would_decide = fmt::format(
          "trim counters of the switches from {} to here (SAI_PORT_STAT_TRIM_PACKETS; nv show interface PORT "
          "counters packet-trim)",
          w.from.place());
      break;
    case RootCause::outage:
      if (t.seen == Whereabouts::not_known) {
        open(fmt::format("{} hung for that long", w.to.oneself()));
        d.would_decide = fmt::format("a capture at {}: whether the requests arrive there, and answers leave",
                                     w.to.place());
      } else {
        d.would_decide =
            "the log of the ports on the way at that time (link down, flaps, routes that changed)";
      }
      break;
    case RootCause::path_mtu:
      open("dropped for what they carry, or by a filter, rather than for their length");
      d.would_decide =
          "the ping below, or oversize drops of the ports on the way (ethtool -S DEV | grep -iE "
          "'oversize|too_long|giant|jabber')";
      break;
    case RootCause::corruption:
      d.would_decide =
          "symbol and FCS errors of the ports on the way (ethtool -S DEV | grep -iE 'crc|symbol|phy')";
      break;
    case RootCause::reordering:
      if (t.at_most == 0) break;
      open(fmt::format("{} lost rather than late", t.at_least == 0 ? "some or all of them" : "the others"));
      d.would_decide = fmt::format("a capture at {}: there a late packet is seen to come", w.to.place());
      break;
    case RootCause::loss_or_reordering:
      d.would_decide = fmt::format("a capture at {}: there a late packet is seen to come", w.to.place());
      break;
    case RootCause::answers_lost:
      open(fmt::format("{} got them too late: a timer shorter than {} round trip, or a host that is busy",
                       w.to.does(w.to.name, "they"), w.to.does("its", "their")));
      d.would_decide = fmt::format("a capture at {}, or its counters ({})", w.to.place(), drops_of);
      break;
    case RootCause::timer_too_short:
      open(fmt::format("answers lost on the way to {}", w.from.name));
      d.would_decide = fmt::format(
          "local_ack_timeout_err of {} with a longer timer (ibv_modify_qp timeout, NCCL_IB_TIMEOUT): if it "
          "stays, "
          "answers are lost",
          w.from.place());
      break;
    case RootCause::request_or_answer_lost:
      if (2 * t.missing > t.at_least) {
        d.would_decide =
            fmt::format("a capture at {}, compared with this one (roceanalyze compare)", w.from.place());
        break;
      }
      open(fmt::format("the request lost on its way from here to {}", w.to.name));
      open("its answer lost on the way back to here");
      open(fmt::format("{} answered too late", w.to.name));
      d.would_decide = fmt::format(
          "a capture at {}, or duplicate_request of {} (rdma statistic show): it counts requests "
          "whose answer was lost",
          w.to.place(), w.to.place());
      break;
    case RootCause::no_answer:
      if (t.off_psns()) {
        d.would_decide = "the rq-psn and sq-psn of both queue pairs (rdma resource show qp)";
        break;
      }
      open(fmt::format("the way to {} is broken", w.to.name));
      open("the way back from there is broken");
      open(w.to.many ? fmt::format("{} or their queue pairs are gone", w.to.name)
                     : fmt::format("{} or its queue pair is gone", w.to.name));
      d.would_decide = fmt::format(
          "a capture at {}, or whether the queue pair is there (rdma resource show qp)", w.to.place());
      break;
    case RootCause::pause:
      open(fmt::format("{} slow to take what {}, or {}", w.to.name + std::string(w.to.does(" is", " are")),
                       w.to.does("it gets", "they get"),
                       w.to.does("its own switch port pauses it", "their own switch ports pause them")));
      d.would_decide = fmt::format(
          "the pause counters of {} (ethtool -S DEV | grep -i pause; mlnx_qos -i DEV) and its "
          "rx_out_of_buffer",
          w.to.place());
      break;
    case RootCause::unexplained:
      d.would_decide = fmt::format("a capture nearer to {}, without drops", w.from.place());
      break;
    default:
      break;
  }
}

}  // namespace roce::analyze::diagnosis
