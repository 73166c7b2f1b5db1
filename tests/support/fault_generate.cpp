// SPDX-License-Identifier: Apache-2.0
// roce_fault_generate: writes a capture of simulated RC traffic through a faulty network, and the truth
// about it. The same for the same options.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tests/support/capture_file.hpp"
#include "tests/support/fault_frames.hpp"
#include "tests/support/fault_marks.hpp"
#include "tests/support/fault_simulator.hpp"
#include "tests/support/fault_stamps.hpp"
#include "tests/support/fault_truth_file.hpp"

namespace {

using namespace roce::support;

template <class Value>
CLI::Option* add_choice(CLI::App& app, const std::string& name, Value& value,
                        const std::map<std::string, Value>& choices, const std::string& help) {
  return app.add_option(name, value, help)->transform(CLI::CheckedTransformer(choices));
}

void add_traffic(CLI::App& app, FaultOptions& o) {
  app.add_option("--packets", o.packets, "frames to capture; what is under way then drains");
  app.add_option("--qps", o.connections, "connections, with one queue pair at each end")
      ->check(CLI::Range(1U, 1U << 20));
  app.add_option("--hosts", o.hosts, "hosts that talk to each other")->check(CLI::Range(2U, 65534U));
  app.add_option("--path-mtu", o.path_mtu, "payload of a packet at most")
      ->check(CLI::IsMember({256U, 512U, 1024U, 2048U, 4096U}));
  app.add_option("--max-message-packets", o.max_message_packets, "messages have 1 to that many packets")
      ->check(CLI::Range(1U, 1U << 16));
  app.add_option("--window", o.window, "outstanding PSNs of a requester")->check(CLI::Range(2U, 1U << 20));
  app.add_option("--max-reads", o.max_reads, "outstanding READs and atomics")->check(CLI::Range(1U, 255U));
  app.add_option("--ack-every", o.ack_every, "messages an acknowledgement is asked for")
      ->check(CLI::Range(1U, 1U << 16));
  app.add_option("--mix", o.mix, "weights of WRITE SEND READ ATOMIC");
  app.add_option("--both-directions", o.both_directions, "part of the connections with requests of B too");
  app.add_option("--burst", o.burst, "messages posted at a time, on average");
  app.add_option("--idle-ns", o.idle, "between bursts, on average");
  app.add_option("--stagger-ns", o.stagger, "within which connections start");
  app.add_option("--seed", o.seed, "of everything");
}

void add_rules(CLI::App& app, FaultOptions& o) {
  app.add_option("--timeout", o.timeout, "ack timeout: 4.096 us * 2^t")->check(CLI::Range(1U, 31U));
  app.add_option("--retry-count", o.retry_count, "retries after silence")->check(CLI::Range(0U, 7U));
  app.add_option("--rnr-retry", o.rnr_retry, "retries after RNR NAKs; 7: for ever")
      ->check(CLI::Range(0U, 7U));
  app.add_option("--rnr-timer", o.rnr_timer, "code in RNR NAKs")->check(CLI::Range(0U, 31U));
  app.add_option("--nak-after-rnr", o.nak_after_rnr, "a sequence NAK follows an RNR NAK, as Soft-RoCE's");
  add_choice(app, "--recovery", o.recovery,
             {{"go_back_n", Recovery::go_back_n},
              {"go_back_message", Recovery::go_back_message},
              {"in_any_order", Recovery::in_any_order},
              {"selective_repeat", Recovery::selective_repeat}},
             "go_back_n, go_back_message, in_any_order or selective_repeat");
  app.add_flag("--nak-every", o.nak_every, "every early packet is answered by a NAK");
  app.add_flag("--timer-sends-oldest", o.timer_sends_oldest, "the timer repeats one packet only");
  app.add_flag("--timer-grows", o.timer_grows, "the timer doubles with each retry");
  app.add_flag("--drop-queued", o.drop_queued,
               "READ responses still queued are dropped when they are asked for again");
  app.add_option("--generations", o.generations, "connections that use the same queue pairs in turn")
      ->check(CLI::Range(1U, 1U << 16));
  app.add_option("--life-ns", o.life, "of a connection, where others follow");
  app.add_option("--reuse-after-ns", o.reuse_after, "from its end to the next one, at least");
}

void add_network(CLI::App& app, FaultOptions& o) {
  app.add_option("--latency-a-ns", o.latency_a, "between A and the capture");
  app.add_option("--latency-b-ns", o.latency_b, "between the capture and B");
  app.add_option("--packet-gap-ns", o.packet_gap, "between packets of one sender");
  app.add_option("--turnaround-ns", o.turnaround, "from a request's arrival to its answer");
  app.add_option("--reaction-ns", o.reaction, "from a NAK's arrival to the resend");
  app.add_option("--implied-guard-ns", o.implied_guard, "after going back, no implied NAK for so long");
  app.add_option("--reorder-delay-ns", o.reorder_delay, "of a late packet, at most");
  app.add_option("--mirror-delay-ns", o.mirror_delay, "of a copy behind its original");
  add_choice(
      app, "--udp-port", o.port,
      {{"formula", PortChoice::formula}, {"random", PortChoice::random}, {"constant", PortChoice::constant}},
      "UDP source port: formula, random or constant");
  add_choice(app, "--first-psn", o.first_psn,
             {{"random", PsnChoice::random}, {"zero", PsnChoice::zero}, {"wrap", PsnChoice::wrap}},
             "random, zero or wrap (a little below 2^24)");
  add_choice(
      app, "--ip-id", o.ip_id,
      {{"counter", IdChoice::counter},
       {"flow", IdChoice::flow},
       {"random", IdChoice::random},
       {"constant", IdChoice::constant}},
      "IPv4 identification: counter (of the host), flow (counter of the queue pair), random or constant");
  add_choice(app, "--mirror", o.mirror,
             {{"same", Mirror::same},
              {"interface", Mirror::interface},
              {"vlan", Mirror::vlan},
              {"hop", Mirror::hop}},
             "how copies differ: same, interface, vlan or hop");
  add_choice(app, "--victims", o.victims,
             {{"all", Victims::all}, {"requests", Victims::requests}, {"responses", Victims::responses}},
             "what is lost, doubled, delayed: all, requests or responses");
  add_choice(app, "--captured", o.captured,
             {{"both", Captured::both}, {"a_to_b", Captured::a_to_b}, {"b_to_a", Captured::b_to_a}},
             "directions in the capture: both, a_to_b or b_to_a");
  app.add_flag("--cm", o.connection_manager,
               "connections are set up and ended by the CM; its ports are random");
  app.add_flag("--ipv6", o.ipv6, "IPv6 instead of IPv4");
  app.add_flag("--split-interfaces", o.split_interfaces, "an interface for each direction; pcapng");
  app.add_option("--start-ns", o.start_time, "time of the beginning since the epoch");
  app.add_option("--skip-ns", o.skip, "the capture begins that late");
  app.add_option("--stamp-jitter-ns", o.stamp_jitter, "stamps are late by up to that");
  app.add_option("--clock-b-ns", o.clock_b,
                 "the clock of packets to the host of the lower number is ahead by that");
  app.add_option("--rx-batch-ns", o.rx_batch,
                 "packets to the host of the lower number are stamped with its interrupts, one in that time");
  app.add_option("--snap", o.snap, "bytes captured of a frame; 0: all");
  app.add_option("--loss-row", o.loss_row, "packets lost in a row, on average")
      ->check(CLI::Range(1U, 1U << 16));
  app.add_option("--capture-row", o.capture_row, "packets missed by the capture in a row, on average")
      ->check(CLI::Range(1U, 1U << 16));
}

void add_scope(CLI::App& app, FaultOptions& o) {
  app.add_option("--only-from", o.only_from, "faults befall packets from this host (1 ...); 0: all");
  app.add_option("--only-to", o.only_to, "faults befall packets to this host; 0: all");
  app.add_option("--only-connection", o.only_connection, "faults befall this connection (1 ...); 0: all");
  app.add_option("--loss-period-ns", o.loss_period,
                 "every so often one of these packets is lost before the capture; 0: never");
  app.add_option("--outage-before-ns", o.outage_before, "then all of these are lost before the capture");
  app.add_option("--outage-after-ns", o.outage_after, "then all of these are lost behind the capture");
  app.add_option("--max-payload", o.max_payload,
                 "behind the capture packets with more message bytes are lost; 0: none");
  app.add_option("--outage-ns", o.outage_length, "for so long");
}

void add_rates(CLI::App& app, FaultRates& r) {
  const std::map<std::string, double*> rates{{"--loss-before", &r.loss_before},
                                             {"--loss-after", &r.loss_after},
                                             {"--duplicate-before", &r.duplicate_before},
                                             {"--duplicate-after", &r.duplicate_after},
                                             {"--reorder-before", &r.reorder_before},
                                             {"--reorder-after", &r.reorder_after},
                                             {"--flowlet-before", &r.flowlet_before},
                                             {"--flowlet-after", &r.flowlet_after},
                                             {"--corrupt-before", &r.corrupt_before},
                                             {"--corrupt-after", &r.corrupt_after},
                                             {"--capture-drop", &r.capture_drop},
                                             {"--capture-duplicate", &r.capture_duplicate},
                                             {"--rnr", &r.rnr},
                                             {"--slow", &r.slow},
                                             {"--access", &r.access},
                                             {"--blackout", &r.blackout}};
  for (const auto& [name, rate] : rates) {
    app.add_option(name, *rate, "probability, 0 to 1; fault_options.hpp says of what")
        ->check(CLI::Range(0.0, 1.0));
  }
}

void add_trimming(CLI::App& app, TrimOptions& t) {
  app.add_option("--trim-percent", t.percent, "of the packets with data: trimmed before the capture")
      ->check(CLI::Range(0.0, 100.0));
  app.add_option("--trim-size", t.size, "of trimmed frames")->check(CLI::Range(64U, 4096U));
  app.add_option("--trim-dscp", t.dscp, "of trimmed frames")->check(CLI::Range(0U, 63U));
  add_choice(app, "--trim-variant", t.variant,
             {{"a", TrimVariant::a}, {"b", TrimVariant::b}, {"remarked", TrimVariant::remarked}},
             "a: IP length renewed; b: not; remarked: left whole");
}

void add_marks(CLI::App& app, MarkOptions& m) {
  app.add_option("--mismarked", m.mismarked,
                 "part of the flows with wrong marks (with --faults marks and the like)");
  app.add_option("--congested", m.congested, "part of the flows whose data may get CE");
  app.add_option("--ce", m.ce, "of a data packet of such a flow: probability");
  app.add_option("--cnp-faults", m.cnp_faults,
                 "part of the flows whose CNPs are missing, unfounded or marked wrongly");
  add_choice(app, "--cnp-per", m.cnp_per,
             {{"flow", CnpPer::flow}, {"address_pair", CnpPer::address_pair}, {"port", CnpPer::port}},
             "what CNPs are spaced by: flow, address_pair or port");
  app.add_option("--cnp-delay-ns", m.cnp_delay, "from CE to CNP");
  app.add_option("--cnp-spacing-ns", m.cnp_spacing, "least distance of CNPs");
  app.add_option("--link-gigabits", m.link_gigabits, "for the length of pauses");
  add_choice(app, "--mismark", m.mismark,
             {{"dscp", Mismark::dscp},
              {"ecn", Mismark::ecn},
              {"pcp", Mismark::pcp},
              {"untagged", Mismark::untagged},
              {"vlan", Mismark::vlan},
              {"ttl", Mismark::ttl},
              {"later", Mismark::later},
              {"repeats", Mismark::repeats}},
             "what is wrong with marks; default: drawn for each flow");
  add_choice(app, "--cnp-fault", m.cnp_fault,
             {{"missing", CnpFault::missing},
              {"without_ce", CnpFault::without_ce},
              {"dscp", CnpFault::dscp},
              {"ce_marked", CnpFault::ce_marked}},
             "what is wrong with CNPs; default: drawn for each flow");
  add_choice(app, "--pause-kind", m.pause_kind,
             {{"resumed", PauseKind::resumed},
              {"refreshed", PauseKind::refreshed},
              {"expiring", PauseKind::expiring},
              {"needless_xon", PauseKind::needless_xon},
              {"storm", PauseKind::storm},
              {"mutual", PauseKind::mutual}},
             "how hosts pause; default: each in its own way");
  app.add_option("--pause-host", m.pause_host, "the only one that pauses; 0: all");
  app.add_option("--pause-from-ns", m.pause_from, "when it begins");
  app.add_option("--pause-for-ns", m.pause_for, "for how long");
  app.add_flag("--pauses-hold", m.pauses_hold, "what goes to a pausing host waits");
}

// A second capture, at one end of each connection; its packets are sorted by time at last.
class SecondCapture {
 public:
  SecondCapture(const std::string& path, End at, const FaultOptions& options)
      : path_(path), at_(at), options_(options), frames_(options) {}

