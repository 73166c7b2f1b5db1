// SPDX-License-Identifier: Apache-2.0
#include "gui/models/confined_reading.hpp"

#include <memory>

#include "capture/confine/reader.hpp"
#include "capture/core/kept_files.hpp"
#include "capture/core/paths.hpp"
#include "gui/models/worker_threads.hpp"

namespace roce::gui {

void confine_reading(const std::vector<std::string>& paths) {
  thread_local std::unique_ptr<capture::KeptFiles> kept;
  if (kept || !in_background()) return;
  std::vector<capture::Error> ignored;  // who opens them reports what is missing
  const std::vector<std::string> files = capture::expand_paths(paths, ignored);
  kept = std::make_unique<capture::KeptFiles>(files);
  (void)capture::confine_reader(files);
}

}  // namespace roce::gui
