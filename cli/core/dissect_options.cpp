// SPDX-License-Identifier: Apache-2.0
#include "cli/core/dissect_options.hpp"

#include <CLI/CLI.hpp>

namespace roce::cli {

void DissectOptions::add_to(CLI::App& command) {
  command
      .add_option("--trimmed-dscp", trimmed_dscp,
                  "DSCPs that switches give to packets that they trim instead of dropping them")
      ->check(analyze::dscps_error)
      ->join(',')
      ->type_name("N[,N]");
  command.add_option("--mrc-port", mrc_port, "UDP port of MRC besides 4791 (default: 4971; 0: none)")
      ->type_name("PORT");
  command
      .add_option("--decode-as", decode_as,
                  "numbers that nobody assigned: UDP ports of falcon and veroce, IP protocol of ifa, "
                  "EtherType of csig")
      ->check(analyze::named_numbers_error)
      ->join(',')
      ->type_name("NAME=N[,...]");
  command
      .add_option("--roce-ip-protocol", roce_ip_protocol,
                  "treat IP packets of this protocol number as RoCE directly over IP, too")
      ->check(CLI::Range(1U, 255U))
      ->type_name("N");
}

}  // namespace roce::cli