  void passed(End end, const Packet& packet, const Endpoints& endpoints, Time time) {
    if (path_.empty() || end != at_ || time < options_.skip) {
      return;
    }
    const auto bytes = frames_.make(packet, endpoints, false).bytes;
    passed_.emplace(time, std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  }
  void close() {
    if (path_.empty()) {
      return;
    }
    CaptureFile file(path_, FileFormat::pcap);
    for (const auto& [time, bytes] : passed_) {
      const std::size_t captured =
          options_.snap == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), options_.snap);
      file.write(options_.start_time + time, std::span(bytes).first(captured),
                 static_cast<std::uint32_t>(bytes.size()), 0);
    }
    file.close();
  }

 private:
  std::string path_;
  End at_;
  const FaultOptions& options_;
  FaultFrames frames_;
  std::multimap<Time, std::vector<std::uint8_t>> passed_;
};

class Writer final : public SimulatorSink {
 public:
  Writer(const FaultOptions& options, const std::string& path, FileFormat format, const std::string& truth,
         const std::string& second, End second_at)
      : options_(options),
        second_(second, second_at, options),
        frames_(options),
        file_(path, format, FaultFrames::interfaces(options)),
        stamped_(options, file_),
        truth_(truth, options.ipv6),
        marks_(options, [this](Time time, std::span<const std::uint8_t> bytes) { insert(time, bytes); }) {}

