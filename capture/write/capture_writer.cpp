// SPDX-License-Identifier: Apache-2.0
#include "capture/write/capture_writer.hpp"

#include <utility>

#include "capture/write/pcap_writer.hpp"
#include "capture/write/pcapng_writer.hpp"

namespace roce::capture {
namespace {

using Created = Expected<std::unique_ptr<CaptureWriter>>;

Created create_pcapng(std::unique_ptr<OutputFile> file, CaptureWriterOptions options) {
  auto writer = PcapngWriter::create(std::move(file), options.application, std::move(options.comments),
                                     options.compression);
  if (!writer) return tl::unexpected<Error>(std::move(writer.error()));
  return std::make_unique<PcapngWriter>(std::move(*writer));
}

template <PcapTimes times>
Created create_pcap(std::unique_ptr<OutputFile> file, CaptureWriterOptions options) {
  return std::make_unique<PcapWriter>(std::move(file), times, options.comments.size(), options.compression);
}

struct WritableFormat {
  CaptureFormat format;
  std::string_view name;
  Created (*create)(std::unique_ptr<OutputFile> file, CaptureWriterOptions options);
};
// In the order of the enumeration.
constexpr WritableFormat writable_formats[] = {
    {CaptureFormat::pcapng, "pcapng", create_pcapng},
    {CaptureFormat::pcap, "pcap", create_pcap<PcapTimes::microseconds>},
    {CaptureFormat::nsecpcap, "nsecpcap", create_pcap<PcapTimes::nanoseconds>},
};

}  // namespace

std::optional<CaptureFormat> capture_format_of(std::string_view name) noexcept {
  for (const WritableFormat& row : writable_formats) {
    if (row.name == name) return row.format;
  }
  return std::nullopt;
}

Expected<std::unique_ptr<CaptureWriter>> create_capture_writer(std::unique_ptr<OutputFile> file,
                                                               CaptureWriterOptions options) {
  const WritableFormat& row = writable_formats[static_cast<std::size_t>(options.format)];
  return row.create(std::move(file), std::move(options));
}

}  // namespace roce::capture
