// SPDX-License-Identifier: Apache-2.0
#include "analyze/transport/psn_ring.hpp"

#include <algorithm>
#include <cstddef>

namespace roce::analyze {

PsnRing::PsnRing(const PsnRing& other) : size_(other.size_) {
  if (size_ == 0) return;
  slots_ = std::make_unique<Seen[]>(size_);
  std::copy_n(other.slots_.get(), size_, slots_.get());
}

Seen& PsnRing::make_slot(std::int64_t psn, std::int64_t needed_from, RingBudget& budget) {
  if (size_ == 0) grow(budget);
  if (size_ == 0) return nothing_;  // no budget for even the smallest: remember nothing
  for (;;) {
    Seen& slot = slots_[static_cast<std::size_t>(psn) & (size_ - 1)];
    const bool in_use = slot.psn >= 0 && slot.psn != psn && slot.psn >= needed_from;
    if (!in_use) return slot;
    if (grow(budget)) continue;
    ++budget.forgotten;
    return slot;
  }
}

void PsnGaps::add(const PsnGap& gap) {
  if (gap.from >= gap.to) return;
  if (list_ == nullptr) list_ = std::make_unique<std::vector<PsnGap>>();
  if (list_->size() >= limit) list_->erase(list_->begin());
  list_->push_back(gap);
}

const PsnGap* PsnGaps::find(std::int64_t psn) const noexcept {
  if (list_ == nullptr) return nullptr;
  const auto found = std::find_if(list_->begin(), list_->end(),
                                  [psn](const PsnGap& gap) { return gap.from <= psn && psn < gap.to; });
  return found == list_->end() ? nullptr : &*found;
}

void PsnGaps::ask_again(std::int64_t psn, std::int64_t count, bool goes_back) {
  if (list_ == nullptr) return;
  for (std::size_t i = list_->size(); i-- > 0;) {
    PsnGap& gap = (*list_)[i];
    if (gap.asked_again || gap.from >= psn + count || gap.to <= psn) continue;
    gap.asked_again = true;
    if (!goes_back || gap.from >= psn) continue;
    PsnGap had = gap;
    had.to = gap.from = psn;
    had.asked_again = false;
    list_->insert(list_->begin() + static_cast<std::ptrdiff_t>(i), had);
  }
  while (list_->size() > limit) list_->erase(list_->begin());
}

void PsnGaps::fill(std::int64_t psn, std::int64_t count) {
  if (empty()) return;
  const std::int64_t end = psn + count;
  std::vector<PsnGap> rest;
  for (const PsnGap& gap : *list_) {
    PsnGap part = gap;
    part.to = std::min(gap.to, psn);
    if (part.from < part.to) rest.push_back(part);
    part = gap;
    part.from = std::max(gap.from, end);
    if (part.from < part.to) rest.push_back(part);
  }
  while (rest.size() > limit) rest.erase(rest.begin());
  *list_ = std::move(rest);
}

}  // namespace roce::analyze
