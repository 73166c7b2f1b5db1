// SPDX-License-Identifier: Apache-2.0
#include "capture/core/comments.hpp"

#include <algorithm>
#include <functional>

namespace roce::capture {

BatchComments::BatchComments(const FrameBatch& batch) {
  if (batch.comments.empty()) return;
  std::vector<FrameComment> all = batch.comments;
  // An option has one address in memory. Frames that waited for those of other files may list theirs twice.
  const auto before = [](const FrameComment& a, const FrameComment& b) {
    const std::less<> less;
    return a.frame != b.frame ? less(a.frame, b.frame) : less(a.text.data(), b.text.data());
  };
  const auto same = [](const FrameComment& a, const FrameComment& b) {
    return a.frame == b.frame && a.text.data() == b.text.data();
  };
  std::sort(all.begin(), all.end(), before);
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  frames_.reserve(all.size());
  texts_.reserve(all.size());
  for (const FrameComment& one : all) {
    frames_.push_back(one.frame);
    texts_.push_back(one.text);
  }
}

std::span<const std::string_view> BatchComments::find(const Frame& frame) const noexcept {
  const auto [first, last] = std::equal_range(frames_.begin(), frames_.end(), frame.data, std::less<>());
  return {texts_.data() + (first - frames_.begin()), static_cast<std::size_t>(last - first)};
}

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
