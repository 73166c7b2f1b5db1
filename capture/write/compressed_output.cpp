// SPDX-License-Identifier: Apache-2.0
#include "capture/write/compressed_output.hpp"

#include <utility>

namespace roce::capture {
namespace {

// Collected before they are compressed: a call per packet would cost more than the compression.
constexpr std::size_t compressed_at_once = std::size_t{1} << 20U;

}  // namespace

CompressedOutput::CompressedOutput(std::unique_ptr<OutputFile> file, Compression compression)
    : file_(std::move(file)), compressor_(make_compressor(compression)) {}

Expected<void> CompressedOutput::append(const void* data, std::size_t size) {
  if (compressor_ == nullptr) return file_->append(data, size);
  const auto* const bytes = static_cast<const std::uint8_t*>(data);
  plain_.insert(plain_.end(), bytes, bytes + size);
  if (plain_.size() < compressed_at_once) return {};
  return compress(false);
}

Expected<void> CompressedOutput::compress(bool last) {
  compressed_.clear();
  if (!compressor_->add(plain_.data(), plain_.size(), last, compressed_)) {
    Error error;
    error.kind = ErrorKind::not_writable;
    error.path = path();
    error.message = compressor_->message();
    return tl::unexpected<Error>(std::move(error));
  }
  plain_.clear();
  return file_->append(compressed_.data(), compressed_.size());
}

Expected<void> CompressedOutput::finish() {
  if (compressor_ != nullptr) {
    if (auto done = compress(true); !done) return done;
  }
  return file_->finish();
}

}  // namespace roce::capture
