// SPDX-License-Identifier: Apache-2.0
#include "capture/pcapng_writer.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "capture/output_file.hpp"

// Blocks as in draft-ietf-opsawg-pcapng section 4, in the byte order of this machine.
namespace roce::capture {
namespace {

constexpr std::uint32_t block_section = 0x0A0D0D0A, block_interface = 1, block_statistics = 5,
                        block_packet = 6;
constexpr std::uint8_t nanoseconds = 9;
// if_tsoffset of interfaces whose frames lie before 1970: the stamp itself is unsigned.
constexpr std::int64_t seconds_before_1970 = -9'223'372'037;

/// One block, built in memory; packets reuse the same one.
class BlockBuilder {
 public:
  void begin(std::uint32_t type) {
    bytes_.clear();
    add(type);
    add(std::uint32_t{0});  // the length, once it is known
  }
  template <class Integer>
  void add(Integer value) {
    add_bytes(&value, sizeof value);
  }
  void add_bytes(const void* data, std::size_t size) {
    if (size == 0) return;
    const std::size_t end = bytes_.size();
    bytes_.resize(end + size);
    std::memcpy(bytes_.data() + end, data, size);
  }
  void pad() { bytes_.resize((bytes_.size() + 3) / 4 * 4); }
  void option(std::uint16_t code, const void* value, std::size_t size) {
    add(code);
    add(static_cast<std::uint16_t>(size));
    add_bytes(value, size);
    pad();
  }
  template <class Integer>
  void option(std::uint16_t code, Integer value) {
    option(code, &value, sizeof value);
  }
  void text(std::uint16_t code, std::string_view value) {
    constexpr std::size_t longest = 65'535;
    if (!value.empty()) option(code, value.data(), std::min(value.size(), longest));
  }
  void end_options() { add(std::uint32_t{0}); }
  void end() {
    pad();
    const auto size = static_cast<std::uint32_t>(bytes_.size() + sizeof(std::uint32_t));
    std::memcpy(bytes_.data() + sizeof size, &size, sizeof size);
    add(size);
  }
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

struct PcapngWriter::Impl {
  /// One described interface.
  struct Written {
    std::uint32_t source = 0;  ///< Frame::interface
    std::int64_t last_time = 0;
    std::optional<std::uint64_t> received, dropped_by_interface, dropped_by_kernel;
  };

  explicit Impl(std::unique_ptr<OutputFile> out) : file(std::move(out)) {}

  void take_counts(Written& one, const InterfaceInfo& info) {
    one.received = info.received;
    one.dropped_by_interface = info.dropped_by_interface;
    one.dropped_by_kernel = info.dropped_by_kernel;
  }
  Expected<void> put(const BlockBuilder& block) {
    return file->append(block.bytes().data(), block.bytes().size());
  }
  Expected<void> section(const std::string& application);
  Expected<std::uint32_t> interface_of(const Frame& frame, const InterfaceInfo& info);
  Expected<void> statistics(std::uint32_t number);

