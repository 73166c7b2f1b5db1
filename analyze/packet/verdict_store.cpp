// SPDX-License-Identifier: Apache-2.0
#include "analyze/packet/verdict_store.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/core/kept_files.hpp"

namespace roce::analyze {
namespace {

// 16384 verdicts are 768 KiB: few system calls, and changing an old one maps little.
constexpr unsigned chunk_bits = 14;
constexpr std::uint64_t chunk_frames = std::uint64_t{1} << chunk_bits;

/// An empty chunk is all zero bytes, as in anonymous memory and new files.
struct Chunk {
  std::array<std::uint64_t, chunk_frames / 64> present;
  std::array<Verdict, chunk_frames> verdicts;
};
static_assert(std::is_trivially_copyable_v<Chunk> && std::is_standard_layout_v<Chunk>);

constexpr std::size_t page = 64 * 1024;  // the page size of all supported machines, or a multiple
constexpr std::size_t chunk_bytes = (sizeof(Chunk) + page - 1) / page * page;

constexpr std::size_t chunks_in_memory = 8;  // 6 MiB: captures of 131 072 frames need no file
constexpr std::size_t chunks_mapped = 64;    // of the file: a million frames, 52 MiB
/// Verdicts have 32-bit frame numbers; later frames have no verdict.
constexpr std::uint64_t last_frame = std::numeric_limits<std::uint32_t>::max();

class Region {
 public:
  Region() = default;
  Region(int descriptor, std::uint64_t offset) noexcept {
    const int kind = descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void* p =
        ::mmap(nullptr, chunk_bytes, PROT_READ | PROT_WRITE, kind, descriptor, static_cast<off_t>(offset));
    if (p != MAP_FAILED) chunk_ = static_cast<Chunk*>(p);
  }
  Region(Region&& other) noexcept : chunk_(std::exchange(other.chunk_, nullptr)) {}
  Region& operator=(Region&& other) noexcept {
    std::swap(chunk_, other.chunk_);
    return *this;
  }
  ~Region() {
    if (chunk_ != nullptr) ::munmap(chunk_, chunk_bytes);
  }
  [[nodiscard]] Chunk* get() const noexcept { return chunk_; }

 private:
  Chunk* chunk_ = nullptr;
};

/// An unlinked file, which disappears with the process however that ends.
class TemporaryFile {
 public:
  TemporaryFile() = default;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  /// Extends the file by `bytes` and allocates them on disk: a store into a mapping of a sparse file
  /// would raise SIGBUS on a full disk.
  bool grow(std::uint64_t bytes) {
    if (descriptor_ < 0 && !open()) return false;
    // Beyond this limit the kernel does not only fail, it sends SIGXFSZ.
    rlimit limit{};
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        size_ + bytes > limit.rlim_cur) {
      return false;
    }
    int error = 0;
    do {
      error = ::posix_fallocate(descriptor_, static_cast<off_t>(size_), static_cast<off_t>(bytes));
    } while (error == EINTR);
    if (error != 0) return false;
    size_ += bytes;
    return true;
  }

 private:
  bool open() {
    descriptor_ = capture::open_temporary_file(capture::temporary_folder());
    if (descriptor_ < 0) descriptor_ = capture::open_temporary_file("/tmp");
    return descriptor_ >= 0;
  }

  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace

struct VerdictStore::Impl {
  enum Where : std::uint32_t { nowhere = 0xffffffff, refused = 0xfffffffe };

  struct Mapped {
    std::uint32_t place = nowhere;
    std::uint64_t used = 0;
    Region region;
  };

  /// Place of each chunk of frame numbers; places in memory come first, then those in the file. A chunk gets
  /// its place when it is first needed, so that frames without a verdict cost nothing.
  std::vector<std::uint32_t> places;
  std::uint32_t taken = 0;  ///< places in use, or free again:
  std::vector<std::uint32_t> free;
  std::uint64_t forgotten = 0;  ///< chunks before this one
  std::vector<Region> memory;
  TemporaryFile file;
  std::vector<Mapped> mapped;
  std::uint64_t clock = 0;

  std::uint64_t current_number = std::numeric_limits<std::uint64_t>::max();  ///< chunk of the last call
  Chunk* current = nullptr;

  /// Connections that turned out to be the other direction of another one. They are far fewer than packets.
  std::unordered_map<std::uint32_t, std::uint32_t> merged;

  /// Ids of incidents, by their number in verdicts less 1; empty: not known yet.
  std::vector<std::uint32_t> incidents;
  LossReading losses = LossReading::open;
  std::vector<std::uint32_t> not_judged;  ///< ids of connections of which all losses are left open
  Verdict shown;                          ///< what find() returns where not all is as it was written

  std::uint64_t last = last_frame;
  std::uint64_t lost = 0;
  std::uint64_t last_lost = 0;

  /// The chunk; if it does not exist, it is created with `make`, else nullptr. nullptr if that fails.
  Chunk* chunk(std::uint64_t number, bool make) {
    if (number == current_number) return current;
    if (number >= places.size()) {
      if (!make) return nullptr;
      places.resize(number + 1, nowhere);
    }
    if (number < forgotten) return nullptr;
    std::uint32_t& place = places[number];
    const bool used_before = place == nowhere && make && !free.empty();
    if (place == nowhere && make) place = take_place();
    if (place >= refused) return nullptr;
    Chunk* const found = place < memory.size() ? memory[place].get() : map(place);
    if (found == nullptr) return nullptr;
    if (used_before) found->present.fill(0);
    current_number = number;
    return current = found;
  }

