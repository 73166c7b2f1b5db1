// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "capture/core/comments.hpp"
#include "capture/core/source.hpp"
#include "capture/files/merged_source.hpp"

// Captures written byte by byte, as the format's drafts draw them, without any code of capture/.
namespace roce::capture::test {

using Bytes = std::vector<std::uint8_t>;

class Builder {
 public:
  explicit Builder(bool big_endian = false) : big_(big_endian) {}

  Builder& u8(std::uint8_t value) {
    bytes.push_back(value);
    return *this;
  }
  Builder& u16(std::uint16_t value) { return number(value, 2); }
  Builder& u32(std::uint32_t value) { return number(value, 4); }
  Builder& u64(std::uint64_t value) { return number(value, 8); }
  Builder& text(std::string_view value) {
    bytes.insert(bytes.end(), value.begin(), value.end());
    return *this;
  }
  Builder& raw(const Bytes& value) {
    bytes.insert(bytes.end(), value.begin(), value.end());
    return *this;
  }
  Builder& pad4() {
    while (bytes.size() % 4 != 0) bytes.push_back(0);
    return *this;
  }

  // pcap
  Builder& pcap_header(std::uint32_t magic = 0xA1B2C3D4, std::uint32_t link = 1, std::uint16_t major = 2,
                       std::uint16_t minor = 4, std::uint32_t snap = 262144) {
    return u32(magic).u16(major).u16(minor).u32(0).u32(0).u32(snap).u32(link);
  }
  Builder& pcap_record(std::uint32_t seconds, std::uint32_t fraction, const Bytes& data,
                       std::uint32_t wire = 0) {
    const auto captured = static_cast<std::uint32_t>(data.size());
    return u32(seconds).u32(fraction).u32(captured).u32(wire == 0 ? captured : wire).raw(data);
  }

  // pcapng
  Builder& option(std::uint16_t code, const Bytes& value) {
    return u16(code).u16(static_cast<std::uint16_t>(value.size())).raw(value).pad4();
  }
  Builder& option(std::uint16_t code, std::string_view value) {
    return option(code, Bytes(value.begin(), value.end()));
  }
  Builder& option64(std::uint16_t code, std::uint64_t value) { return u16(code).u16(8).u64(value); }
  Builder& block(std::uint32_t type, const Bytes& body) {
    Bytes padded = body;
    while (padded.size() % 4 != 0) padded.push_back(0);
    const auto length = static_cast<std::uint32_t>(padded.size() + 12);
    return u32(type).u32(length).raw(padded).u32(length);
  }
  Builder& section(const Bytes& options = {}, std::uint16_t major = 1, std::uint16_t minor = 0) {
    Builder body(big_);
    body.u32(0x1A2B3C4D).u16(major).u16(minor).u64(UINT64_MAX).raw(options);
    return block(0x0A0D0D0A, body.bytes);
  }
  Builder& interface(std::uint16_t link = 1, std::uint32_t snap = 0, const Bytes& options = {}) {
    Builder body(big_);
    body.u16(link).u16(0).u32(snap).raw(options);
    return block(1, body.bytes);
  }
  Builder& enhanced_packet(std::uint32_t interface, std::uint64_t ticks, const Bytes& data,
                           std::uint32_t wire = 0, const Bytes& options = {}) {
    Builder body(big_);
    const auto captured = static_cast<std::uint32_t>(data.size());
    body.u32(interface).u32(static_cast<std::uint32_t>(ticks >> 32U)).u32(static_cast<std::uint32_t>(ticks));
    body.u32(captured).u32(wire == 0 ? captured : wire).raw(data).pad4().raw(options);
    return block(6, body.bytes);
  }
  Builder& simple_packet(const Bytes& data, std::uint32_t wire = 0) {
    Builder body(big_);
    body.u32(wire == 0 ? static_cast<std::uint32_t>(data.size()) : wire).raw(data);
    return block(3, body.bytes);
  }
  Builder& old_packet(std::uint16_t interface, std::uint16_t drops, std::uint64_t ticks, const Bytes& data,
                      const Bytes& options = {}) {
    Builder body(big_);
    const auto captured = static_cast<std::uint32_t>(data.size());
    body.u16(interface).u16(drops);
    body.u32(static_cast<std::uint32_t>(ticks >> 32U)).u32(static_cast<std::uint32_t>(ticks));
    body.u32(captured).u32(captured).raw(data).pad4().raw(options);
    return block(2, body.bytes);
  }
  [[nodiscard]] Builder like() const { return Builder(big_); }

