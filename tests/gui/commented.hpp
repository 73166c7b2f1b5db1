// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "capture/write/pcapng_writer.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {

/// Comments by packet, from 1.
using Commented = std::map<std::uint64_t, std::vector<std::string_view>>;

/// A copy of a sample as pcapng with comments, also on all of it; false: it was not written.
inline bool write_commented(const std::string& name, const std::string& path, const Commented& comments,
                            const std::vector<std::string>& on_all = {}) {
  auto source = capture::open_files({sample(name)});
  auto writer = capture::PcapngWriter::create(path, "a test", on_all);
  if (!source || !writer) return false;
  capture::FrameBatch batch;
  std::uint64_t number = 0;
  while ((*source)->next_batch(batch, 1000).value_or(0) != 0) {
    for (const capture::Frame& frame : batch.frames) {
      const auto found = comments.find(++number);
      const std::vector<std::string_view> texts =
          found == comments.end() ? std::vector<std::string_view>{} : found->second;
      if (!writer->write(frame, (*source)->interfaces()[frame.interface], texts)) return false;
    }
    batch.clear();
  }
  return writer->finish().has_value();
}

}  // namespace roce::gui
