// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/history.hpp"

namespace roce::gui {

void History::clear() noexcept {
  places_.clear();
  now_ = 0;
}

void History::visit(const Place& place) {
  if (!places_.empty()) {
    if (places_[now_] == place) return;
    places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(now_) + 1, places_.end());
    if (places_.size() == most) places_.erase(places_.begin());
  }
  places_.push_back(place);
  now_ = places_.size() - 1;
}

void History::amend(const Place& place) {
  if (places_.empty()) return visit(place);
  places_[now_] = place;
}

}  // namespace roce::gui