  void captured(const Packet& packet, const Endpoints& endpoints, Time time, bool copy) override {
    begin_frame(time);
    if (options_.marks.on) {
      frames_.set_marks(marks_.marks_of(packet, endpoints, time, file_number(simulated_)));
    }
    const FaultFrame frame = frames_.make(packet, endpoints, copy);
    stamped_.write(time, goes_back(sender_of(packet), endpoints), frame.bytes, frame.interface);
  }
  void captured_cm(CmMessage message, std::uint32_t connection, const Endpoints& endpoints,
                   Time time) override {
    begin_frame(time);
    const FaultFrame frame = frames_.make(message, connection, endpoints);
    stamped_.write(time, goes_back(sender_of(message), endpoints), frame.bytes, frame.interface);
  }
  void frame(const FrameTruth& truth) override {
    // Numbers in the file are not known yet where its order differs.
    told_.push_back(truth);
    if (!changes_order(options_)) {
      tell_frames();
    }
  }
  void lost(const LossTruth& truth) override {
    if (changes_order(options_)) {
      lost_.push_back(truth);
    } else {
      tell_loss(truth);
    }
  }
  void connection(const ConnectionTruth& truth) override { truth_.connection(truth); }
  void passed_end(End end, const Packet& packet, const Endpoints& endpoints, Time time) override {
    second_.passed(end, packet, endpoints, time);
  }
  void close(const SimulatorTotals& totals) {
    stamped_.finish();
    tell_frames();
    for (const LossTruth& truth : lost_) {
      tell_loss(truth);
    }
    if (options_.marks.on) {
      marks_.finish(last_, [this](const std::string& line) { truth_.line(line); });
    }
    truth_.totals(totals);
    truth_.close();
    file_.close();
    second_.close();
  }

