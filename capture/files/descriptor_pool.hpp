// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>

#include "capture/core/file_identity.hpp"
#include "capture/core/stop_signal.hpp"

// Internal: lets more files be read at once than the process may have open.
namespace roce::capture {

/// Which file is open. A file system may give the inode of a removed file to a new one, but not its time of
/// creation.
struct FileVersion {
  FileIdentity identity;
  std::int64_t created_seconds = 0;  ///< 0 with `created_nanoseconds`: the file system does not record it
  std::uint32_t created_nanoseconds = 0;
  friend bool operator==(const FileVersion&, const FileVersion&) = default;

  /// All 0 if it cannot be determined.
  [[nodiscard]] static FileVersion of(int descriptor) noexcept;
};

/// Open files of one merge. Beyond a number, the file that was not read for longest is parked: closed, until
/// it is read again. Not thread-safe.
class DescriptorPool {
 public:
  /// A file that can be closed and opened again at its place.
  class Member {
   public:
    /// Closes its descriptor.
    virtual void park() noexcept = 0;

   protected:
    ~Member() = default;
  };
  using Place = std::list<Member*>::iterator;

  /// `most`: files that are open at once; 0: a quarter of what the process may have open, since there may be
  /// several merges, outputs and temporary files.
  explicit DescriptorPool(std::size_t most);

  /// open(2) for reading; parks members where that is needed. -1 with errno on failure.
  [[nodiscard]] int open(const std::string& path, const StopSignal& stop);

  /// Called with a member that has been opened; it is in the pool until remove() or park().
  [[nodiscard]] Place add(Member& member) { return open_.insert(open_.end(), &member); }
  void remove(Place place) noexcept { open_.erase(place); }
  /// It is being read: it is parked after all others.
  void touch(Place place) noexcept { open_.splice(open_.end(), open_, place); }

 private:
  void park_one() noexcept;

  std::size_t most_;
  std::list<Member*> open_;  ///< the one that was not read for longest first
};

}  // namespace roce::capture
