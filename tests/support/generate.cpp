// SPDX-License-Identifier: Apache-2.0
// roce_generate: writes a capture of clean RoCE v2 traffic, of any size, the same for the same seed.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <map>
#include <string>

#include "tests/support/capture_file.hpp"
#include "tests/support/traffic.hpp"

namespace {

using roce::support::CaptureFile;
using roce::support::FileFormat;
using roce::support::Operation;
using roce::support::Service;

// Which combinations make no sense; empty if this one does.
std::string contradiction(const roce::support::TrafficOptions& traffic) {
  if (traffic.service == Service::ud && traffic.operation != Operation::send) {
    return "ud knows only --operation send";
  }
  if (traffic.service == Service::ud && traffic.message_bytes > traffic.path_mtu) {
    return "a ud message is one packet: --message-bytes must not exceed --path-mtu";
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  roce::support::TrafficOptions traffic;
  std::string output = "-";
  std::uint64_t packets = 1000;
  FileFormat format = FileFormat::pcap;
  unsigned vlan = 0;
  unsigned pcp = 0;
  unsigned dscp = traffic.dscp;
  unsigned ecn = traffic.ecn;

  const std::map<std::string, Service> services{{"rc", Service::rc}, {"ud", Service::ud}};
  const std::map<std::string, Operation> operations{
      {"write", Operation::write}, {"send", Operation::send}, {"read", Operation::read}};
  const std::map<std::string, FileFormat> formats{{"pcap", FileFormat::pcap}, {"pcapng", FileFormat::pcapng}};

  CLI::App app{"Writes a capture of clean RoCE v2 traffic, the same for the same seed."};
  app.option_defaults()->always_capture_default();
  app.add_option("FILE", output, "where to; - is standard output");
  app.add_option("--packets", packets, "frames to write");
  app.add_option("--message-bytes", traffic.message_bytes, "payload of a message")
      ->check(CLI::Range(0U, 1U << 31));
  app.add_option("--path-mtu", traffic.path_mtu, "payload of a packet at most")
      ->check(CLI::IsMember({256U, 512U, 1024U, 2048U, 4096U}));
  app.add_option("--qps", traffic.connections, "connections, with one queue pair at each end")
      ->check(CLI::Range(1U, 1U << 22));
  app.add_option("--hosts", traffic.hosts, "hosts that talk to each other")->check(CLI::Range(2U, 65534U));
  app.add_option("--service", traffic.service, "rc or ud")->transform(CLI::CheckedTransformer(services));
  app.add_option("--operation", traffic.operation, "write, send or read; ud: send")
      ->transform(CLI::CheckedTransformer(operations));
  app.add_option("--ack-every", traffic.ack_every, "messages an ACK acknowledges")
      ->check(CLI::Range(1U, 1U << 20));
  app.add_option("--burst", traffic.burst, "packets of one connection in a row, at most")
      ->check(CLI::Range(1U, 1U << 20));
  app.add_flag("--ipv6", traffic.ipv6, "IPv6 instead of IPv4");
  CLI::Option* const tagged =
      app.add_option("--vlan", vlan, "802.1Q tag with this VLAN")->check(CLI::Range(0U, 4095U));
  app.add_option("--pcp", pcp, "priority in that tag")->check(CLI::Range(0U, 7U))->needs(tagged);
  app.add_option("--dscp", dscp, "DSCP of every packet")->check(CLI::Range(0U, 63U));
  app.add_option("--ecn", ecn, "ECN of every packet")->check(CLI::Range(0U, 3U));
  app.add_option("--link-gap-ns", traffic.gap, "time from frame to frame");
  app.add_option("--seed", traffic.seed, "of payload, first PSNs, keys and order");
  app.add_option("--format", format, "pcap or pcapng")->transform(CLI::CheckedTransformer(formats));
  CLI11_PARSE(app, argc, argv);

  if (traffic.service == Service::ud && app.count("--operation") == 0) {
    traffic.operation = Operation::send;
  }
  traffic.dscp = static_cast<std::uint8_t>(dscp);
  traffic.ecn = static_cast<std::uint8_t>(ecn);
  if (tagged->count() > 0) {
    traffic.vlan = roce::support::VlanTag{.pcp = static_cast<std::uint8_t>(pcp),
                                          .vid = static_cast<std::uint16_t>(vlan)};
  }
  if (const std::string reason = contradiction(traffic); !reason.empty()) {
    std::fprintf(stderr, "roce_generate: %s\n", reason.c_str());
    return 2;
  }
  try {
    roce::support::TrafficGenerator generator(traffic);
    CaptureFile file(output, format);
    for (std::uint64_t i = 0; i < packets; ++i) {
      const roce::support::GeneratedFrame frame = generator.next();
      file.write(frame.time, frame.bytes);
    }
    file.close();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "roce_generate: %s\n", error.what());
    return 3;
  }
  return 0;
}
