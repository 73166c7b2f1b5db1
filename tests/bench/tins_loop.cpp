// SPDX-License-Identifier: Apache-2.0
// tins_loop FILE: every packet parsed by libtins as Ethernet, IP and UDP, and those to the RoCE port
// counted; what a program on a general packet library pays before it sees the first RoCE header.
#include <tins/tins.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <exception>

namespace {

constexpr std::uint16_t roce_port = 4791;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: tins_loop FILE\n", stderr);
    return 2;
  }
  std::uint64_t packets = 0;
  std::uint64_t roce = 0;
  std::uint64_t payload = 0;
  try {
    Tins::FileSniffer sniffer(argv[1]);
    sniffer.sniff_loop([&](const Tins::PDU& pdu) {
      ++packets;
      const Tins::UDP* const udp = pdu.find_pdu<Tins::UDP>();
      if (udp != nullptr && udp->dport() == roce_port) {
        ++roce;
        payload += udp->length();
      }
      return true;
    });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tins_loop: %s\n", error.what());
    return 3;
  }
  std::printf("%" PRIu64 " packets, %" PRIu64 " RoCE, %" PRIu64 " bytes\n", packets, roce, payload);
  return 0;
}
