// SPDX-License-Identifier: Apache-2.0
// Facts of a host as JSON ("roceanalyze-host/1", docs/output.md) and back.
#pragma once

#include <string>
#include <string_view>

#include "analyze/base/json_writer.hpp"
#include "capture/core/error.hpp"
#include "capture/host/facts.hpp"

namespace roce::analyze {

inline constexpr std::string_view host_schema = "roceanalyze-host/1";

/// "fe80::5054:ff:fe00:a01"; IPv4-mapped ones dotted behind ::ffff:.
[[nodiscard]] std::string gid_text(const capture::Gid& gid);

/// The keys of the facts inside of an object that is open.
void write_host_facts(JsonWriter& json, const capture::HostFacts& host);
/// The whole object, newline at its end.
[[nodiscard]] std::string host_facts_json(const capture::HostFacts& host, bool pretty);

/// Facts out of such an object; keys that it lacks stay empty, others are ignored, so that snapshots of other
/// versions can be compared. An error names the place that is wrong. `path` is for that message.
[[nodiscard]] capture::Expected<capture::HostFacts> parse_host_facts(std::string_view text,
                                                                     const std::string& path);
/// The same from a file, - being standard input; at most 64 MiB.
[[nodiscard]] capture::Expected<capture::HostFacts> load_host_facts(const std::string& path);

}  // namespace roce::analyze
