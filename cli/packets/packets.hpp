// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace roce::cli {

/// The command line of `roceanalyze packets`, as typed.
struct PacketsOptions {
  std::vector<std::string> files;
  std::string filter;                      ///< -Y
  std::string format = "text";             ///< -T text|fields|json
  std::vector<std::string> fields;         ///< -e
  std::vector<std::string> field_options;  ///< -E header=y, separator=,, quote=d, occurrence=f, aggregator=,
  std::string time = "r";                  ///< -t
  std::string write;                       ///< -w
  std::string policy;                      ///< --policy, a file or a profile
  std::string from, to;                    ///< as parse_time() reads them
  std::string link_speed;                  ///< as parse_link_speed() reads it; empty: as the capture says
  std::uint64_t count = 0;                 ///< -c: frames read, 0 = all
  unsigned roce_ip_protocol = 0;
  unsigned jobs = 0;   ///< threads of the first pass, 0 = one a core
  bool tree = false;   ///< -V
  bool hex = false;    ///< -x
  bool print = false;  ///< -P: print although -w is given
  bool no_icrc = false;
  bool numeric = false;      ///< -n, which changes nothing
  bool no_analysis = false;  ///< one reading, without what the packets around a packet say of it
  bool list_fields = false;
};

/// Reads, filters, prints, writes; returns the exit status. Messages go to standard error.
[[nodiscard]] int run_packets(const PacketsOptions& options);

}  // namespace roce::cli
