// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "capture/write/output_rules.hpp"
#include "capture/write/pcapng_encoder.hpp"
#include "capture/write/recording.hpp"

namespace roce::capture {

class RecordFile;

struct RecorderOptions {
  std::string path;       ///< "-" is standard output: neither rotated nor limited
  bool compress = false;  ///< zstd, in a thread of its own
  /// For the first file if it has no ring's name: all others are new. By default nothing is replaced.
  OutputRules rules;
  SectionFacts section;

  // When a new file begins; 0 = never. Any of them makes a ring, with names by ring_name().
  std::uint64_t file_bytes = 0;  ///< maximum size of a file; only a single larger packet exceeds it
  std::chrono::nanoseconds file_time{0};
  std::uint64_t file_packets = 0;
  std::uint64_t files_kept = 0;  ///< the oldest is removed when there are more; 0 = all are kept
  /// Files that earlier captures left under the ring's names are counted too, and are removed first.
  bool whole_ring = false;

  // When the recording ends; 0 = never.
  std::uint64_t all_bytes = 0;
  std::uint64_t all_files = 0;

  bool name_as_ring = false;       ///< use ring_name() for a single file too
  std::uint64_t first_number = 1;  ///< in the names
  Clocks clocks;

  [[nodiscard]] bool rotates() const noexcept {
    return file_bytes != 0 || file_time.count() != 0 || file_packets != 0;
  }
};

/// Packet counts of an interface at some time.
struct InterfaceCounts {
  std::uint64_t received = 0;
  std::uint64_t dropped_by_interface = 0;
  std::uint64_t dropped_by_kernel = 0;

  [[nodiscard]] static InterfaceCounts of(const InterfaceInfo& info) noexcept;
};

/// Writes frames as they arrive. Files consist of complete blocks whenever the process dies. Frames are
/// written when record() returns; with compression every half second (tick()) at the latest. Each file is a
/// section of its own, with its interfaces, and ends with the interface statistics of its own time span.
class Recorder final : public Recording {
 public:
  /// Opens the first file and describes `interfaces` in it; its statistics are relative to `bases`.
  [[nodiscard]] static Expected<std::unique_ptr<Recorder>> create(
      RecorderOptions options, const std::vector<InterfaceInfo>& interfaces,
      std::vector<InterfaceCounts> bases = {});
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  std::size_t record(std::span<const Frame> frames, const std::vector<InterfaceInfo>& interfaces) override;
  [[nodiscard]] bool ended() const override;
  [[nodiscard]] std::optional<Error> error() const override;
  void tick() override;
  void rotate() override;
  void comment(std::string text) override;
  Expected<void> finish(const std::vector<InterfaceInfo>& interfaces) override;
  [[nodiscard]] RecordingSummary summary() const override;

 private:
  /// A closed file.
  struct Closed {
    std::string path;
    std::uint64_t bytes = 0;
    std::uint64_t packets = 0;
    bool earlier = false;  ///< of an earlier capture
  };
  explicit Recorder(RecorderOptions options);
  void take_over(const std::vector<InterfaceInfo>& interfaces);
  [[nodiscard]] std::vector<InterfaceInfo> counts_of_file() const;
  [[nodiscard]] Expected<void> open_next();
  [[nodiscard]] Expected<std::unique_ptr<RecordFile>> open_ring_file(
      std::chrono::system_clock::time_point now);
  void adopt_earlier();
  void make_room();
  void close_file();
  void change_file();
  void change_file_in_time();
  [[nodiscard]] bool ready_for(const Frame& frame);
  [[nodiscard]] bool fits(std::uint64_t limit, std::uint64_t others, std::uint64_t wanted);
  void write_out();
  void write_out_in_time();
  void note(std::string text);
  void fail(Error error);

  const RecorderOptions options_;
  mutable std::mutex mutex_;  ///< for all that follows
  std::unique_ptr<RecordFile> file_;
  PcapngEncoder encoder_;
  PcapngEncoder::Bytes blocks_;       ///< not yet appended to the file
  std::uint64_t blocks_packets_ = 0;  ///< in them
  std::vector<InterfaceInfo> interfaces_;
  std::vector<InterfaceCounts> bases_;  ///< counts when the present file began
  std::vector<std::string> comments_;
  StatisticsFacts last_words_;  ///< for the end of the present file
  std::uint64_t in_file_ = 0;   ///< packets of the present file
  std::chrono::steady_clock::time_point file_began_;
  std::chrono::steady_clock::time_point written_out_;

  std::uint64_t given_ = 0;
  std::uint64_t number_ = 0;  ///< of the present file's name
  std::uint64_t opened_ = 0;
  std::deque<Closed> closed_;  ///< files that the ring may remove
  Closed all_closed_;          ///< sums, including removed files
  Closed all_removed_;
  Closed all_gone_;  ///< removed by others while they were written
  std::uint64_t removed_files_ = 0;
  std::uint64_t removed_earlier_ = 0;
  std::uint64_t gone_files_ = 0;
  std::string last_path_;
  std::string path_before_;  ///< last_path_ of the previous file
  bool moved_away_ = false;  ///< the file closed last had been renamed or removed
  std::optional<Error> error_;
  std::vector<std::string> notices_;
  bool ended_ = false;
};

}  // namespace roce::capture
