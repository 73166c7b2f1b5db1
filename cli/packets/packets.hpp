// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/core/dissect_options.hpp"
#include "cli/core/reading_options.hpp"

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
  std::string write_format;                ///< -F pcapng|pcap|nsecpcap; empty: pcapng
  std::string sidecar;                     ///< --sidecar
  std::string compress;                    ///< --compress gzip|zstd|lz4|none; empty: by the name
  std::string policy;                      ///< --policy: a file or a profile
  std::string from, to;                    ///< see parse_time()
  std::string link_speed;                  ///< see parse_link_speed(); empty: as described in the capture
  ReadingOptions reading;
  DissectOptions dissecting;
  std::string clock;
  unsigned jobs = 0;   ///< threads of the first pass, 0 = one per core
  bool tree = false;   ///< -V
  bool hex = false;    ///< -x
  bool print = false;  ///< -P: print although -w is given
  bool force = false;  ///< let -w overwrite what it would not
  bool no_icrc = false;
  bool no_sandbox = false;
  bool numeric = false;      ///< -n, which has no effect
  bool no_analysis = false;  ///< a single pass, without sequence analysis
  bool list_fields = false;
};

/// Reads, filters, prints and writes packets; returns the exit status. Messages go to standard error.
[[nodiscard]] int run_packets(const PacketsOptions& options);

}  // namespace roce::cli
