// SPDX-License-Identifier: Apache-2.0
#include "capture/write/recorder.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "capture/write/descriptor_output.hpp"
#include "capture/write/record_file.hpp"
#include "capture/write/ring_name.hpp"

namespace roce::capture {
namespace {

using std::chrono::steady_clock;

// Uncompressed chunks stay in the cache until they are written; compression finds more repetition in larger
// ones.
constexpr std::size_t plain_chunk = 256U * 1024U;
constexpr std::size_t compressed_chunk = 1024U * 1024U;
constexpr auto compressed_wait = std::chrono::milliseconds(500);
constexpr std::size_t packet_overhead = 32;  // of an Enhanced Packet Block without options
// A compressed file counts as full when so little is left, as the compressed size is known only afterwards.
constexpr std::uint64_t compressed_slack = 64U * 1024U;
constexpr std::size_t most_comments = 100;
constexpr std::size_t most_notices = 100;

std::int64_t nanoseconds_of(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

/// Increase since `base`; none if the counter went backwards.
std::optional<std::uint64_t> since(const std::optional<std::uint64_t>& now, std::uint64_t base) {
  if (!now) return now;
  return *now < base ? 0 : *now - base;
}

}  // namespace

InterfaceCounts InterfaceCounts::of(const InterfaceInfo& info) noexcept {
  return {info.received.value_or(0), info.dropped_by_interface.value_or(0),
          info.dropped_by_kernel.value_or(0)};
}

Expected<std::unique_ptr<Recorder>> Recorder::create(RecorderOptions options,
                                                     const std::vector<InterfaceInfo>& interfaces,
                                                     std::vector<InterfaceCounts> bases) {
  std::unique_ptr<Recorder> recorder(new Recorder(std::move(options)));
  recorder->interfaces_ = interfaces;
  recorder->bases_ = std::move(bases);
  recorder->bases_.resize(interfaces.size());
  if (auto opened = recorder->open_next(); !opened) return tl::unexpected<Error>(std::move(opened.error()));
  recorder->adopt_earlier();
  recorder->write_out();
  // An error of the first write is returned at once.
  if (auto begun = recorder->file_->drain(); !begun) return tl::unexpected<Error>(std::move(begun.error()));
  if (recorder->error_) return tl::unexpected<Error>(*recorder->error_);
  return recorder;
}

Recorder::Recorder(RecorderOptions options)
    : options_(std::move(options)), number_(options_.first_number - 1) {
  blocks_.reserve(options_.compress ? compressed_chunk : plain_chunk);
}

Recorder::~Recorder() {
  if (file_) (void)finish({});
}

std::size_t Recorder::record(std::span<const Frame> frames, const std::vector<InterfaceInfo>& interfaces) {
  static const InterfaceInfo unknown;
  const std::lock_guard lock(mutex_);
  if (ended_) return 0;
  take_over(interfaces);
  change_file_in_time();
  std::size_t taken = 0;
  for (; taken < frames.size(); ++taken) {
    const Frame& frame = frames[taken];
    if (!ready_for(frame)) break;
    const InterfaceInfo& info = frame.interface < interfaces_.size() ? interfaces_[frame.interface] : unknown;
    encoder_.packet(blocks_, frame, info, std::vector<std::string_view>(comments_.begin(), comments_.end()));
    comments_.clear();
    ++in_file_;
    ++blocks_packets_;
    if (blocks_.size() >= (options_.compress ? compressed_chunk : plain_chunk)) write_out();
  }
  if (options_.compress) {
    write_out_in_time();
  } else {
    write_out();
  }
  // Received frames are analysed even if the disk is full.
  if (error_) taken = frames.size();
  given_ += taken;
  return taken;
}

bool Recorder::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

std::optional<Error> Recorder::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void Recorder::tick() {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  // Without packets nothing is written, so a closed pipe would be noticed with the next packet only.
  if (file_->reader_left()) return fail(not_writable(file_->path(), EPIPE, "writing failed"));
  change_file_in_time();
  write_out_in_time();
}

void Recorder::rotate() {
  const std::lock_guard lock(mutex_);
  if (!ended_ && file_->regular()) change_file();
}

void Recorder::comment(std::string text) {
  const std::lock_guard lock(mutex_);
  if (comments_.size() < most_comments) comments_.push_back(std::move(text));
}

Expected<void> Recorder::finish(const std::vector<InterfaceInfo>& interfaces) {
  const std::lock_guard lock(mutex_);
  if (file_) {
    if (!interfaces.empty()) take_over(interfaces);
    last_words_.comments = std::exchange(comments_, {});
    close_file();
  }
  ended_ = true;
  if (error_) return tl::unexpected<Error>(*error_);
  return {};
}

RecordingSummary Recorder::summary() const {
  const std::lock_guard lock(mutex_);
  RecordingSummary sum;
  sum.given = given_;
  sum.packets = all_closed_.packets - all_removed_.packets - all_gone_.packets;
  sum.bytes = all_closed_.bytes - all_removed_.bytes - all_gone_.bytes;
  sum.files = opened_ - removed_files_ - gone_files_;
  if (file_) {
    sum.packets += file_->kept().packets;
    sum.bytes += file_->kept().bytes;
  }
  sum.removed_files = removed_files_;
  sum.removed_packets = all_removed_.packets;
  sum.removed_earlier = removed_earlier_;
  sum.last_path = last_path_;
  sum.notices = notices_;
  return sum;
}

void Recorder::take_over(const std::vector<InterfaceInfo>& interfaces) {
  if (interfaces.size() != interfaces_.size()) {
    interfaces_ = interfaces;
    bases_.resize(interfaces.size());
    return;
  }
  for (std::size_t i = 0; i < interfaces.size(); ++i) {
    interfaces_[i].received = interfaces[i].received;
    interfaces_[i].dropped_by_interface = interfaces[i].dropped_by_interface;
    interfaces_[i].dropped_by_kernel = interfaces[i].dropped_by_kernel;
  }
}

std::vector<InterfaceInfo> Recorder::counts_of_file() const {
  std::vector<InterfaceInfo> counts = interfaces_;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i].received = since(counts[i].received, bases_[i].received);
    counts[i].dropped_by_interface = since(counts[i].dropped_by_interface, bases_[i].dropped_by_interface);
    counts[i].dropped_by_kernel = since(counts[i].dropped_by_kernel, bases_[i].dropped_by_kernel);
  }
  return counts;
}

