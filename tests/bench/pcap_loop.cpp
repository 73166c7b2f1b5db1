// SPDX-License-Identifier: Apache-2.0
// pcap_loop FILE: the least that a program on libpcap can do, take every packet and look at nothing
// but its length. The unit in which tests/bench/run measures everything else.
#include <pcap/pcap.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>

namespace {

struct Totals {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
};

void count(unsigned char* user, const pcap_pkthdr* header, const unsigned char*) {
  Totals& totals = *reinterpret_cast<Totals*>(user);
  ++totals.packets;
  totals.bytes += header->len;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: pcap_loop FILE\n", stderr);
    return 2;
  }
  char error[PCAP_ERRBUF_SIZE];
  pcap_t* const file = pcap_open_offline_with_tstamp_precision(argv[1], PCAP_TSTAMP_PRECISION_NANO, error);
  if (file == nullptr) {
    std::fprintf(stderr, "pcap_loop: %s\n", error);
    return 3;
  }
  Totals totals;
  const int status = pcap_loop(file, 0, count, reinterpret_cast<unsigned char*>(&totals));
  if (status < 0) {
    std::fprintf(stderr, "pcap_loop: %s\n", pcap_geterr(file));
  }
  pcap_close(file);
  std::printf("%" PRIu64 " packets, %" PRIu64 " bytes\n", totals.packets, totals.bytes);
  return status < 0 ? 3 : 0;
}
