// SPDX-License-Identifier: Apache-2.0
#include "cli/capture/store_observer.hpp"

#include <sys/timex.h>

#include <cstdint>
#include <utility>

#include "cli/core/output.hpp"

namespace roce::cli {
namespace {

constexpr std::int64_t day_ns = 86'400'000'000'000;

/// The most that the kernel takes the clock to be wrong by; -1: nothing disciplines it, or it cannot be read.
std::int64_t clock_error_ns() {
  timex clock{};
  const int state = ::adjtimex(&clock);
  return state < 0 || state == TIME_ERROR ? -1 : std::int64_t{clock.maxerror} * 1000;
}

}  // namespace

StoreObserver::StoreObserver(StoreObserverOptions options, analyze::PsnMarks* marks,
                             std::function<std::int64_t()> now)
    : options_(std::move(options)),
      marks_(marks),
      now_(std::move(now)),
      spool_(options_.spool, options_.spool_bytes) {}

/// Intervals begin at multiples of their length by the wall clock, so that those of all hosts fall together.
std::int64_t StoreObserver::begin_of(std::int64_t time) const noexcept {
  return time - time % options_.interval.count();
}

capture::Expected<void> StoreObserver::on_start(const CaptureStart& start) {
  if (options_.identity.device.empty())
    options_.identity.device = start.interfaces.empty() ? start.device : start.interfaces.front().name;
  rows_.emplace(options_.identity, options_.run);
  interval_from_ns_ = batch_from_ns_ = begin_of(now_());
  return {};
}

void StoreObserver::on_tick() {
  const std::int64_t now = now_();
  if (begin_of(now) == interval_from_ns_) return;
  add(*latest_, begin_of(now));
  const bool next_day = now / day_ns != batch_from_ns_ / day_ns;
  if (next_day || rows_->urgent() || now - batch_from_ns_ >= options_.ship_every.count() ||
      rows_->rows() >= analyze::BatchMaker::rows_at_most)
    flush(*latest_, begin_of(now));
}

void StoreObserver::on_end(const analyze::Snapshot& snapshot) {
  const std::int64_t now = now_();
  add(snapshot, now);
  flush(snapshot, now);
  if (spool_.lost() != 0)
    print_error(options_.spool + ": " + std::to_string(spool_.lost()) +
                " batches of rows did not fit and are lost (--spool-limit)");
}

void StoreObserver::add(const analyze::Snapshot& snapshot, std::int64_t now) {
  rows_->add(snapshot, marks_, {interval_from_ns_, now});
  interval_from_ns_ = begin_of(now);
}

void StoreObserver::flush(const analyze::Snapshot& snapshot, std::int64_t now) {
  for (const analyze::StoreBatch& batch :
       rows_->take(snapshot, {batch_from_ns_, now}, spool_.lost(), clock_error_ns())) {
    const auto added = spool_.add(batch);
    if (added) {
      told_ = 0;
    } else if (std::exchange(told_, added.error().system_errno) != added.error().system_errno) {
      print_error(added.error());
    }
  }
  batch_from_ns_ = begin_of(now);
}

}  // namespace roce::cli
