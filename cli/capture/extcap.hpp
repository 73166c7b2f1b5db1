// SPDX-License-Identifier: Apache-2.0
// Live capture inside Wireshark and tshark: the protocol of their external captures (extcap).
#pragma once

#include <string>
#include <vector>

namespace roce::cli {

/// Whether these words, those after the name of the program, are of that protocol.
[[nodiscard]] bool is_extcap(const std::vector<std::string>& words);

/// What a call of the protocol means.
struct ExtcapCall {
  std::string answer;                ///< for standard output
  std::string error;                 ///< for standard error, then exit status 2
  std::vector<std::string> capture;  ///< not empty: the command to run, "capture", "-i" ...
};
[[nodiscard]] ExtcapCall extcap(const std::vector<std::string>& words);

}  // namespace roce::cli
