// SPDX-License-Identifier: Apache-2.0
// Writes pcap (nanoseconds) and pcapng files of Ethernet frames, fast and without capture/.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace roce::support {

enum class FileFormat { pcap, pcapng };

class CaptureFile {
 public:
  // "-" is standard output. Throws std::system_error if the file cannot be created.
  // `interfaces` 1 ...; pcap knows but one.
  CaptureFile(const std::string& path, FileFormat format, std::uint32_t interfaces = 1);
  CaptureFile(const CaptureFile&) = delete;
  CaptureFile& operator=(const CaptureFile&) = delete;
  ~CaptureFile();  // closes without writing what is buffered: call close()

  // `time` in nanoseconds since the epoch; `wire_length` 0: as long as the bytes given; `interface` counts
  // from 0. Throws std::system_error if the file cannot be written.
  void write(std::uint64_t time, std::span<const std::uint8_t> frame, std::uint32_t wire_length = 0,
             std::uint32_t interface = 0);

  // Writes what is buffered and closes. Throws std::system_error.
  void close();

 private:
  void put16(std::uint16_t value);
  void put32(std::uint32_t value);
  void write_header(std::uint32_t interfaces);
  void flush();

  std::string path_;
  FileFormat format_;
  int descriptor_;
  std::vector<std::uint8_t> buffer_;
};

}  // namespace roce::support
