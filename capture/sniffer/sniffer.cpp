// SPDX-License-Identifier: Apache-2.0
#include "capture/sniffer/sniffer.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

namespace roce::capture {
namespace {

constexpr unsigned batches_at_once = 16;      // in one take()
constexpr unsigned takes_between_looks = 64;  // calls of take() between checks for asynchronous events
constexpr int flush_wait_ms = 10;
constexpr unsigned most_flush_waits = 20;  // waits for completions of a queue pair in error
constexpr unsigned most_restarts_in_a_row = 8;

}  // namespace

void Sniffer::learn_clock(std::int64_t stamp) {
  clock_known_ = true;
  const std::int64_t ahead = stamp - world_.wall_clock();
  if (std::llabs(ahead) < 1'000'000'000) return;
  char text[160];
  std::snprintf(text, sizeof text,
                "timestamps are the device's, whose clock is %.1f s %s the system's (phc2sys sets it)",
                static_cast<double>(std::llabs(ahead)) / 1e9, ahead > 0 ? "ahead of" : "behind");
  note(text);
}

void Sniffer::deliver(SlabQueue& queue, const verbs::Completion& completion, std::int64_t now) {
  const std::uint8_t* const bytes = ring_->bytes_of(completion.buffer);
  Frame frame;
  frame.time_ns = now;
  // 0: the ring has no timestamps, or the device's clock does not run.
  if (completion.time_ns != 0 && completion.time_ns <= static_cast<std::uint64_t>(INT64_MAX)) {
    frame.time_ns = static_cast<std::int64_t>(completion.time_ns);
    if (!clock_known_) [[unlikely]]
      learn_clock(frame.time_ns);
  }
  frame.data = bytes;
  frame.wire = completion.bytes;
  frame.captured = std::min(completion.bytes, options_.snap_length);
  frame.link_type = link_type_;
  const bool sent = infiniband_ ? own_.sent_infiniband(bytes, completion.bytes)
                                : own_.sent_ethernet(bytes, completion.bytes);
  frame.interface = sent ? 1 : 0;
  queue.push(frame);
}

/// If all buffers are used, the device drops frames until some are reposted. For devices without a counter of
/// that: the ring may have run dry if as many completions in a row were ready as buffers had been posted.
void Sniffer::watch_for_dry_ring(std::size_t polled) {
  if (run_ == 0) run_limit_ = posted_;
  run_ += polled;
  if (run_ >= run_limit_ && !dry_) {
    dry_ = true;
    if (!room_ || room_->names().empty()) {
      note("the ring of buffers may have run dry: this device does not count the frames dropped by that");
    }
  }
  if (polled < completions_.size()) run_ = 0;
}

Expected<std::size_t> Sniffer::take_some(SlabQueue& queue) {
  const auto got = ring_->poll(completions_.data(), completions_.size());
  if (!got) return tl::unexpected(lost_device(got.error()));
  if (*got == 0) return std::size_t{0};
  const std::int64_t now = world_.wall_clock();
  watch_for_dry_ring(*got);
  posted_ -= static_cast<std::uint32_t>(std::min<std::size_t>(*got, posted_));
  std::size_t back = 0;
  for (std::size_t i = 0; i < *got; ++i) {
    const verbs::Completion& one = completions_[i];
    if (i + 4 < *got) __builtin_prefetch(ring_->bytes_of(completions_[i + 4].buffer));
    switch (one.status) {
      case verbs::Status::received:
        deliver(queue, one, now);
        restarts_in_a_row_ = 0;
        break;
      case verbs::Status::too_long:
        outgrown_ = true;
        restarts_in_a_row_ = 0;  // not an error of the device
        if (++too_long_ == 1) {
          note("frames longer than the ring's buffers of " + std::to_string(plan_.buffer_bytes) +
               " bytes arrived; they count as dropped");
        }
        break;
      case verbs::Status::failed:
        ++failed_;
        break;
      case verbs::Status::flushed:
        flushing_ = true;
        continue;  // reposted by restart()
    }
    give_back_[back++] = one.buffer;
  }
  if (flushing_) return *got;  // buffers reposted now would be flushed, too
  if (const auto posted = ring_->post(give_back_.data(), back); !posted) {
    return tl::unexpected(lost_device(posted.error()));
  }
  posted_ += static_cast<std::uint32_t>(back);
  return *got;
}

Expected<bool> Sniffer::take(SlabQueue& queue) {
  if (events_waiting_ || ++takes_ >= takes_between_looks) {
    takes_ = 0;
    events_waiting_ = false;
    if (auto error = handle_events()) return tl::unexpected(std::move(*error));
  }
  for (unsigned i = 0; i < batches_at_once; ++i) {
    const auto got = take_some(queue);
    if (!got) return tl::unexpected(got.error());
    if (*got != 0) continue;
    if (flushing_ || broken_ || outgrown_) {
      if (auto error = recover(queue)) return tl::unexpected(std::move(*error));
    }
    return i != 0;
  }
  return true;
}

/// Recovers from an error of the ring, when all completions were polled.
std::optional<Error> Sniffer::recover(SlabQueue& queue) {
  if (broken_) {
    // How many completions were lost is unknown: at most as many as buffers were posted.
    overrun_at_most_ += posted_;
    note("the completion queue overran: up to " + std::to_string(posted_) +
         " frames are lost, which all count as dropped");
    return make_ring();
  }
  // Buffers belong to the device until they are completed: wait some time for it to flush the rest.
  if (flushing_ && posted_ != 0 && flush_waits_ < most_flush_waits) return std::nullopt;
  if (std::exchange(outgrown_, false) && can_grow()) {
    finish(queue);
    return make_ring();
  }
  if (!flushing_) return std::nullopt;
  flush_waits_ = 0;
  if (++restarts_in_a_row_ > most_restarts_in_a_row) {
    return lost_device("its queue fails repeatedly as soon as it is started");
  }
  if (const auto restarted = ring_->restart(); !restarted) return failed(restarted.error());
  posted_ = ring_->shape().buffers;
  flushing_ = false;
  armed_ = false;
  if (++restarts_ == 1) note("the device's queue failed and was restarted; frames in the meantime are lost");
  return std::nullopt;
}

Expected<void> Sniffer::wait(int stop, std::chrono::milliseconds at_most) {
  if (!armed_) {
    if (const auto armed = ring_->arm(); !armed) {
      return tl::unexpected(lost_device(armed.error()));
    }
    armed_ = true;
    return {};  // completions from before arm() cause no wake-up: poll once more
  }
  pollfd waiting[] = {
      {stop, POLLIN, 0}, {ring_->descriptor(), POLLIN, 0}, {device_->event_descriptor(), POLLIN, 0}};
  int timeout = static_cast<int>(std::min<std::chrono::milliseconds::rep>(at_most.count(), 1000));
  if (flushing_) timeout = std::min(timeout, flush_wait_ms);
  const int ready = poll(waiting, std::size(waiting), timeout);
  if (ready < 0) {
    if (errno == EINTR) return {};
    return tl::unexpected(lost_device(std::string("waiting for frames: ") + std::strerror(errno)));
  }
  if (ready == 0 && flushing_) ++flush_waits_;
  if (waiting[1].revents != 0) {
    ring_->take_wakeups();
    armed_ = false;
  }
  // Errors of the descriptor: the asynchronous events show what happened to the device.
  events_waiting_ = waiting[2].revents != 0 || (waiting[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
  return {};
}

void Sniffer::finish(SlabQueue& queue) {
  if (!ring_) return;
  ring_->stop();
  // At most one completion per buffer: nothing more arrives.
  for (std::uint64_t left = ring_->shape().buffers; left != 0;) {
    const auto got = ring_->poll(completions_.data(), completions_.size());
    if (!got || *got == 0) return;
    const std::int64_t now = world_.wall_clock();
    for (std::size_t i = 0; i < *got; ++i) {
      const verbs::Completion& one = completions_[i];
      if (one.status == verbs::Status::received) deliver(queue, one, now);
      if (one.status == verbs::Status::too_long) ++too_long_;
      if (one.status == verbs::Status::failed) ++failed_;
    }
    left -= std::min<std::uint64_t>(left, *got);
  }
}

LiveDevice::Drops Sniffer::drops() {
  return {too_long_ + failed_ + overrun_at_most_ + (room_ ? room_->read() : 0), 0};
}

std::vector<std::string> Sniffer::notices() const {
  const std::lock_guard lock(notes_mutex_);
  return notes_;
}

void Sniffer::note(std::string text) {
  constexpr std::size_t most = 64;
  const std::lock_guard lock(notes_mutex_);
  if (notes_.size() < most) notes_.push_back(name_.device + ": " + std::move(text));
  if (notes_.size() == most)
    notes_.push_back(name_.device + ": further events of the device are not reported");
}

}  // namespace roce::capture
