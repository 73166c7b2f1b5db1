// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "capture/core/source.hpp"
#include "capture/write/recording.hpp"

namespace roce::gui {

/// Owns a file descriptor and closes it once.
class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const noexcept { return number_; }
  void close() noexcept;

 private:
  int number_;
};

/// State of the recording of a live capture. Callable from any thread.
class RecordingNews {
 public:
  void set(const capture::RecordingSummary& summary, const std::string& error, bool limited);
  /// Why the recording is incomplete; empty: it is complete.
  [[nodiscard]] QString problem() const;
  [[nodiscard]] std::uint64_t packets() const;
  [[nodiscard]] bool limited() const;  ///< the size limit ended the capture

 private:
  mutable std::mutex mutex_;
  std::string error_;
  std::uint64_t packets_ = 0;
  bool limited_ = false;
};

/// How to record what arrives through a pipe. The source ends when the file has reached its limit.
struct PipeRecording {
  std::shared_ptr<Descriptor> pipe;  ///< reading end; closed when the source has been opened
  std::string file;                  ///< created by open_recorded()
  std::uint64_t most_bytes = 0;      ///< size limit of the file; 0: none
  std::shared_ptr<RecordingNews> news;
};
/// Blocks until the pipe's first bytes arrive. The source refers to the file as the place of its packets.
[[nodiscard]] capture::Expected<std::unique_ptr<capture::CaptureSource>> open_recorded(
    const PipeRecording& recording);

}  // namespace roce::gui
