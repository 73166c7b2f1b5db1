// SPDX-License-Identifier: Apache-2.0
#include "cli/schema/documents.hpp"

#include <algorithm>
#include <utility>

#include "analyze/base/json_schema.hpp"
#include "analyze/host/facts_json.hpp"
#include "analyze/report/json/json_report.hpp"
#include "analyze/show/packet_json.hpp"
#include "analyze/story/story_json.hpp"
#include "cli/compare/compare_report.hpp"
#include "cli/export/export_formats.hpp"
#include "cli/host/host_report.hpp"
#include "cli/live/live_summary.hpp"
#include "cli/store/fleet_answer.hpp"
#include "cli/store/store_status.hpp"

namespace roce::cli {
namespace {

using analyze::JsonShape;

/// A table of keys as the shape of a document.
template <auto& object>
JsonShape shape() {
  return object().shape();
}

JsonShape any_of(std::vector<JsonShape> choices) {
  JsonShape all{.kind = JsonShape::Kind::any_of};
  all.choices = std::move(choices);
  return all;
}

JsonShape capture_lines() {
  return any_of({summary_object().shape(), live_finding_object().shape(), analyze::report_object().shape()});
}

JsonShape fleet_answers() {
  std::vector<JsonShape> answers;
  for (const analyze::Question& question : analyze::questions())
    answers.push_back(fleet_answer_object(question).shape());
  return any_of(std::move(answers));
}

// Who changes keys of a document raises its version, by the rules of docs/schema.md.
constexpr JsonDocument all_documents[] = {
    {"report", "1.1", "report --json, check --json, export -o FILE.json", shape<analyze::report_object>},
    {"flows", "1.0", "flows --json", shape<analyze::flows_object>},
    {"connections", "1.0", "connections --json", shape<analyze::connections_object>},
    {"incidents", "1.0", "incidents --json", shape<analyze::incidents_object>},
    {"pairs", "1.0", "pairs --json", shape<analyze::pairs_object>},
    {"paths", "1.0", "paths --json", shape<analyze::paths_object>},
    {"markings", "1.0", "markings --json", shape<analyze::markings_object>},
    {"pauses", "1.0", "pauses --json", shape<analyze::pauses_object>},
    {"dcbx", "1.0", "dcbx --json", shape<analyze::dcbx_page_object>},
    {"why", "1.0", "why --json", shape<analyze::stories_object>},
    {"compare", "1.0", "compare --json", shape<compare_object>},
    {"packets", "1.3", "packets -T json, each line", analyze::packet_json_shape},
    {"capture", "1.0", "capture --json, each line: summaries and findings of --every, then the report",
     capture_lines},
    {"host-facts", "1.0", "devices --json, host --snapshot FILE", shape<analyze::host_facts_object>},
    {"host", "1.0", "host --json", shape<host_report_object>},
    {"export", "1.1", "export -o FILE.ndjson, each line", ndjson_shape},
    {"fleet", "1.0", "fleet QUESTION --json", fleet_answers},
    {"store", "1.0", "store status --json", shape<store_status_object>},
};

}  // namespace

std::span<const JsonDocument> json_documents() noexcept {
  return all_documents;
}

const JsonDocument* find_json_document(std::string_view name) noexcept {
  const auto* at = std::find_if(std::begin(all_documents), std::end(all_documents),
                                [&](const JsonDocument& each) { return each.name == name; });
  return at == std::end(all_documents) ? nullptr : at;
}

std::string json_schema_of(const JsonDocument& document) {
  return analyze::json_schema("roceanalyze " + std::string(document.name),
                              "What is written by: " + std::string(document.command), document.version,
                              document.shape());
}

}  // namespace roce::cli
