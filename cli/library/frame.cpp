// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "analyze/filter/field_registry.hpp"
#include "analyze/packet/packet_view.hpp"
#include "analyze/pipeline/packet_walk.hpp"
#include "analyze/show/packet_json.hpp"
#include "capture/core/frame.hpp"
#include "capture/core/source.hpp"
#include "cli/library/failure.hpp"
#include "cli/library/field_column.hpp"
#include "cli/library/options.hpp"
#include "cli/library/roceanalyze.h"
#include "dissect/dissection.hpp"
#include "dissect/icrc.hpp"
#include "dissect/ipfix.hpp"

struct roce_frame {
  std::vector<std::uint8_t> bytes;
  roce::capture::Frame frame;
  roce::dissect::Dissection dissection;
  std::vector<roce::dissect::ipfix::RecordValue> exported;
  std::shared_ptr<const roce::analyze::MarkingPolicy> policy;
  roce::analyze::PacketView view;
};

struct roce_dissector {
  explicit roce_dissector(const roce_options* options) : prepared(options), walk(prepared.dissecting) {}
  roce::library::Prepared prepared;
  roce::analyze::PacketWalk walk;
};

namespace roce::library {
namespace {

/// A frame as the caller gives it.
struct Given {
  const void* bytes;
  std::size_t captured, wire;
  unsigned link_type;
  std::int64_t time_ns = capture::no_time;
};

/// The next frame of `walk`.
std::unique_ptr<roce_frame> dissected(const Given& given, const Prepared& prepared,
                                      analyze::PacketWalk& walk) {
  static const std::vector<capture::InterfaceInfo> no_interfaces;
  const std::size_t captured = given.captured, wire = given.wire == 0 ? captured : given.wire;
  if (captured != 0) require(given.bytes, "bytes");
  if (captured > ROCE_FRAME_MAX) throw Failure(ROCE_MISUSE, "captured", "is more than 262144 bytes");
  if (wire < captured || wire > UINT32_MAX)
    throw Failure(ROCE_MISUSE, "wire", "is less than what was captured, or more than a frame can have");
  if (given.link_type > UINT16_MAX) throw Failure(ROCE_MISUSE, "link_type", "is no link type");
  auto made = std::make_unique<roce_frame>();
  made->bytes.resize(std::max<std::size_t>(captured, 1));  // of an empty frame too there is an address
  if (captured != 0) std::memcpy(made->bytes.data(), given.bytes, captured);
  made->policy = prepared.policy;
  made->frame.data = made->bytes.data();
  made->frame.time_ns = given.time_ns;
  made->frame.captured = static_cast<std::uint32_t>(captured);
  made->frame.wire = static_cast<std::uint32_t>(wire);
  made->frame.link_type = static_cast<std::uint16_t>(given.link_type);
  analyze::PacketView& view = made->view;
  view = walk.next(made->frame, no_interfaces, {});
  made->dissection = walk.dissection();
  made->exported.assign(view.exported.begin(), view.exported.end());
  view.dissection = &made->dissection;
  view.exported = made->exported;
  view.policy = made->policy.get();
  if (!prepared.options.no_icrc) view.icrc = dissect::check_icrc(view.bytes(), made->dissection);
  return made;
}

/// The occurrences of a field in the frame; valid until the next call in this thread.
const analyze::Values& values_in(const roce_frame& frame, analyze::FieldRef field) {
  thread_local analyze::Values values;
  values.clear();
  analyze::extract(frame.view, field, values);
  return values;
}

}  // namespace
}  // namespace roce::library

using namespace roce;
using namespace roce::library;

roce_status roce_frame_dissect(const void* bytes, size_t captured, size_t wire, unsigned link_type,
                               const roce_options* options, roce_frame** frame, roce_error** error) {
  if (frame != nullptr) *frame = nullptr;
  return guarded(error, [&] {
    require(frame, "frame");
    const Prepared prepared(options);
    analyze::PacketWalk walk(prepared.dissecting);
    *frame = dissected({bytes, captured, wire, link_type}, prepared, walk).release();
    return ROCE_OK;
  });
}

roce_status roce_dissector_new(const roce_options* options, roce_dissector** dissector, roce_error** error) {
  if (dissector != nullptr) *dissector = nullptr;
  return guarded(error, [&] {
    require(dissector, "dissector");
    *dissector = new roce_dissector(options);
    return ROCE_OK;
  });
}

roce_status roce_dissector_next(roce_dissector* dissector, const void* bytes, size_t captured, size_t wire,
                                unsigned link_type, int64_t time_ns, roce_frame** frame, roce_error** error) {
  if (frame != nullptr) *frame = nullptr;
  return guarded(error, [&] {
    require(dissector, "dissector");
    require(frame, "frame");
    *frame = dissected({bytes, captured, wire, link_type, time_ns}, dissector->prepared, dissector->walk)
                 .release();
    return ROCE_OK;
  });
}

void roce_dissector_free(roce_dissector* dissector) {
  delete dissector;
}

size_t roce_frame_count(const roce_frame* frame, const char* field) {
  if (frame == nullptr || field == nullptr) return 0;
  return answered<size_t>(0, [&]() -> size_t {
    const auto found = analyze::find_field(field);
    return found ? values_in(*frame, *found).size() : 0;
  });
}

roce_status roce_frame_number(const roce_frame* frame, const char* field, size_t occurrence,
                              uint64_t* number) {
  if (number != nullptr) *number = 0;
  return guarded(nullptr, [&] {
    require(frame, "frame");
    require(field, "field");
    require(number, "number");
    const analyze::FieldRef found = field_named(field);
    if (type_of_field(analyze::field_facts(found)) == ROCE_TEXT)
      throw Failure(ROCE_MISUSE, field, "is no number");
    const analyze::Values& values = values_in(*frame, found);
    if (occurrence >= values.size()) return ROCE_NONE;
    *number = values[occurrence].number;
    return ROCE_OK;
  });
}

roce_status roce_frame_text(const roce_frame* frame, const char* field, size_t occurrence, char* buffer,
                            size_t size, size_t* length) {
  if (length != nullptr) *length = 0;
  if (buffer != nullptr && size != 0) *buffer = '\0';
  return guarded(nullptr, [&] {
    require(frame, "frame");
    require(field, "field");
    if (size != 0) require(buffer, "buffer");
    const analyze::FieldRef found = field_named(field);
    const analyze::Values& values = values_in(*frame, found);
    if (occurrence >= values.size()) return ROCE_NONE;
    std::string text;
    analyze::append_value(text, analyze::field_facts(found), values[occurrence]);
    if (length != nullptr) *length = text.size();
    if (size != 0) {
      const std::size_t fits = std::min(size - 1, text.size());
      std::memcpy(buffer, text.data(), fits);
      buffer[fits] = '\0';
    }
    return ROCE_OK;
  });
}

roce_status roce_frame_json(const roce_frame* frame, char** text, size_t* length, roce_error** error) {
  if (text != nullptr) *text = nullptr;
  if (length != nullptr) *length = 0;
  return guarded(error, [&] {
    require(frame, "frame");
    require(text, "text");
    std::string object;
    analyze::PacketJson json;
    json.append(object, frame->view);
    give(object, text, length);
    return ROCE_OK;
  });
}

void roce_frame_free(roce_frame* frame) {
  delete frame;
}
