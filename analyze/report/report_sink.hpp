// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace roce::analyze {

/// Where a report goes, JSON or HTML: it may be larger than memory should be. `take` is called now and then
/// and may take out of `text` what is there; null: it stays.
struct ReportSink {
  std::string& text;
  std::function<void()> take = nullptr;

  void step() const {
    if (take) take();
  }
};

}  // namespace roce::analyze
