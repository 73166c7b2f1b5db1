// SPDX-License-Identifier: Apache-2.0
#include "capture/write/pcapng_writer.hpp"

#include <utility>

#include "capture/write/compressed_output.hpp"
#include "capture/write/pcapng_encoder.hpp"

namespace roce::capture {

struct PcapngWriter::Impl {
  explicit Impl(std::unique_ptr<CompressedOutput> out) : file(std::move(out)) {}

  /// Writes and clears the encoded blocks.
  Expected<void> put() {
    auto done = file->append(blocks.data(), blocks.size());
    blocks.clear();
    return done;
  }

  void section(std::vector<std::string> comments) {
    encoder.section(blocks, {application, {}, {}, std::move(comments)});
  }

  std::unique_ptr<CompressedOutput> file;
  std::string application;
  PcapngEncoder encoder;
  PcapngEncoder::Bytes blocks;
};

Expected<PcapngWriter> PcapngWriter::create(const std::string& path, const std::string& application,
                                            std::vector<std::string> comments, OutputRules rules) {
  auto file = OutputFile::create(path, std::move(rules), Readers::owner_only);
  if (!file) return tl::unexpected<Error>(std::move(file.error()));
  return create(std::move(*file), application, std::move(comments));
}

Expected<PcapngWriter> PcapngWriter::create(std::unique_ptr<OutputFile> file, const std::string& application,
                                            std::vector<std::string> comments, Compression compression) {
  auto impl = std::make_unique<Impl>(std::make_unique<CompressedOutput>(std::move(file), compression));
  impl->application = application;
  impl->section(std::move(comments));
  if (auto done = impl->put(); !done) return tl::unexpected<Error>(std::move(done.error()));
  return PcapngWriter(std::move(impl));
}

PcapngWriter::PcapngWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PcapngWriter::PcapngWriter(PcapngWriter&&) noexcept = default;
PcapngWriter& PcapngWriter::operator=(PcapngWriter&&) noexcept = default;
PcapngWriter::~PcapngWriter() = default;

Expected<void> PcapngWriter::write(const Frame& frame, const InterfaceInfo& info,
                                   std::span<const std::string_view> comments) {
  impl_->encoder.packet(impl_->blocks, frame, info, comments);
  return impl_->put();
}

Expected<void> PcapngWriter::begin_section(const std::vector<InterfaceInfo>& interfaces,
                                           std::vector<std::string> comments) {
  impl_->encoder.statistics(impl_->blocks, interfaces);
  impl_->section(std::move(comments));
  return impl_->put();
}

Expected<void> PcapngWriter::finish(const std::vector<InterfaceInfo>& interfaces) {
  impl_->encoder.statistics(impl_->blocks, interfaces);
  if (auto done = impl_->put(); !done) return done;
  return impl_->file->finish();
}

}  // namespace roce::capture