  /// A chunk that could not get a place never gets one later, so that verdicts do not come and go.
  std::uint32_t take_place() {
    if (!free.empty()) {
      const std::uint32_t place = free.back();
      free.pop_back();
      return place;
    }
    if (taken < chunks_in_memory) {
      Region region(-1, 0);
      if (region.get() == nullptr) return refused;
      memory.push_back(std::move(region));
    } else if (!file.grow(chunk_bytes)) {
      return refused;
    }
    return taken++;
  }

  void settle_connection(Verdict& verdict) const {
    for (auto into = merged.find(verdict.connection); into != merged.end();
         into = merged.find(verdict.connection)) {
      verdict.connection = into->second;
      verdict.flags = static_cast<std::uint16_t>(verdict.flags ^ Verdict::b_to_a);
    }
  }

  [[nodiscard]] LossReading losses_of(std::uint32_t connection) const {
    const bool open = std::binary_search(not_judged.begin(), not_judged.end(), connection);
    return open ? LossReading::not_judged : losses;
  }

  Chunk* map(std::uint32_t place) {
    Mapped* oldest = nullptr;
    for (Mapped& m : mapped) {
      if (m.place == place) {
        m.used = ++clock;
        return m.region.get();
      }
      if (oldest == nullptr || m.used < oldest->used) oldest = &m;
    }
    if (mapped.size() < chunks_mapped) oldest = &mapped.emplace_back();
    // Before it is unmapped, since nothing may refer to the mapping any more.
    current_number = std::numeric_limits<std::uint64_t>::max();
    *oldest = {};
    Region region(file.descriptor(), (std::uint64_t{place} - memory.size()) * chunk_bytes);
    if (region.get() == nullptr) return nullptr;
    oldest->place = place;
    oldest->used = ++clock;
    oldest->region = std::move(region);
    return oldest->region.get();
  }
};

VerdictStore::VerdictStore() : impl_(std::make_unique<Impl>()) {}
VerdictStore::VerdictStore(std::uint64_t last) : VerdictStore() {
  impl_->last = std::min(last, last_frame);
}
VerdictStore::VerdictStore(VerdictStore&&) noexcept = default;
VerdictStore& VerdictStore::operator=(VerdictStore&&) noexcept = default;
VerdictStore::~VerdictStore() = default;

Verdict* VerdictStore::at(std::uint64_t number) {
  if (number == 0) return nullptr;
  Chunk* const chunk = number <= impl_->last ? impl_->chunk((number - 1) >> chunk_bits, true) : nullptr;
  if (chunk == nullptr) {
    // First calls come in ascending order of frames; later calls for the same frame are not counted.
    if (number > impl_->last_lost && (number - 1) >> chunk_bits >= impl_->forgotten) {
      impl_->last_lost = number;
      ++impl_->lost;
    }
    return nullptr;
  }
  const std::uint64_t i = (number - 1) & (chunk_frames - 1);
  std::uint64_t& word = chunk->present[i / 64];
  const std::uint64_t bit = std::uint64_t{1} << i % 64;
  if ((word & bit) == 0) {
    word |= bit;
    chunk->verdicts[i] = Verdict{};
  }
  return &chunk->verdicts[i];
}

const Verdict* VerdictStore::find(std::uint64_t number) {
  if (number == 0 || number > last_frame) return nullptr;
  Chunk* const chunk = impl_->chunk((number - 1) >> chunk_bits, false);
  if (chunk == nullptr) return nullptr;
  const std::uint64_t i = (number - 1) & (chunk_frames - 1);
  if ((chunk->present[i / 64] >> i % 64 & 1U) == 0) return nullptr;
  Verdict& verdict = chunk->verdicts[i];
  if (!impl_->merged.empty()) impl_->settle_connection(verdict);
  const bool of_incident = verdict.incident != 0 && verdict.incident <= impl_->incidents.size();
  const bool shows_lost = verdict.lost_before != 0 || verdict.lost_or_missed != 0 || verdict.lost_after != 0;
  if (!of_incident && !shows_lost) return &verdict;
  impl_->shown = verdict;
  if (of_incident)
    impl_->shown.incident = (impl_->incidents[verdict.incident - 1] + 1) & Verdict::incidents_at_most;
  if (shows_lost) impl_->shown.read_losses_as(impl_->losses_of(verdict.connection));
  return &impl_->shown;
}

void VerdictStore::forget_before(std::uint64_t number) {
  if (number == 0) return;
  const std::uint64_t end = std::min<std::uint64_t>((number - 1) >> chunk_bits, impl_->places.size());
  for (; impl_->forgotten < end; ++impl_->forgotten) {
    std::uint32_t& place = impl_->places[impl_->forgotten];
    if (place < Impl::refused) impl_->free.push_back(place);
    place = Impl::refused;
    if (impl_->current_number == impl_->forgotten)
      impl_->current_number = std::numeric_limits<std::uint64_t>::max();
  }
}

void VerdictStore::merge_connection(std::uint32_t from, std::uint32_t to) {
  if (from != to) impl_->merged[from] = to;
}

void VerdictStore::number_incidents(std::vector<std::uint32_t> ids) {
  impl_->incidents = std::move(ids);
}

void VerdictStore::read_losses_as(LossReading reading, std::vector<std::uint32_t> not_judged) {
  impl_->losses = reading;
  impl_->not_judged = std::move(not_judged);
}

std::uint64_t VerdictStore::lost() const noexcept {
  return impl_->lost;
}

}  // namespace roce::analyze