Expected<std::unique_ptr<RecordFile>> Recorder::open_ring_file(std::chrono::system_clock::time_point now) {
  constexpr unsigned attempts = 1000;
  for (unsigned attempt = 0;; ++attempt) {
    const std::string path = ring_name(options_.path, ++number_, now);
    auto file = RecordFile::open(path, options_.compress, options_.rules, RecordFile::Existing::refuse);
    // The name exists: a recording that began in the same second.
    if (file || file.error().system_errno != EEXIST || attempt == attempts) return file;
  }
}

/// Opens a file and begins its section.
Expected<void> Recorder::open_next() {
  const auto now = options_.clocks.wall();
  const bool ring = options_.rotates() || options_.name_as_ring;
  // After SIGHUP: if the file was renamed, the next one gets its original name.
  const bool plain_name = !ring && (opened_ == 0 || moved_away_);
  if (plain_name) ++number_;
  const auto existing = opened_ != 0 ? RecordFile::Existing::refuse : RecordFile::Existing::replace;
  auto file = plain_name ? RecordFile::open(options_.path, options_.compress, options_.rules, existing)
                         : open_ring_file(now);
  if (!file) return tl::unexpected<Error>(std::move(file.error()));
  file_ = std::move(*file);
  ++opened_;
  in_file_ = 0;
  path_before_ = std::exchange(last_path_, file_->path());
  file_began_ = written_out_ = options_.clocks.steady();
  last_words_ = {};
  last_words_.start_ns = nanoseconds_of(now);
  encoder_.section(blocks_, options_.section);
  for (std::size_t i = 0; i < interfaces_.size(); ++i)
    encoder_.interface(blocks_, static_cast<std::uint16_t>(i), interfaces_[i]);
  return {};
}

void Recorder::close_file() {
  if (!error_) {
    last_words_.end_ns = nanoseconds_of(options_.clocks.wall());
    encoder_.statistics(blocks_, counts_of_file(), last_words_);
    write_out();
  }
  moved_away_ = !file_->in_place();
  const bool removed = file_->removed();
  // Removes an empty file: a service that restarts every ten seconds would leave one each time.
  const bool discarded = file_->discard_if_empty();
  if (discarded) {
    --opened_;
    last_path_ = path_before_;
  }
  if (auto done = file_->finish(); !done) fail(std::move(done.error()));
  const KeptBlocks kept = file_->kept();
  all_closed_.bytes += kept.bytes;
  all_closed_.packets += kept.packets;
  if (removed) {
    all_gone_.bytes += kept.bytes;
    all_gone_.packets += kept.packets;
    ++gone_files_;
    note(file_->path() + ": this file was removed by another program while it was written, with " +
         std::to_string(kept.packets) + (kept.packets == 1 ? " packet" : " packets"));
  } else if (options_.files_kept != 0 && !discarded) {
    closed_.push_back({file_->path(), kept.bytes, kept.packets, false});
  }
  file_.reset();
}