  std::unique_ptr<OutputFile> file;
  BlockBuilder builder;
  std::vector<Written> written;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;  ///< by source interface, link type, before 1970
};

Expected<void> PcapngWriter::Impl::section(const std::string& application) {
  builder.begin(block_section);
  builder.add(std::uint32_t{0x1A2B3C4D});
  builder.add(std::uint16_t{1});
  builder.add(std::uint16_t{0});
  builder.add(UINT64_MAX);  // length not given
  builder.text(4, application);
  builder.end_options();
  builder.end();
  return put(builder);
}

Expected<std::uint32_t> PcapngWriter::Impl::interface_of(const Frame& frame, const InterfaceInfo& info) {
  const bool before_1970 = frame.time_ns < 0;
  // The last of too many interfaces stands for several, of other link types.
  const std::uint64_t key = std::uint64_t{frame.interface} << 17U | std::uint64_t{frame.link_type} << 1U |
                            static_cast<std::uint64_t>(before_1970);
  const auto next = static_cast<std::uint32_t>(written.size());
  const auto [place, added] = numbers.try_emplace(key, next);
  if (!added) return place->second;
  builder.begin(block_interface);
  builder.add(frame.link_type);
  builder.add(std::uint16_t{0});
  builder.add(info.snap_length);
  builder.text(2, info.name);
  builder.text(3, info.description);
  if (info.speed_bps != 0) builder.option(8, info.speed_bps);
  builder.option(9, nanoseconds);
  if (!info.filter.empty()) builder.text(11, std::string(1, '\0') + info.filter);  // 0: libpcap's syntax
  builder.text(12, info.operating_system);
  if (info.fcs_bytes != 0) builder.option(13, info.fcs_bytes);
  if (before_1970) builder.option(14, seconds_before_1970);
  builder.text(15, info.hardware);
  builder.end_options();
  builder.end();
  Written one;
  one.source = frame.interface;
  written.push_back(one);
  if (auto done = put(builder); !done) return tl::unexpected<Error>(std::move(done.error()));
  return next;
}

Expected<void> PcapngWriter::Impl::statistics(std::uint32_t number) {
  const Written& one = written[number];
  if (!one.received && !one.dropped_by_interface && !one.dropped_by_kernel) return {};
  const auto ticks = one.last_time < 0 ? 0 : static_cast<std::uint64_t>(one.last_time);
  builder.begin(block_statistics);
  builder.add(number);
  builder.add(static_cast<std::uint32_t>(ticks >> 32U));
  builder.add(static_cast<std::uint32_t>(ticks));
  if (one.received) builder.option(4, *one.received);
  if (one.dropped_by_interface) builder.option(5, *one.dropped_by_interface);
  if (one.dropped_by_kernel) builder.option(7, *one.dropped_by_kernel);
  builder.end_options();
  builder.end();
  return put(builder);
}

Expected<PcapngWriter> PcapngWriter::create(const std::string& path, const std::string& application) {
  auto file = OutputFile::create(path);
  if (!file) return tl::unexpected<Error>(std::move(file.error()));
  auto impl = std::make_unique<Impl>(std::move(*file));
  if (auto done = impl->section(application); !done) return tl::unexpected<Error>(std::move(done.error()));
  return PcapngWriter(std::move(impl));
}

PcapngWriter::PcapngWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PcapngWriter::PcapngWriter(PcapngWriter&&) noexcept = default;
PcapngWriter& PcapngWriter::operator=(PcapngWriter&&) noexcept = default;
PcapngWriter::~PcapngWriter() = default;

Expected<void> PcapngWriter::write(const Frame& frame, const InterfaceInfo& info) {
  const auto number = impl_->interface_of(frame, info);
  if (!number) return tl::unexpected<Error>(number.error());
  Impl::Written& one = impl_->written[*number];
  one.last_time = frame.time_ns;
  impl_->take_counts(one, info);
  // Modulo 2^64: the offset of an interface before 1970 takes the stamp back to its second.
  const std::uint64_t offset =
      frame.time_ns < 0 ? static_cast<std::uint64_t>(-seconds_before_1970) * 1'000'000'000U : 0;
  const std::uint64_t ticks = static_cast<std::uint64_t>(frame.time_ns) + offset;
  BlockBuilder& block = impl_->builder;
  block.begin(block_packet);
  block.add(*number);
  block.add(static_cast<std::uint32_t>(ticks >> 32U));
  block.add(static_cast<std::uint32_t>(ticks));
  block.add(frame.captured);
  block.add(std::max(frame.wire, frame.captured));
  block.add_bytes(frame.data, frame.captured);
  block.end();
  return impl_->put(block);
}

Expected<void> PcapngWriter::finish(const std::vector<InterfaceInfo>& interfaces) {
  std::vector<bool> told(interfaces.size());
  for (std::uint32_t number = 0; number < impl_->written.size(); ++number) {
    Impl::Written& one = impl_->written[number];
    if (one.source < interfaces.size()) {
      // An interface that was described twice (see before_1970) tells its counts once.
      if (told[one.source]) continue;
      told[one.source] = true;
      impl_->take_counts(one, interfaces[one.source]);
    }
    if (auto done = impl_->statistics(number); !done) return done;
  }
  return impl_->file->finish();
}

}  // namespace roce::capture
