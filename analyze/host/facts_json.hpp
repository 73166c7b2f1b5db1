// SPDX-License-Identifier: Apache-2.0
// Reads and writes facts of a host as JSON ("roceanalyze-host/1", docs/output.md).
#pragma once

#include <string>
#include <string_view>

#include "analyze/base/json_object.hpp"
#include "capture/core/error.hpp"
#include "capture/host/facts.hpp"

namespace roce::analyze {

inline constexpr std::string_view host_schema = "roceanalyze-host/1";

/// "fe80::5054:ff:fe00:a01"; IPv4-mapped ones as ::ffff:a.b.c.d.
[[nodiscard]] std::string gid_text(const capture::Gid& gid);

/// The table that facts are written from, for other documents and for their schema.
[[nodiscard]] const JsonObject<capture::HostFacts>& host_facts_object();
/// The whole object with a newline.
[[nodiscard]] std::string host_facts_json(const capture::HostFacts& host, bool pretty);

/// Parses such an object. Missing keys stay empty and unknown keys are ignored, so that snapshots of other
/// versions can be compared. An error contains the position; `path` is for its message.
[[nodiscard]] capture::Expected<capture::HostFacts> parse_host_facts(std::string_view text,
                                                                     const std::string& path);
/// Reads a file of at most 64 MiB; "-" is standard input.
[[nodiscard]] capture::Expected<capture::HostFacts> load_host_facts(const std::string& path);

}  // namespace roce::analyze
