// SPDX-License-Identifier: Apache-2.0
#include "gui/models/packet_comments.hpp"

#include <algorithm>
#include <utility>

namespace roce::gui {

void PacketComments::set(std::uint64_t number, Texts texts) {
  const std::lock_guard lock(mutex_);
  texts_.insert_or_assign(number, std::make_shared<const Texts>(std::move(texts)));
  ++revision_;
}

std::shared_ptr<const PacketComments::Texts> PacketComments::find(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto found = texts_.find(number);
  return found == texts_.end() ? nullptr : found->second;
}

std::vector<std::pair<std::uint64_t, bool>> PacketComments::written(std::uint64_t first,
                                                                    std::uint64_t end) const {
  std::vector<std::pair<std::uint64_t, bool>> all;
  const std::lock_guard lock(mutex_);
  for (auto it = texts_.lower_bound(first); it != texts_.end() && it->first < end; ++it)
    all.emplace_back(it->first, !it->second->empty());
  return all;
}

std::uint64_t PacketComments::revision() const {
  const std::lock_guard lock(mutex_);
  return revision_;
}

void PacketComments::saved(std::uint64_t revision) {
  const std::lock_guard lock(mutex_);
  saved_ = std::max(saved_, revision);
}

bool PacketComments::unsaved() const {
  const std::lock_guard lock(mutex_);
  return saved_ < revision_;
}

std::span<const std::string_view> CommentsOf::packet(const PacketComments& comments, std::uint64_t number,
                                                     std::span<const std::string_view> of_capture) {
  kept_ = comments.find(number);
  if (!kept_) return of_capture;
  views_.assign(kept_->begin(), kept_->end());
  return views_;
}

}  // namespace roce::gui
