// SPDX-License-Identifier: Apache-2.0
#include "capture/write/held_frames.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace roce::capture {
namespace {

// A RoCE frame has at least 60 bytes, most have many more.
constexpr std::size_t frames_in_chunk = HeldFrames::chunk_bytes / 128;

}  // namespace

HeldFrames::HeldFrames(std::size_t bound) : bound_(bound) {}

bool HeldFrames::has_place(std::size_t bytes) const noexcept {
  if (chunks_.empty()) return false;
  const Chunk& newest = chunks_.back();
  return newest.size - newest.used >= bytes && newest.frames.size() < frames_in_chunk;
}

bool HeldFrames::full_for(std::size_t bytes) const noexcept {
  if (chunks_.empty() || has_place(bytes)) return false;
  if (!spare_.empty() && bytes <= spare_.front().size) return false;
  return bytes_ + std::max(bytes, chunk_bytes) + frames_in_chunk * sizeof(Held) > bound_;
}

void HeldFrames::push(const Frame& frame, std::int64_t time_ns) {
  if (!has_place(frame.captured)) add_chunk(frame.captured);
  Chunk& chunk = chunks_.back();
  Held held{frame, time_ns};
  held.frame.data = chunk.bytes.get() + chunk.used;
  if (frame.captured != 0) std::memcpy(chunk.bytes.get() + chunk.used, frame.data, frame.captured);
  chunk.used += frame.captured;
  chunk.frames.push_back(held);
  ++count_;
}

void HeldFrames::pop(std::size_t frames) {
  first_ += frames;
  count_ -= frames;
  if (first_ == chunks_.front().frames.size()) drop_chunk();
}

void HeldFrames::add_chunk(std::size_t bytes) {
  if (!spare_.empty() && bytes <= spare_.front().size) {
    chunks_.push_back(std::move(spare_.front()));
    spare_.pop_back();
    return;
  }
  Chunk chunk;
  chunk.size = std::max(bytes, chunk_bytes);
  chunk.bytes = std::make_unique_for_overwrite<std::uint8_t[]>(chunk.size);
  chunk.frames.reserve(frames_in_chunk);
  bytes_ += chunk.memory();
  chunks_.push_back(std::move(chunk));
}

/// Called when all frames of the oldest chunk were popped.
void HeldFrames::drop_chunk() {
  Chunk chunk = std::move(chunks_.front());
  chunks_.pop_front();
  first_ = 0;
  if (!spare_.empty() || chunk.size != chunk_bytes) {
    bytes_ -= chunk.memory();
    return;
  }
  chunk.used = 0;
  chunk.frames.clear();
  spare_.push_back(std::move(chunk));
}

}  // namespace roce::capture
