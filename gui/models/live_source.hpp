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

/// A file descriptor; closed once.
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

/// What became of the recording of a live capture. On any thread.
class RecordingNews {
 public:
  void set(const capture::RecordingSummary& summary, const std::string& error, bool limited);
  /// What somebody should know of it; empty: it holds everything.
  [[nodiscard]] QString problem() const;
  [[nodiscard]] std::uint64_t packets() const;
  [[nodiscard]] bool limited() const;  ///< the limit ended the capture

 private:
  mutable std::mutex mutex_;
  std::string error_;
  std::uint64_t packets_ = 0;
  bool limited_ = false;
};

/// What a pipe brings, kept in a file as it comes: the source ends where the file may not grow.
struct PipeRecording {
  std::shared_ptr<Descriptor> pipe;  ///< its reading end; closed once it is open
  std::string file;                  ///< made anew
  std::uint64_t most_bytes = 0;      ///< of the file; 0: no limit
  std::shared_ptr<RecordingNews> news;
};
/// Waits for the pipe's first bytes. The source names the file as where its packets are.
[[nodiscard]] capture::Expected<std::unique_ptr<capture::CaptureSource>> open_recorded(
    const PipeRecording& recording);

}  // namespace roce::gui
