// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_stamps.hpp"

#include <algorithm>
#include <unordered_map>

namespace roce::support {

StampedFile::StampedFile(const FaultOptions& options, CaptureFile& file)
    : options_(options), file_(file), random_(options.seed ^ 0x57a3b) {}

void StampedFile::write(Time time, bool back, std::span<const std::uint8_t> frame, std::uint32_t interface) {
  const auto length = static_cast<std::uint32_t>(frame.size());
  const auto captured =
      options_.snap == 0 ? frame : frame.first(std::min<std::size_t>(length, options_.snap));
  const std::uint64_t passed = options_.start_time + time;
  if (!changes_order(options_)) {
    file_.write(passed, captured, length, interface);
    return;
  }
  std::uint64_t stamp = passed + (back ? static_cast<std::uint64_t>(options_.clock_b) : 0);
  stamp += options_.stamp_jitter > 0 ? random_.below(options_.stamp_jitter + 1) : 0;
  if (back && options_.rx_batch > 0) {
    constexpr std::uint64_t from_one_to_the_next = 50;  // ns that the driver takes for a packet
    const std::uint64_t interrupt = (stamp / options_.rx_batch + 1) * options_.rx_batch;
    stamp = received_ = std::max(interrupt, received_ + from_one_to_the_next);
  }
  numbers_.push_back(0);
  waiting_.emplace(
      std::pair{stamp, numbers_.size()},
      Waiting{.bytes = {captured.begin(), captured.end()}, .wire_length = length, .interface = interface});
  // What comes from now on is stamped no earlier than this.
  release_before(passed + static_cast<std::uint64_t>(std::min<std::int64_t>(options_.clock_b, 0)));
}

void StampedFile::release_before(std::uint64_t stamp) {
  while (!waiting_.empty() && waiting_.begin()->first.first < stamp) {
    const auto& [key, frame] = *waiting_.begin();
    numbers_[key.second - 1] = ++written_;
    file_.write(key.first, frame.bytes, frame.wire_length, frame.interface);
    waiting_.erase(waiting_.begin());
  }
}

void StampedFile::finish() {
  release_before(~std::uint64_t{0});
}

std::uint64_t StampedFile::file_number(std::uint64_t number) const {
  return number == 0 || numbers_.empty() ? number : numbers_[number - 1];
}

void retell(std::vector<FrameTruth>& truths, const FaultOptions& options,
            const std::function<std::uint64_t(std::uint64_t)>& file_number) {
  for (FrameTruth& truth : truths) {
    for (std::uint64_t* number : {&truth.frame, &truth.original, &truth.previous, &truth.duplicate_of}) {
      *number = file_number(*number);
    }
  }
  if (!changes_order(options)) {
    return;
  }
  const Time timer = Time{4096} << options.timeout;
  const bool causes_show = std::max(options.stamp_jitter, options.rx_batch) <= timer / 4;
  std::unordered_map<std::uint64_t, std::size_t> known;
  for (std::size_t i = 0; i < truths.size(); ++i) {
    known.emplace(truths[i].frame, i);
  }
  for (std::size_t i = 0, count = truths.size(); i < count; ++i) {
    FrameTruth& repeat = truths[i];
    if (!repeat.repeat.repeated) {
      continue;
    }
    const std::uint64_t copies[] = {repeat.original, repeat.previous};
    const bool inverted = std::max(copies[0], copies[1]) > repeat.frame;
    if (inverted) {
      repeat.original = repeat.previous = 0;
    }
    // With no frame of its own PSN before it, the order of others would have to show it.
    repeat.decidable = repeat.decidable && repeat.original != 0;
    repeat.cause_decidable = repeat.cause_decidable && repeat.decidable && causes_show;
    FrameTruth late{.space = repeat.space, .kind = repeat.kind, .psn = repeat.psn};
    const std::uint64_t frame = repeat.frame;
    for (const std::uint64_t copy : copies) {
      if (copy > frame) {
        late.frame = copy;
        const auto [found, added] = known.emplace(copy, truths.size());
        if (added) {
          truths.push_back(late);  // `repeat` is gone
        }
        truths[found->second].late_original = true;
      }
    }
  }
  std::sort(truths.begin(), truths.end(),
            [](const FrameTruth& a, const FrameTruth& b) { return a.frame < b.frame; });
}

}  // namespace roce::support
