// SPDX-License-Identifier: Apache-2.0
// The file /sys/class/infiniband/DEV/tc/PORT/traffic_class of MLNX_OFED: as it is read, and as it is
// written line by line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/policy/policy_error.hpp"
#include "analyze/policy/policy_model.hpp"

namespace roce::analyze {

/// Rules of all lines, as the driver keeps them: a later line replaces or removes (-1) an earlier one of the
/// same addresses. In the order of precedence: the global value; rules with source and destination; with a
/// destination, the longest prefix first; with a source.
class TrafficClassLines {
 public:
  static constexpr std::size_t limit = 1000;  ///< rules; the driver itself has room for 40

  /// A line without its end. Comments (#) and empty lines say nothing. A mistake goes to `errors`, its file
  /// and line to be filled in, its column from 1.
  void add(std::string_view line, PolicyErrors& errors);
  /// Lines of a whole file. `file` is its name in messages.
  void add_file(std::string_view text, const std::string& file, PolicyErrors& errors);
  [[nodiscard]] std::vector<TrafficClassRule> take();

 private:
  struct Entry {
    TrafficClassRule rule;
    std::string key;  ///< which fields, and their addresses without the prefix length
  };
  std::vector<Entry> entries_;
};

/// Whether the text's first line that says something is one of such a file, and not TOML.
[[nodiscard]] bool is_traffic_class_file(std::string_view text);

/// "tclass=106", "tclass=16,src_ip=1.1.1.2,dst_ip=1.1.1.0/24".
[[nodiscard]] std::string traffic_class_line(const TrafficClassRule& rule);

}  // namespace roce::analyze
