// SPDX-License-Identifier: Apache-2.0
#include "tests/support/capture_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace roce::support {
namespace {

constexpr std::size_t buffer_limit = std::size_t{1} << 20;
constexpr std::uint32_t linktype_ethernet = 1;
constexpr std::uint32_t snap_length = 262144;
constexpr std::uint32_t pcap_nanoseconds = 0xa1b23c4d;
constexpr std::uint32_t section_header_block = 0x0a0d0d0a;
constexpr std::uint32_t interface_block = 1;
constexpr std::uint32_t enhanced_packet_block = 6;

}  // namespace

CaptureFile::CaptureFile(const std::string& path, FileFormat format, std::uint32_t interfaces)
    : path_(path),
      format_(format),
      descriptor_(path == "-" ? STDOUT_FILENO
                              : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) {
    throw std::system_error(errno, std::generic_category(), path_);
  }
  buffer_.reserve(buffer_limit + snap_length);
  write_header(interfaces);
}

CaptureFile::~CaptureFile() {
  if (descriptor_ > STDERR_FILENO) {
    ::close(descriptor_);
  }
}

void CaptureFile::put16(std::uint16_t value) {
  buffer_.push_back(static_cast<std::uint8_t>(value));
  buffer_.push_back(static_cast<std::uint8_t>(value >> 8));
}

void CaptureFile::put32(std::uint32_t value) {
  const std::uint8_t bytes[] = {static_cast<std::uint8_t>(value), static_cast<std::uint8_t>(value >> 8),
                                static_cast<std::uint8_t>(value >> 16),
                                static_cast<std::uint8_t>(value >> 24)};
  buffer_.insert(buffer_.end(), std::begin(bytes), std::end(bytes));
}

void CaptureFile::write_header(std::uint32_t interfaces) {
  if (format_ == FileFormat::pcap) {
    put32(pcap_nanoseconds);
    put16(2);  // version 2.4
    put16(4);
    put32(0);
    put32(0);
    put32(snap_length);
    put32(linktype_ethernet);
    return;
  }
  put32(section_header_block);
  put32(28);
  put32(0x1a2b3c4d);
  put16(1);  // version 1.0
  put16(0);
  put32(0xffffffff);  // section length unknown
  put32(0xffffffff);
  put32(28);

  for (std::uint32_t i = 0; i < interfaces; ++i) {
    put32(interface_block);
    put32(32);
    put16(linktype_ethernet);
    put16(0);
    put32(snap_length);
    put16(9);  // if_tsresol, one byte: 10^-9 s
    put16(1);
    put32(9);
    put32(0);  // end of options
    put32(32);
  }
}

void CaptureFile::write(std::uint64_t time, std::span<const std::uint8_t> frame, std::uint32_t wire_length,
                        std::uint32_t interface) {
  const auto captured = static_cast<std::uint32_t>(frame.size());
  const std::uint32_t original = wire_length == 0 ? captured : wire_length;
  if (format_ == FileFormat::pcap) {
    put32(static_cast<std::uint32_t>(time / 1'000'000'000));
    put32(static_cast<std::uint32_t>(time % 1'000'000'000));
    put32(captured);
    put32(original);
    buffer_.insert(buffer_.end(), frame.begin(), frame.end());
  } else {
    const std::uint32_t padded = (captured + 3U) & ~3U;
    put32(enhanced_packet_block);
    put32(32 + padded);
    put32(interface);
    put32(static_cast<std::uint32_t>(time >> 32));
    put32(static_cast<std::uint32_t>(time));
    put32(captured);
    put32(original);
    buffer_.insert(buffer_.end(), frame.begin(), frame.end());
    buffer_.insert(buffer_.end(), padded - captured, 0);
    put32(32 + padded);
  }
  if (buffer_.size() >= buffer_limit) {
    flush();
  }
}

void CaptureFile::flush() {
  std::size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t n = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (n >= 0) {
      done += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), path_);
    }
  }
  buffer_.clear();
}

void CaptureFile::close() {
  flush();
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (descriptor > STDERR_FILENO && ::close(descriptor) != 0) {
    throw std::system_error(errno, std::generic_category(), path_);
  }
}

}  // namespace roce::support
