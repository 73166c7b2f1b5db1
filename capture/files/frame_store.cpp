// SPDX-License-Identifier: Apache-2.0
#include "capture/files/frame_store.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "capture/core/bytes.hpp"
#include "capture/core/comments.hpp"
#include "capture/core/forwarding_source.hpp"
#include "capture/core/pcapng_options.hpp"
#include "capture/files/frame_store_files.hpp"
#include "capture/files/spool.hpp"
#include "capture/files/walker.hpp"

namespace roce::capture {
namespace {

// A place is one 64-bit word: offset of the frame's bytes, two flags, index of its interface.
constexpr unsigned offset_bits = 46;
constexpr std::uint64_t offset_mask = (std::uint64_t{1} << offset_bits) - 1;
constexpr std::uint64_t spooled_bit = std::uint64_t{1} << offset_bits;
constexpr std::uint64_t commented_bit = spooled_bit << 1U;
constexpr unsigned interface_shift = offset_bits + 2;

/// Precedes a frame's bytes in the spool, in the byte order of this machine. Comments of the frame precede it
/// as pcapng options, followed by their length (SpooledComments).
struct SpoolHead {
  std::int64_t time_ns;
  std::uint32_t captured;
  std::uint32_t wire;
};
static_assert(sizeof(SpoolHead) == 16);
using SpooledComments = std::uint32_t;  ///< in bytes

template <class Value>
void append_bytes(std::vector<std::uint8_t>& to, const Value& value) {
  const std::size_t at = to.size();
  to.resize(at + sizeof value);
  std::memcpy(to.data() + at, &value, sizeof value);
}

std::size_t head_bytes(const RecordForm& form) noexcept {
  return form.kind == RecordForm::Kind::pcapng ? 28 : 16;
}

std::int64_t time_of(const std::uint8_t* head, const RecordForm& form) noexcept {
  if (form.kind == RecordForm::Kind::pcap) {
    const std::uint64_t seconds = load<std::uint32_t>(head, form.swapped);
    const std::uint64_t fraction = load<std::uint32_t>(head + 4, form.swapped);
    return static_cast<std::int64_t>(seconds * 1'000'000'000U + fraction * form.ns_per_fraction);
  }
  return form.clock.to_ns(std::uint64_t{load<std::uint32_t>(head + 12, form.swapped)} << 32U |
                          load<std::uint32_t>(head + 16, form.swapped));
}

constexpr std::uint32_t spool_file = 0xffffffff;

/// Where a frame's options are: bytes of options before its header or after its data, and the gap in between.
struct Around {
  std::size_t before = 0, before_gap = 0;
  std::size_t behind = 0, behind_gap = 0;
};

}  // namespace

FrameStore::FrameStore() : FrameStore(Limits{}) {}

FrameStore::FrameStore(const Limits& limits)
    : limits_(limits),
      spool_(std::make_unique<Spool>(
          Spool::Limits{limits.spooled_bytes, limits.memory_bytes, limits.kept_free, limits.directory})),
      interfaces_(std::make_shared<const std::vector<InterfaceInfo>>()) {}

FrameStore::~FrameStore() = default;

std::optional<Error> FrameStore::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

std::shared_ptr<const std::vector<InterfaceInfo>> FrameStore::interfaces() const {
  const std::lock_guard lock(mutex_);
  return interfaces_;
}

bool FrameStore::has_comments(std::uint64_t number) const noexcept {
  return any_comments() && (places_[number - 1] & commented_bit) != 0;
}

FrameStore::Times FrameStore::times_of_group(std::uint64_t group) const noexcept {
  const Group* const times = groups_.find(group);
  if (times == nullptr) return {};
  return {times->from.load(std::memory_order_relaxed), times->to.load(std::memory_order_relaxed)};
}

void FrameStore::note_interfaces(const CaptureSource& source, bool anew) {
  const std::lock_guard lock(mutex_);
  if (anew || source.interfaces().size() != interfaces_->size()) {
    interfaces_ = std::make_shared<const std::vector<InterfaceInfo>>(source.interfaces());
  }
  for (std::size_t i = files_.size(); i < source.files().size(); ++i)
    files_.push_back({source.files()[i].path, {}, 0, 0, 0});
}

/// The offset of the frame's bytes in its file, if they can be read from there again.
std::optional<std::uint64_t> FrameStore::place_of(const Frame& frame, const FrameBatch& batch,
                                                  std::size_t& origin) const {
  if (frame.time_ns == no_time || frame.interface >= interfaces_->size()) return std::nullopt;
  const InterfaceInfo& info = (*interfaces_)[frame.interface];
  // The last possible interface may be shared by many, of any file.
  if (info.form.kind == RecordForm::Kind::other || info.file != frame.file ||
      std::size_t{frame.interface} + 1 >= largest_interface_count) {
    return std::nullopt;
  }
  const auto holds = [&](const Origin& o) {
    return frame.data >= o.data && frame.data < o.data + o.size && o.file == frame.file;
  };
  const std::vector<Origin>& all = batch.origins;
  if (origin >= all.size() || !holds(all[origin])) {
    const auto found = std::find_if(all.begin(), all.end(), holds);
    if (found == all.end()) return std::nullopt;
    origin = static_cast<std::size_t>(found - all.begin());
  }
  const std::uint64_t offset = all[origin].offset + static_cast<std::uint64_t>(frame.data - all[origin].data);
  if (offset > offset_mask) return std::nullopt;
  return offset;
}

Expected<std::uint64_t> FrameStore::keep(const Frame& frame, std::span<const std::string_view> comments) {
  std::vector<std::uint8_t>& head = head_;
  head.clear();
  for (const std::string_view comment : comments) {
    append_bytes(head, option_comment);
    append_bytes(head, static_cast<std::uint16_t>(comment.size()));  // came from an option, so it fits
    head.insert(head.end(), comment.begin(), comment.end());
    head.resize((head.size() + 3) / 4 * 4);
  }
  if (!head.empty()) append_bytes(head, static_cast<SpooledComments>(head.size()));
  append_bytes(head, SpoolHead{frame.time_ns, frame.captured, frame.wire});
  const auto place = spool_->append(head, {frame.data, frame.captured});
  if (!place) return tl::unexpected<Error>(place.error());
  return (*place + head.size()) | spooled_bit;
}

void FrameStore::note_time(std::uint64_t i, std::int64_t time) {
  Group& group = groups_.make(i / group_frames);
  const bool first = i % group_frames == 0;
  const std::int64_t from = first ? no_time : group.from.load(std::memory_order_relaxed);
  const std::int64_t to = first ? no_time : group.to.load(std::memory_order_relaxed);
  // no_time is the smallest value.
  group.from.store(from == no_time   ? time
                   : time == no_time ? from
                                     : std::min(from, time),
                   std::memory_order_relaxed);
  group.to.store(std::max(to, time), std::memory_order_relaxed);
  if (time != no_time && first_time() == no_time) first_time_.store(time, std::memory_order_release);
}

void FrameStore::add(const FrameBatch& batch, std::size_t from, const CaptureSource& source) {
  std::uint64_t i = size();
  const std::size_t count = batch.frames.size() - from;
  std::optional<Error> wrong;
  if (not_kept() != 0) {
    not_kept_.fetch_add(count, std::memory_order_relaxed);
    return;
  }
  std::size_t at = from;
  try {
    note_interfaces(source, false);
    const BatchComments comments(batch);
    std::size_t origin = 0;
    for (; at < batch.frames.size(); ++at, ++i) {
      const Frame& frame = batch.frames[at];
      if (i >= limits_.frames) {
        wrong = Error{ErrorKind::unsupported,
                      {},
                      {},
                      "a list holds at most " + std::to_string(limits_.frames) + " packets",
                      0};
        break;
      }
      const auto commented = comments.of(frame);
      std::uint64_t place = 0;
      if (const auto in_file = place_of(frame, batch, origin)) {
        place = *in_file;
      } else if (auto kept = keep(frame, commented)) {
        place = *kept;
      } else {
        wrong = std::move(kept.error());
        break;
      }
      if (!commented.empty()) {
        place |= commented_bit;
        any_comments_.store(true, std::memory_order_relaxed);
      }
      places_.make(i) = place | std::uint64_t{frame.interface} << interface_shift;
      note_time(i, frame.time_ns);
    }
  } catch (const std::bad_alloc&) {
    wrong = Error{ErrorKind::out_of_memory, {}, {}, "not enough memory for more packets", 0};
  }
  size_.store(i, std::memory_order_release);
  if (!wrong) return;
  not_kept_.fetch_add(batch.frames.size() - at, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  problem_ = std::move(wrong);
}

void FrameStore::end(const CaptureSource& source) {
  note_interfaces(source, true);
}

Expected<std::shared_ptr<const FrameStore::Descriptor>> FrameStore::descriptor_of(
    std::uint16_t number) const {
  constexpr std::size_t open_at_most = 64;
  const std::lock_guard lock(mutex_);
  File& file = files_[number];
  file.used = ++clock_;
  if (file.open) return file.open;
  auto opened = Descriptor::open(file.path);
  if (!opened) return tl::unexpected<Error>(std::move(opened.error()));
  const auto& made = *opened;
  if (file.inode != 0 && (made->device() != file.device || made->inode() != file.inode)) {
    return tl::unexpected<Error>(
        Error{ErrorKind::damaged, file.path, {}, "the file was replaced since it was read; reload it", 0});
  }
  file.device = made->device();
  file.inode = made->inode();
  if (std::count_if(files_.begin(), files_.end(), [](const File& f) { return f.open != nullptr; }) >=
      static_cast<std::ptrdiff_t>(open_at_most)) {
    File* oldest = nullptr;
    for (File& one : files_) {
      if (one.open && (oldest == nullptr || one.used < oldest->used)) oldest = &one;
    }
    if (oldest != nullptr) oldest->open = nullptr;
  }
  file.open = made;
  return made;
}

tl::unexpected<Error> FrameStore::Reader::fail(std::uint32_t file, ErrorKind kind, std::uint64_t offset,
                                               const std::string& what) const {
  Error error;
  error.kind = kind;
  error.offset = offset;
  error.message = what;
  if (file != spool_file) {
    const std::lock_guard lock(store_->mutex_);
    error.path = store_->files_[file].path;
  }
  return tl::unexpected<Error>(std::move(error));
}

FrameStore::Reader::Window& FrameStore::Reader::window_of(std::uint32_t file) {
  constexpr std::size_t windows_at_most = 8;
  Window* oldest = nullptr;
  for (Window& window : windows_) {
    if (window.file == file) {
      window.used = ++clock_;
      return window;
    }
    if (oldest == nullptr || window.used < oldest->used) oldest = &window;
  }
  if (windows_.size() < windows_at_most) oldest = &windows_.emplace_back();
  *oldest = {};
  oldest->file = file;
  oldest->used = ++clock_;
  return *oldest;
}

Expected<std::size_t> FrameStore::Reader::load(Window& window, std::uint8_t* to, std::size_t size) const {
  if (window.file == spool_file) return store_->spool_->read(window.begin, to, size);
  if (!window.descriptor) {
    auto opened = store_->descriptor_of(static_cast<std::uint16_t>(window.file));
    if (!opened) return tl::unexpected<Error>(std::move(opened.error()));
    window.descriptor = *opened;
  }
  auto got = window.descriptor->read(window.begin, to, size);
  if (!got) return fail(window.file, ErrorKind::not_readable, window.begin, got.error().message);
  return got;
}

/// Bytes of a file, from the window if it has them. Windows grow while reading is sequential.
Expected<const std::uint8_t*> FrameStore::Reader::fetch(Window& window, std::uint64_t begin,
                                                        std::size_t size) {
  constexpr std::size_t smallest = 4096;
  constexpr std::size_t largest = 256U << 10U;
  if (begin >= window.begin && begin + size <= window.begin + window.size) {
    return window.bytes.data() + (begin - window.begin);
  }
  const std::uint64_t end = window.begin + window.size;
  const bool forward = window.size != 0 && begin >= window.begin && begin <= end + smallest;
  window.next_size = forward ? std::min(largest, std::max(window.next_size, smallest) * 2) : smallest;
  const std::size_t wanted = std::max(size, window.next_size);
  if (window.bytes.size() < wanted) window.bytes.resize(wanted);
  window.begin = begin;
  window.size = 0;
  const auto got = load(window, window.bytes.data(), wanted);
  if (!got) return tl::unexpected<Error>(got.error());
  window.size = *got;
  if (*got < size) {
    return fail(window.file, ErrorKind::shrunk, begin,
                "the file has become shorter since it was read; reload it");
  }
  return window.bytes.data();
}

Expected<Frame> FrameStore::Reader::read(std::uint64_t number) {
  if (number == 0 || number > store_->size()) {
    return tl::unexpected<Error>(Error{ErrorKind::not_found, {}, {}, "no packet has that number", 0});
  }
  const std::uint64_t place = store_->places_[number - 1];
  const bool spooled = (place & spooled_bit) != 0;
  const bool commented = (place & commented_bit) != 0;
  const std::uint64_t offset = place & offset_mask;
  Frame frame;
  comments_.clear();
  frame.interface = static_cast<std::uint16_t>(place >> interface_shift);
  if (!interfaces_ || frame.interface >= interfaces_->size()) interfaces_ = store_->interfaces();
  interface_ = frame.interface < interfaces_->size() ? &(*interfaces_)[frame.interface] : nullptr;
  if (interface_ == nullptr) {
    return tl::unexpected<Error>(Error{ErrorKind::damaged, {}, {}, "its interface was never described", 0});
  }
  frame.link_type = interface_->link_type;
  frame.file = interface_->file;
  frame.point = interface_->point;
  const std::uint32_t file = spooled ? spool_file : frame.file;
  const std::size_t lead = spooled ? sizeof(SpoolHead) : head_bytes(interface_->form);
  Window& window = window_of(file);
  auto head = fetch(window, offset - lead, lead);
  if (!head) return tl::unexpected<Error>(std::move(head.error()));
  Around options;
  if (spooled) {
    SpoolHead known;
    std::memcpy(&known, *head, sizeof known);
    frame.time_ns = known.time_ns;
    frame.captured = known.captured;
    frame.wire = known.wire;
  } else {
    const RecordForm& form = interface_->form;
    frame.time_ns = time_of(*head, form);
    frame.captured = roce::capture::load<std::uint32_t>(*head + lead - 8, form.swapped);
    frame.wire = std::max(frame.captured, roce::capture::load<std::uint32_t>(*head + lead - 4, form.swapped));
    const Times times = store_->times_of_group((number - 1) / group_frames);
    if (frame.captured > largest_frame || frame.time_ns < times.from || frame.time_ns > times.to) {
      return fail(file, ErrorKind::damaged, offset, "the file has changed since it was read; reload it");
    }
    if (commented) {
      const std::size_t data = (std::size_t{frame.captured} + 3) / 4 * 4;
      const std::size_t block = roce::capture::load<std::uint32_t>(*head + 4, form.swapped) + std::size_t{3};
      constexpr std::size_t length = 4;  // the block length, repeated at its end
      if (block / 4 * 4 > lead + data + length && block <= largest_block)
        options = {0, 0, block / 4 * 4 - lead - data - length, data - frame.captured};
    }
  }
  if (spooled && commented) {
    const auto size = fetch(window, offset - lead - sizeof(SpooledComments), sizeof(SpooledComments));
    if (!size) return tl::unexpected<Error>(size.error());
    options = {roce::capture::load<SpooledComments>(*size, false), sizeof(SpooledComments), 0, 0};
  }
  // The frame and its comments in one fetch: the next one may move the bytes.
  const std::size_t front = options.before + options.before_gap + lead;
  head = fetch(window, offset - front, front + frame.captured + options.behind_gap + options.behind);
  if (!head) return tl::unexpected<Error>(std::move(head.error()));
  frame.data = *head + front;
  if (commented) {
    const bool swapped = !spooled && interface_->form.swapped;
    read_comments(options.before != 0 ? PcapngOptions(*head, options.before, swapped)
                                      : PcapngOptions(frame.data + frame.captured + options.behind_gap,
                                                      options.behind, swapped));
  }
  return frame;
}

void FrameStore::Reader::read_comments(PcapngOptions options) {
  PcapngOption option;
  while (options.next(option)) {
    if (option.code != option_comment) continue;
    if (const std::string_view text = option_view(option); !text.empty()) comments_.push_back(text);
  }
}

namespace {

class KeepingSource final : public ForwardingSource {
 public:
  KeepingSource(std::unique_ptr<CaptureSource> source, std::shared_ptr<FrameStore> store)
      : ForwardingSource(std::move(source)), store_(std::move(store)) {}

  Expected<std::size_t> next_batch(FrameBatch& batch, std::size_t limit) override {
    const std::size_t before = batch.frames.size();
    auto got = source_->next_batch(batch, limit);
    if (batch.frames.size() != before) store_->add(batch, before, *source_);
    if (got && *got == 0) store_->end(*source_);
    return got;
  }

 private:
  std::shared_ptr<FrameStore> store_;
};

}  // namespace

std::unique_ptr<CaptureSource> keep_frames(std::unique_ptr<CaptureSource> source,
                                           std::shared_ptr<FrameStore> store) {
  return std::make_unique<KeepingSource>(std::move(source), std::move(store));
}

}  // namespace roce::capture
