// SPDX-License-Identifier: Apache-2.0
#include "capture/confine/reader.hpp"

#include <ctime>

#include "capture/confine/file_access.hpp"
#include "capture/confine/privileges.hpp"
#include "capture/confine/sandbox.hpp"

namespace roce::capture {

Confined confine_reader(const std::vector<std::string>& files) {
  Confined confined;
  if (!sandbox_possible()) return confined;
  ::tzset();  // reads a file
  confined.capabilities = drop_capabilities_of_thread().has_value();
  const auto restricted = restrict_files({files, {}});
  confined.files = restricted.has_value() && *restricted;
  SandboxOptions options;
  options.threads = SandboxThreads::calling;
  options.files = files.empty() ? SandboxFiles::none : SandboxFiles::read;
  confined.calls = enter_sandbox(options).has_value();
  return confined;
}

}  // namespace roce::capture