 private:
  void tell_frames() {
    retell(told_, options_, [this](std::uint64_t number) { return file_number(number); });
    for (const FrameTruth& truth : told_) {
      truth_.frame(truth);
    }
    told_.clear();
  }
  void tell_loss(const LossTruth& truth) {
    LossTruth told = truth;
    told.frame = file_number(told.frame);
    truth_.lost(told);
  }
  void begin_frame(Time time) {
    if (options_.marks.on) {
      marks_.advance(time);
    }
    last_ = time;
    ++simulated_;
  }
  // Each direction of a link has a clock of its own, whichever host has opened the connection.
  static bool goes_back(End sender, const Endpoints& endpoints) {
    const auto from = static_cast<unsigned>(sender);
    return endpoints.host[from] > endpoints.host[from ^ 1U];
  }
  // A frame that the simulator knows nothing of.
  void insert(Time time, std::span<const std::uint8_t> bytes) {
    inserted_.push_back(simulated_);
    stamped_.write(time, false, bytes, 0);
  }
  // Of a frame by the simulator's number; 0 stays none.
  std::uint64_t file_number(std::uint64_t simulated) const {
    if (simulated == 0) {
      return 0;
    }
    if (inserted_.empty()) {
      return stamped_.file_number(simulated);
    }
    const auto before = std::lower_bound(inserted_.begin(), inserted_.end(), simulated);
    return simulated + static_cast<std::uint64_t>(before - inserted_.begin());
  }

