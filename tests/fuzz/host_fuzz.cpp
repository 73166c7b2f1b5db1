// SPDX-License-Identifier: Apache-2.0
// The input is one or two snapshots of a host, as `host --snapshot` writes them, a NUL byte between. What is
// understood is the same when it is written and read again, and is compared and judged without end or
// overflow; what is not says where.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "analyze/host/difference.hpp"
#include "analyze/host/facts_json.hpp"
#include "analyze/host/host_checks.hpp"
#include "analyze/host/wire_check.hpp"

namespace {

using namespace roce::analyze;
using roce::capture::HostFacts;

void require(bool condition) {
  if (!condition) std::abort();
}

void require_told(const std::vector<HostFinding>& findings) {
  for (const HostFinding& finding : findings)
    require(!finding.id.empty() && !finding.explanation.empty() && !finding.advice.empty());
}

HostFacts read_twice(const HostFacts& host) {
  const std::string written = host_facts_json(host, false);
  auto again = parse_host_facts(written, "again");
  require(again.has_value());
  require(host_facts_json(*again, false) == written);
  auto pretty = parse_host_facts(host_facts_json(host, true), "pretty");
  require(pretty.has_value() && host_facts_json(*pretty, false) == written);
  return std::move(*again);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // reinterpret_cast: the bytes are the snapshots' characters.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t middle = text.find('\0');
  const auto before = parse_host_facts(text.substr(0, middle), "before");
  if (!before) {
    require(!before.error().message.empty() && before.error().path == "before");
    return 0;
  }
  const HostFacts first = read_twice(*before);
  require_told(check_host(first));
  require_told(check_host_policy(first, PolicyModel{}));
  require(settings_of(first).size() == settings_of(*before).size());

  const auto after =
      middle == std::string_view::npos ? before : parse_host_facts(text.substr(middle + 1), "after");
  if (!after) return 0;
  const HostDifference moved = difference(first, *after);
  for (const CounterChange& change : moved.counters) require(change.before != change.after);
  for (const SettingChange& change : moved.settings) require(change.before != change.after);
  require_told(difference_findings(first, *after, moved));
  const WireComparison wire = compare_with_wire(*after, moved, Snapshot{});
  require(wire.ports == 0 && wire.checks.empty() && !wire.notes.empty());
  return 0;
}
