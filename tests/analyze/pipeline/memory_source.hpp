// SPDX-License-Identifier: Apache-2.0
// A capture source over frames in memory, with the accidents that tests want.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "capture/core/source.hpp"
#include "tests/support/traffic.hpp"

namespace roce::analyze {

class MemorySource : public capture::CaptureSource {
 public:
  MemorySource() {
    interfaces_.resize(1);
    interfaces_[0].link_type = 1;
    files_.resize(1);
    files_[0].path = "memory";
  }

  void add(std::vector<std::uint8_t> bytes, std::int64_t time_ns, std::uint32_t wire = 0) {
    bytes_.push_back(std::move(bytes));
    capture::Frame frame;
    frame.data = bytes_.back().data();
    frame.captured = static_cast<std::uint32_t>(bytes_.back().size());
    frame.wire = std::max(wire, frame.captured);
    frame.time_ns = time_ns;
    frame.link_type = 1;
    frames_.push_back(frame);
  }

  void add_traffic(const support::TrafficOptions& options, std::size_t packets) {
    support::TrafficGenerator generator(options);
    for (std::size_t i = 0; i < packets; ++i) {
      const support::GeneratedFrame frame = generator.next();
      add({frame.bytes.begin(), frame.bytes.end()}, static_cast<std::int64_t>(frame.time));
    }
  }

  /// Reports this error after the frames.
  void fail_with(capture::Error error) { error_ = std::move(error); }

  capture::Expected<std::size_t> next_batch(capture::FrameBatch& batch, std::size_t limit) override {
    const std::size_t end = std::min(frames_.size(), position_ + limit);
    const std::size_t begin = std::min(position_, end);
    batch.frames.assign(frames_.begin() + static_cast<std::ptrdiff_t>(begin),
                        frames_.begin() + static_cast<std::ptrdiff_t>(end));
    position_ = end;
    if (begin == end && error_) {
      const capture::Error error = *std::exchange(error_, std::nullopt);
      return tl::unexpected(error);
    }
    return end - begin;
  }

  [[nodiscard]] const std::vector<capture::InterfaceInfo>& interfaces() const override { return interfaces_; }
  [[nodiscard]] const std::vector<capture::FileInfo>& files() const override { return files_; }
  [[nodiscard]] const capture::Statistics& statistics() const override { return statistics_; }
  void request_stop() noexcept override {}

  std::vector<capture::InterfaceInfo> interfaces_;
  std::vector<capture::FileInfo> files_;
  capture::Statistics statistics_;
  std::vector<capture::Frame> frames_;

 private:
  std::deque<std::vector<std::uint8_t>> bytes_;
  std::size_t position_ = 0;
  std::optional<capture::Error> error_;
};

}  // namespace roce::analyze