  const FaultOptions& options_;
  SecondCapture second_;
  FaultFrames frames_;
  CaptureFile file_;
  StampedFile stamped_;
  TruthFile truth_;
  FaultMarks marks_;
  std::vector<FrameTruth> told_;  // not written yet
  std::vector<LossTruth> lost_;
  std::uint64_t simulated_ = 0;          // frames of the simulator
  std::vector<std::uint64_t> inserted_;  // how many of these were before each other frame
  Time last_ = 0;
};

// The preset must be known before the other options are, which go over it.
std::string preset_of(int argc, char** argv) {
  std::string preset = "clean";
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--faults" && i + 1 < argc) {
      preset = argv[i + 1];
    } else if (argument.rfind("--faults=", 0) == 0) {
      preset = argument.substr(9);
    }
  }
  return preset;
}

}  // namespace

int main(int argc, char** argv) {
  FaultOptions options;
  std::string output;
  std::string truth;
  std::string second;
  End second_at = End::b;
  std::string preset = preset_of(argc, argv);
  FileFormat format = FileFormat::pcap;
  if (!apply_preset(preset, options)) {
    std::fprintf(stderr, "roce_fault_generate: no faults named %s; there are", preset.c_str());
    for (const std::string_view name : preset_names()) {
      std::fprintf(stderr, " %.*s", static_cast<int>(name.size()), name.data());
    }
    std::fputc('\n', stderr);
    return 2;
  }
  CLI::App app{"Writes a capture of simulated RC traffic through a faulty network, and the truth about it."};
  app.option_defaults()->always_capture_default();
  app.add_option("FILE", output, "the capture; - is standard output")->required();
  app.add_option("--truth", truth, "JSON lines: what really happened (fault_truth_file.hpp)");
  app.add_option("--faults", preset, "a preset; options for single rates go over it");
  app.add_option("--second", second, "a second capture of the same traffic; pcap");
  add_choice(app, "--second-at", second_at, {{"a", End::a}, {"b", End::b}},
             "the end where it is made: a or b");
  add_choice(app, "--format", format, {{"pcap", FileFormat::pcap}, {"pcapng", FileFormat::pcapng}},
             "pcap or pcapng");
  add_traffic(app, options);
  add_rules(app, options);
  add_network(app, options);
  add_scope(app, options);
  add_rates(app, options.rates);
  add_marks(app, options.marks);
  add_trimming(app, options.trim);
  CLI11_PARSE(app, argc, argv);

  std::string_view reason = contradiction(options);
  if (reason.empty() && FaultFrames::interfaces(options) > 1 && format == FileFormat::pcap) {
    reason = "two interfaces need --format pcapng";
  }
  if (!reason.empty()) {
    std::fprintf(stderr, "roce_fault_generate: %.*s\n", static_cast<int>(reason.size()), reason.data());
    return 2;
  }
  try {
    Writer writer(options, output, format, truth, second, second_at);
    Simulator simulator(options, writer);
    simulator.run();
    writer.close(simulator.totals());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "roce_fault_generate: %s\n", error.what());
    return 3;
  }
  return 0;
}
