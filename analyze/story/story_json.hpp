// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyze/base/json_object.hpp"
#include "analyze/report/report_sink.hpp"
#include "analyze/story/joined_errors.hpp"
#include "analyze/story/story.hpp"

namespace roce::analyze {

/// What `why` has to tell.
struct Stories {
  std::vector<Story> stories;
  std::vector<ErrorLog> logs;
  std::vector<JoinedError> errors;
};

/// What the document is written of.
struct StoriesPage {
  const Snapshot& snapshot;
  const Stories& stories;
  const ReportSink& sink;

  void step() const { sink.step(); }
};
/// The table that it is written from, for its schema.
const JsonObject<StoriesPage>& stories_object();

/// One object: `stories`, `errors`, `logs` and the report's `diagnostics` (docs/output.md).
void stories_json(const Snapshot& snapshot, const Stories& stories, bool pretty, const ReportSink& sink);

}  // namespace roce::analyze
