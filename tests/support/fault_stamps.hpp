// SPDX-License-Identifier: Apache-2.0
// Stamps frames as the capture's clocks would, and keeps the file in the order of the stamps. Where that is
// not the order in which the packets passed the capture, the truth is told of the file: what its order hides
// is undecidable.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/capture_file.hpp"
#include "tests/support/fault_options.hpp"
#include "tests/support/fault_truth.hpp"
#include "tests/support/fault_world.hpp"

namespace roce::support {

class StampedFile {
 public:
  // Both outlive this object.
  StampedFile(const FaultOptions& options, CaptureFile& file);

  // Frames are numbered in the order in which they come, 1 ...
  void write(Time time, bool back, std::span<const std::uint8_t> frame, std::uint32_t interface);
  // No further frames come.
  void finish();

  // After finish(): of a frame, by the number it came with. 0 stays 0: none.
  std::uint64_t file_number(std::uint64_t number) const;

 private:
  struct Waiting {
    std::vector<std::uint8_t> bytes;
    std::uint32_t wire_length = 0;
    std::uint32_t interface = 0;
  };

  void release_before(std::uint64_t stamp);

  const FaultOptions& options_;
  CaptureFile& file_;
  Random random_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Waiting> waiting_;  // by stamp and number
  std::vector<std::uint64_t> numbers_;  // in the file, of each frame; empty: all as they come
  std::uint64_t written_ = 0;
  std::uint64_t received_ = 0;  // the last stamp of a batch
};

// Frames' truths, of a file whose order may differ: numbers become those of the file. A repeat that the file
// has before its original is undecidable, and the original may be called the repeat. Causes are undecidable
// where stamps are uncertain by more than a quarter of the ack timeout: a timer and a NAK cannot be told
// apart then.
void retell(std::vector<FrameTruth>& truths, const FaultOptions& options,
            const std::function<std::uint64_t(std::uint64_t)>& file_number);

}  // namespace roce::support
