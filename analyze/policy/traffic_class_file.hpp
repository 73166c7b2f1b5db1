// SPDX-License-Identifier: Apache-2.0
// The file /sys/class/infiniband/DEV/tc/PORT/traffic_class of MLNX_OFED, in its formats for reading and for
// writing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/policy/policy_error.hpp"
#include "analyze/policy/policy_model.hpp"

namespace roce::analyze {

/// The rules of all lines as the driver keeps them: a later line replaces or removes (-1) an earlier one with
/// the same addresses. Order of precedence: the global value; rules with source and destination; with a
/// destination, longest prefix first; with a source.
class TrafficClassLines {
 public:
  static constexpr std::size_t limit = 1000;  ///< rules; the driver's own limit is 40

  /// A line without its end. Comments (#) and empty lines say nothing. A mistake goes to `errors`, its file
  /// and line to be filled in, its column from 1.
  void add(std::string_view line, PolicyErrors& errors);
  /// Adds the lines of a whole file. `file` is its name for messages.
  void add_file(std::string_view text, const std::string& file, PolicyErrors& errors);
  [[nodiscard]] std::vector<TrafficClassRule> take();

 private:
  struct Entry {
    TrafficClassRule rule;
    std::string key;  ///< which fields, and their addresses without the prefix length
  };
  std::vector<Entry> entries_;
};

/// Whether the first line that is neither empty nor a comment is of a traffic_class file, not of TOML.
[[nodiscard]] bool is_traffic_class_file(std::string_view text);

/// "tclass=106", "tclass=16,src_ip=1.1.1.2,dst_ip=1.1.1.0/24".
[[nodiscard]] std::string traffic_class_line(const TrafficClassRule& rule);

}  // namespace roce::analyze