/// Adds the files of this ring that earlier captures left, except the one that is open now.
void Recorder::adopt_earlier() {
  if (!options_.whole_ring || !options_.rotates()) return;
  for (RingFile& each : files_of_ring(options_.path))
    closed_.push_back({std::move(each.path), each.bytes, 0, true});
  make_room();
}

/// Removes the oldest files before a new one is opened.
void Recorder::make_room() {
  while (options_.files_kept != 0 && closed_.size() + 1 > options_.files_kept) {
    const Closed& oldest = closed_.front();
    if (::unlink(oldest.path.c_str()) == 0 || errno == ENOENT) {
      all_removed_.bytes += oldest.earlier ? 0 : oldest.bytes;
      all_removed_.packets += oldest.packets;
      ++(oldest.earlier ? removed_earlier_ : removed_files_);
    } else {
      note(oldest.path + ": cannot be removed from the ring: " + std::strerror(errno));
    }
    closed_.pop_front();
  }
}

void Recorder::change_file() {
  close_file();
  for (std::size_t i = 0; i < interfaces_.size(); ++i) bases_[i] = InterfaceCounts::of(interfaces_[i]);
  if (options_.all_files != 0 && opened_ >= options_.all_files) ended_ = true;
  if (ended_) return;
  make_room();
  if (auto opened = open_next(); !opened) fail(std::move(opened.error()));
}

void Recorder::change_file_in_time() {
  const bool late =
      options_.file_time.count() != 0 && options_.clocks.steady() - file_began_ >= options_.file_time;
  if (late && file_->regular()) change_file();
}

/// Whether the frame may be written; begins the next file if the present one is full.
bool Recorder::ready_for(const Frame& frame) {
  if (ended_) return false;
  const bool bounded = options_.all_bytes != 0 || options_.file_bytes != 0;
  if (!bounded && options_.file_packets == 0) return true;
  const std::uint64_t wanted = frame.captured + packet_overhead + encoder_.statistics_bytes();
  if (!fits(options_.all_bytes, all_closed_.bytes, wanted)) ended_ = true;
  if (ended_ || in_file_ == 0) return !ended_;
  const bool full = options_.file_packets != 0 && in_file_ >= options_.file_packets;
  if (full || !fits(options_.file_bytes, 0, wanted)) change_file();
  return !ended_;
}

/// Whether `wanted` more bytes stay within a limit (0 = none), of which `others` are used by other files.
bool Recorder::fits(std::uint64_t limit, std::uint64_t others, std::uint64_t wanted) {
  if (limit == 0) return true;
  const std::uint64_t waiting = blocks_.size() + wanted;
  // Compressed data may become slightly larger.
  const std::uint64_t grown = options_.compress ? waiting + waiting / 128 + 128 : waiting;
  if (others + file_->kept().bytes + file_->pending() + grown <= limit) return true;
  if (!options_.compress) return false;
  write_out();
  if (auto done = file_->drain(); !done) fail(std::move(done.error()));
  if (ended_) return true;
  return others + file_->kept().bytes + wanted + std::min(compressed_slack, limit / 16) <= limit;
}

void Recorder::write_out() {
  written_out_ = options_.clocks.steady();
  if (blocks_.empty() || !file_) return;
  if (auto done = file_->append(blocks_, std::exchange(blocks_packets_, 0)); !done)
    fail(std::move(done.error()));
}

void Recorder::write_out_in_time() {
  if (!ended_ && options_.clocks.steady() - written_out_ >= compressed_wait) write_out();
}

void Recorder::note(std::string text) {
  if (notices_.size() < most_notices) notices_.push_back(std::move(text));
}

void Recorder::fail(Error error) {
  ended_ = true;
  blocks_.clear();
  blocks_packets_ = 0;
  if (!error_) error_ = std::move(error);
}

}  // namespace roce::capture
