// SPDX-License-Identifier: Apache-2.0
// A packet as one JSON object: keys are field names; values are numbers, strings, true or false; fields with
// several values are arrays, outermost first. Always valid UTF-8 and valid JSON. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/base/json_shape.hpp"
#include "analyze/filter/field_registry.hpp"
#include "analyze/packet/packet_view.hpp"

namespace roce::analyze {

/// What such an object looks like: any field, as each packet has only some.
[[nodiscard]] JsonShape packet_json_shape();

class PacketJson {
 public:
  /// All fields of the packet in the order of its headers, frame.* before and roce.* after them. Not
  /// included, but possible in `fields`: combined fields (ip.addr), and the bytes of headers and payload.
  /// `bytes`: with the bytes of the frame, as the field "frame".
  explicit PacketJson(bool bytes = false);
  /// These fields only; fields that a packet does not have are omitted.
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
  std::vector<FieldRef> before_;  ///< frame.*, or the requested fields
  std::vector<FieldRef> behind_;  ///< the other computed fields
  std::vector<Slot> slots_;       ///< of the current packet; the first used_ are valid, the rest is reused
  std::size_t used_ = 0;
  std::vector<std::uint32_t> slot_of_field_;  ///< slot + 1, 0 = none, by FieldRef::index()
  Values scratch_;
};

}  // namespace roce::analyze
