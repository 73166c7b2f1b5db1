// SPDX-License-Identifier: Apache-2.0
#include "capture/core/section_comments.hpp"

namespace roce::capture {

std::vector<std::string> SectionComments::news(const std::vector<FileInfo>& files) {
  std::vector<std::string> news;
  told_.resize(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string& comment = files[i].comment;
    if (comment.size() <= told_[i]) continue;
    // A comment after the first one begins on a new line.
    news.push_back(comment.substr(told_[i] == 0 ? 0 : told_[i] + 1));
    told_[i] = comment.size();
  }
  return news;
}

}  // namespace roce::capture