  Bytes bytes;

 private:
  Builder& number(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
      const unsigned shift = 8 * (big_ ? size - 1 - i : i);
      bytes.push_back(static_cast<std::uint8_t>(value >> shift));
    }
    return *this;
  }
  bool big_;
};

/// A folder that is removed with everything in it.
class Folder {
 public:
  Folder() {
    const char* const base = std::getenv("TMPDIR");
    path_ = std::string(base != nullptr ? base : "/tmp") + "/roce_capture_XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~Folder() {
    const std::string command = "rm -rf '" + path_ + "'";
    [[maybe_unused]] const int status = std::system(command.c_str());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string name(const std::string& file) const { return path_ + "/" + file; }
  std::string write(const std::string& file, const Bytes& bytes) const {
    std::ofstream out(name(file), std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return name(file);
  }

 private:
  std::string path_;
};

inline Bytes read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// A frame with its own copy of the bytes.
struct Copy {
  std::int64_t time_ns = 0;
  std::uint32_t captured = 0;
  std::uint32_t wire = 0;
  std::uint32_t interface = 0;
  std::uint16_t link_type = 0;
  std::uint16_t file = 0;
  Bytes data;
  std::vector<std::string> comments = {};
  friend bool operator==(const Copy&, const Copy&) = default;
};

struct Everything {
  std::vector<Copy> frames;
  std::vector<Error> errors;
  std::vector<InterfaceInfo> interfaces;
  std::vector<FileInfo> files;
  Statistics statistics;
  std::size_t largest_batch = 0;

  [[nodiscard]] std::uint64_t count(Incident incident) const {
    return statistics.incidents[static_cast<std::size_t>(incident)];
  }
  [[nodiscard]] std::uint64_t all_incidents() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t one : statistics.incidents) sum += one;
    return sum;
  }
};

inline void copy_frames(const FrameBatch& batch, std::vector<Copy>& to) {
  const BatchComments comments(batch);
  for (const Frame& frame : batch.frames) {
    to.push_back({frame.time_ns, frame.captured, frame.wire, frame.interface, frame.link_type, frame.file,
                  Bytes(frame.data, frame.data + frame.captured),
                  std::vector<std::string>(comments.of(frame).begin(), comments.of(frame).end())});
  }
}

inline Everything read_all(CaptureSource& source, std::size_t limit = 65'536) {
  Everything all;
  FrameBatch batch;
  while (true) {
    batch.clear();
    const auto got = source.next_batch(batch, limit);
    copy_frames(batch, all.frames);
    all.largest_batch = std::max(all.largest_batch, batch.frames.size());
    if (!got) {
      all.errors.push_back(got.error());
      continue;
    }
    if (*got == 0) break;
  }
  all.interfaces = source.interfaces();
  all.files = source.files();
  all.statistics = source.statistics();
  return all;
}

/// Opens and reads; an error of opening is the only thing in `errors` then.
inline Everything read_files(const std::vector<std::string>& paths, const OpenOptions& options = {},
                             std::size_t limit = 65'536) {
  auto source = open_files(paths, options);
  if (source) return read_all(**source, limit);
  Everything all;
  all.errors.push_back(source.error());
  return all;
}

/// The bytes as a file, through open_files().
inline Everything read_capture(const Bytes& bytes, const OpenOptions& options = {}) {
  const Folder folder;
  return read_files({folder.write("capture", bytes)}, options);
}

}  // namespace roce::capture::test
