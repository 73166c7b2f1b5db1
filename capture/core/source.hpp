// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/core/error.hpp"
#include "capture/core/frame.hpp"
#include "capture/core/timestamp.hpp"

namespace roce::capture {

/// How a file stores the packets of an interface, so that one of them can be read again by its offset.
struct RecordForm {
  enum class Kind : std::uint8_t {
    other,   ///< not readable by its offset alone
    pcap,    ///< record header of 16 bytes: seconds, fraction, captured and wire length
    pcapng,  ///< first 28 bytes of an Enhanced or obsolete Packet Block
  };
  Kind kind = Kind::other;
  bool swapped = false;               ///< the byte order is not this machine's
  std::uint32_t ns_per_fraction = 1;  ///< pcap: 1000 or 1
  TickClock clock;                    ///< pcapng
};

/// One interface of a capture (pcapng IDB and ISB; a pcap file has exactly one).
struct InterfaceInfo {
  std::string name;              ///< if_name, empty where unknown
  std::string description;       ///< if_description
  std::string filter;            ///< capture filter, if_filter
  std::string operating_system;  ///< if_os
  std::string hardware;          ///< if_hardware
  std::uint16_t link_type = 0;
  std::uint32_t snap_length = 0;  ///< 0 = no limit
  std::uint64_t speed_bps = 0;    ///< if_speed, 0 = unknown
  std::uint64_t ticks_per_second = 1'000'000;
  std::uint16_t file = 0;                             ///< index into files()
  std::uint16_t point = 0;                            ///< Frame::point of its packets, once they come
  std::uint64_t packets = 0;                          ///< frames delivered so far
  std::optional<std::uint64_t> received;              ///< ISB isb_ifrecv
  std::optional<std::uint64_t> dropped_by_interface;  ///< ISB isb_ifdrop
  std::optional<std::uint64_t> dropped_by_kernel;     ///< ISB isb_osdrop
  std::uint64_t dropped_before_packets = 0;  ///< sum of epb_dropcount and of the obsolete block's drops count
  std::uint8_t fcs_bytes = 0;  ///< frames end with a check sequence of this size; 0 = unknown or none
  RecordForm form;
};

struct FileInfo {
  std::string path;              ///< as given, "-" for standard input
  std::string format;            ///< "pcap (ns, little-endian)", "pcapng", with " in gzip" …
  std::uint64_t bytes = 0;       ///< size on disk, 0 for a pipe
  std::uint64_t bytes_read = 0;  ///< of the size on disk, for progress
  std::uint64_t packets = 0;
  std::string comment;           ///< section comment
  std::string application;       ///< shb_userappl
  std::string hardware;          ///< shb_hardware
  std::string operating_system;  ///< shb_os
};

/// What in a capture was skipped, repaired or could not be used. incident_info() has name, severity and help;
/// analyze lists them among its diagnostics (docs/diagnostics.md).
enum class Incident : std::uint8_t {
  cut_short,                ///< the file ends inside a record
  damaged_record,           ///< contradictory length or field; reading stopped there
  shrunk_while_read,        ///< the file became shorter while it was read
  time_backwards,           ///< a record is older than the one before it in its file
  no_timestamp,             ///< Simple Packet Blocks have no time; nor are stamps of 0 before any other one
  unknown_block,            ///< pcapng block types skipped by their length
  unknown_interface,        ///< a packet names an interface that was never described; skipped
  bad_option,               ///< a pcapng option overruns its block; it and those after it were ignored
  captured_more_than_wire,  ///< captured length above wire length; the wire length was raised
  decompression_failed,     ///< the compressed stream is damaged or cut short
  oversized_record,         ///< a frame above 256 KiB or a block above 16 MiB; reading stopped there
  count_
};

enum class IncidentSeverity : std::uint8_t { info, data_loss, error };

struct IncidentInfo {
  std::string_view id;  ///< snake_case, stable: a key of JSON's `diagnostics`
  IncidentSeverity severity;
  std::string_view help;  ///< one sentence: what it means and what to do
};
[[nodiscard]] const IncidentInfo& incident_info(Incident incident) noexcept;

struct Statistics {
  std::uint64_t frames = 0;
  std::uint64_t skipped = 0;  ///< packets of interfaces that were never described: count as not captured
  std::uint64_t incidents[static_cast<std::size_t>(Incident::count_)] = {};
};

/// Why a source ended before its end.
enum class StopReason : std::uint8_t {
  request,      ///< request_stop(): a signal, the user
  frame_limit,  ///< a maximum number of frames was set; see reading_limits.hpp
  time_limit,   ///< a maximum time was set
};

/// Where frames come from. Not thread-safe except request_stop(). Several batches may be in use at a time,
/// each keeps its own bytes alive.
class CaptureSource {
 public:
  virtual ~CaptureSource() = default;

  /// Appends up to `limit` frames to `batch` (which the caller has cleared). Returns how many; 0 = the end.
  /// An error is final for the input that it names; all whole frames before it have been delivered. Other
  /// inputs continue: call again until it returns 0.
  virtual Expected<std::size_t> next_batch(FrameBatch& batch, std::size_t limit) = 0;

  /// Whether next_batch() may block until the writer of a pipe or a device delivers more: use what was
  /// delivered before the next call.
  [[nodiscard]] virtual bool may_wait() const noexcept { return false; }

  /// Whether several inputs begin with the same packets: captures of one traffic at several capture points.
  [[nodiscard]] virtual bool shows_copies() const noexcept { return false; }

  [[nodiscard]] virtual const std::vector<InterfaceInfo>& interfaces() const = 0;
  [[nodiscard]] virtual const std::vector<FileInfo>& files() const = 0;
  [[nodiscard]] virtual const Statistics& statistics() const = 0;

  /// Makes next_batch() return 0 soon. Any thread, also a signal handler.
  virtual void request_stop() noexcept = 0;

  /// Whether next_batch() returned 0 because of request_stop() or a limit: more frames may follow, which were
  /// not read.
  [[nodiscard]] virtual bool stopped() const noexcept { return false; }
  /// Why, if stopped().
  [[nodiscard]] virtual StopReason stop_reason() const noexcept { return StopReason::request; }
};

/// Opens captures as one source: pcap or pcapng, plain, gzip, zstd or lz4; "-" is standard input; glob
/// patterns where no file of that name exists. Frames of several files come in time order, those of one file
/// in file order. Fails only if no input can be read; otherwise next_batch() reports the inputs that fail.
[[nodiscard]] Expected<std::unique_ptr<CaptureSource>> open_files(const std::vector<std::string>& paths);

}  // namespace roce::capture
