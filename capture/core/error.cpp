// SPDX-License-Identifier: Apache-2.0
#include "capture/core/error.hpp"

namespace roce::capture {

std::string Error::headline() const {
  std::string text = path == "-" ? "standard input" : path;
  if (offset) text += (text.empty() ? "at byte " : ": at byte ") + std::to_string(*offset);
  if (!text.empty()) text += ": ";
  return text + message;
}

std::string Error::describe() const {
  return below.empty() ? headline() : headline() + "\n" + below;
}

}  // namespace roce::capture
