// SPDX-License-Identifier: Apache-2.0
#include "capture/files/feed.hpp"

#include <algorithm>
#include <cstring>

namespace roce::capture {

Window Feed::window() const {
  const std::uint8_t* const data = slab_ ? slab_->bytes.get() + begin_ : nullptr;
  return {data, end_ - begin_, offset_, ended_};
}

bool Feed::needs_new_memory(std::size_t wanted) const {
  return !slab_ || end_ == slab_->size || slab_->size - begin_ < wanted;
}

Feed::Fill Feed::fill(std::size_t wanted, bool may_wait) {
  if (ended_) return Fill::ended;
  if (needs_new_memory(wanted)) {
    // Frames may point into the old slab: the unfinished record moves to a new one.
    std::shared_ptr<Slab> next = pool_.take(std::max(wanted, end_ - begin_ + 1));
    if (slab_) std::memcpy(next->bytes.get(), slab_->bytes.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    slab_ = std::move(next);
  }
  // Reads as much as there is: many small windows would cost more than they gain. Only the first read waits,
  // so that packets of a slow pipe are shown as they arrive.
  const std::size_t end_before = end_;
  while (end_ < slab_->size) {
    const auto got =
        reader_->read(slab_->bytes.get() + end_, slab_->size - end_, may_wait && end_ == end_before);
    end_ += got.bytes;
    if (got.state == ByteReader::State::some) continue;
    if (got.state == ByteReader::State::end) {
      ended_ = true;
      return Fill::ended;
    }
    if (end_ != end_before) return Fill::grown;  // the state recurs with the next call
    if (got.state == ByteReader::State::would_wait) return Fill::would_wait;
    if (got.state == ByteReader::State::stopped) return Fill::stopped;
    error_ = reader_->error();
    error_.offset = offset_ + (end_ - begin_);
    return Fill::failed;
  }
  return Fill::grown;
}

}  // namespace roce::capture
