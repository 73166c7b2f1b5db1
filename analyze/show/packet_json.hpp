// SPDX-License-Identifier: Apache-2.0
// A packet as one JSON object: keys are field names, values numbers, strings, true or false;
// repeated fields are arrays, outermost first. Always valid UTF-8 and valid JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/filter/field_registry.hpp"
#include "analyze/packet/packet_view.hpp"

namespace roce::analyze {

class PacketJson {
 public:
  /// Every field that the packet has, in the order of the headers, frame.* before and roce.* behind
  /// them. Left out: names that only gather others (ip.addr), and the bytes of whole headers and of
  /// the payload, which `fields` can ask for.
  PacketJson();
  /// These fields only; absent ones have no key.
  explicit PacketJson(std::vector<FieldRef> fields);

  /// Appends one object and a newline.
  void append(std::string& out, const PacketView& packet);

 private:
  void add(FieldRef field, const Value& value);
  void write(std::string& out) const;

  struct Slot {
    FieldRef field;
    Values values;
  };

  bool all_ = false;
  std::vector<FieldRef> before_;  ///< computed fields of the frame, or the fields asked for
  std::vector<FieldRef> behind_;  ///< the other computed ones
  std::vector<Slot> slots_;       ///< of the present packet, the first used_ valid; kept for their memory
  std::size_t used_ = 0;
  std::vector<std::uint32_t> slot_of_field_;  ///< slot + 1, 0 = none, by FieldRef::index()
  Values scratch_;
};

}  // namespace roce::analyze
