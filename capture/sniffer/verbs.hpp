// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

// Internal: interface to libibverbs, which is loaded when an RDMA device is opened, so that the program also
// runs on hosts without it. Only verbs_library.hpp includes its header.
namespace roce::capture::verbs {

/// The call of libibverbs that failed, in the order of the calls.
enum class Step : std::uint8_t {
  load_library,        ///< dlopen(); `detail` is dlerror()
  find_symbol,         ///< dlsym(): the library is too old or another one; `detail` is the symbol
  list_devices,        ///< ibv_get_device_list()
  find_device,         ///< no device of that name; `detail` lists the existing ones, separated by ", "
  open_device,         ///< ibv_open_device(): the character device /dev/infiniband/uverbsN
  query_device,        ///< ibv_query_device_ex()
  query_port,          ///< ibv_query_port()
  allocate_domain,     ///< ibv_alloc_pd()
  create_channel,      ///< ibv_create_comp_channel()
  create_completions,  ///< ibv_create_cq_ex() and ibv_create_cq()
  create_queue_pair,   ///< ibv_create_qp(), IBV_QPT_RAW_PACKET
  to_init,             ///< ibv_modify_qp()
  allocate_memory,     ///< mmap()
  register_memory,     ///< ibv_reg_mr()
  to_ready,            ///< ibv_modify_qp(), RTR
  post_receives,       ///< ibv_post_recv()
  create_flow,         ///< ibv_create_flow(), IBV_FLOW_ATTR_SNIFFER
  arm,                 ///< ibv_req_notify_cq()
  poll,                ///< ibv_poll_cq(), ibv_start_poll()
  reset,               ///< ibv_modify_qp(), RESET
};

/// Name of the call, for messages.
[[nodiscard]] const char* name_of(Step step) noexcept;

struct Failure {
  Step step{};
  int error = 0;       ///< an errno; 0 if the library set none
  std::string detail;  ///< see Step
};
template <class T>
using Result = tl::expected<T, Failure>;

enum class LinkLayer : std::uint8_t { unspecified, infiniband, ethernet };
using Gid = std::array<std::uint8_t, 16>;

struct DeviceFacts {
  std::string firmware;
  std::string device_node;  ///< "uverbs0"
  bool iwarp = false;       ///< its transport is TCP
  unsigned ports = 0;
  std::uint32_t max_receives = 0;     ///< limit of work requests of one queue
  std::uint32_t max_completions = 0;  ///< limit of entries of one completion queue
};

struct PortFacts {
  bool active = false;
  const char* state = "";  ///< in libibverbs' words: "active", "down" …; a literal
  LinkLayer link_layer{};
  std::uint64_t speed_bps = 0;  ///< link speed, bits per second; 0 = unknown
  std::uint32_t mtu_bytes = 0;  ///< active IB MTU: bytes of payload
  std::uint16_t lid = 0;        ///< InfiniBand link layer
  std::uint8_t lid_mask_bits = 0;
  std::vector<Gid> gids;  ///< those that are not empty
};

/// Asynchronous events that concern a sniffer; all others are `other`.
enum class EventKind : std::uint8_t {
  port_changed,        ///< up, down, LID, GIDs, client reregistration
  completions_broken,  ///< IBV_EVENT_CQ_ERR: our completion queue overran
  queue_broken,        ///< IBV_EVENT_QP_FATAL …: our queue pair is in error
  device_gone,         ///< IBV_EVENT_DEVICE_FATAL
  other,
};
struct Event {
  EventKind kind{};
  const char* name = "";  ///< in libibverbs' words; a literal of the library, which is never unloaded
  std::optional<unsigned> port;
};

enum class Status : std::uint8_t {
  received,
  too_long,  ///< IBV_WC_LOC_LEN_ERR: the frame is longer than its buffer
  flushed,   ///< IBV_WC_WR_FLUSH_ERR: the queue pair is in error, nothing was received
  failed,    ///< any other
};

/// One completed receive. Its buffer belongs to the caller until it is posted again.
struct Completion {
  std::uint64_t time_ns = 0;  ///< device's wall clock, since the epoch; 0 if the ring has no timestamps
  std::uint32_t buffer = 0;
  std::uint32_t bytes = 0;  ///< received
  Status status{};
};

class Device;

struct RingShape {
  std::uint32_t buffers = 0;
  std::uint32_t buffer_bytes = 0;
};

/// Protection domain, completion queue and channel, raw packet queue pair, registered buffers and sniffer
/// flow of one port. Destroyed in the order flow, queue pair, completion queue, channel, memory region,
/// protection domain; the Device must outlive it. One thread at a time.
class Ring {
 public:
  /// All buffers are posted before the flow is created, so that the first frames find some.
  [[nodiscard]] static Result<std::unique_ptr<Ring>> create(Device& device, unsigned port, RingShape shape);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  [[nodiscard]] RingShape shape() const noexcept { return shape_; }
  [[nodiscard]] bool hardware_stamps() const noexcept;
  [[nodiscard]] bool huge_pages() const noexcept;
  [[nodiscard]] const std::uint8_t* bytes_of(std::uint32_t buffer) const noexcept {
    return memory_ + std::size_t{buffer} * shape_.buffer_bytes;
  }

  /// Returns up to `limit` completed receives; 0: none now. Fails with EBADMSG if the device names a buffer
  /// that is not in the ring.
  [[nodiscard]] Result<std::size_t> poll(Completion* to, std::size_t limit);
  /// Posts buffers again, a whole batch at once.
  [[nodiscard]] Result<void> post(const std::uint32_t* buffers, std::size_t count);

  /// The next completion makes descriptor() readable. Earlier ones may not: poll once more after it.
  [[nodiscard]] Result<void> arm();
  [[nodiscard]] int descriptor() const noexcept;
  /// Consumes and acknowledges the events of descriptor(); arm() is needed again.
  void take_wakeups() noexcept;

  /// Destroys the flow: no more frames arrive. Those that had arrived can still be polled.
  void stop() noexcept;

  /// After `flushed` completions, when all have been polled: resets the queue pair and posts all buffers.
  /// Frames that arrive in the meantime are lost.
  [[nodiscard]] Result<void> restart();

 private:
  struct Objects;
  Ring();
  Result<void> post_all();
  RingShape shape_;
  std::uint8_t* memory_ = nullptr;
  bool lied_ = false;  ///< the device named a buffer that does not exist
  std::unique_ptr<Objects> objects_;
};

/// Whether libibverbs can be loaded and has a device of that name.
[[nodiscard]] bool lists_device(const std::string& name, const char* library);

/// An open RDMA device. One thread at a time.
class Device {
 public:
  /// `library` is the name for dlopen(); the library is never unloaded.
  [[nodiscard]] static Result<std::unique_ptr<Device>> open(const std::string& name, const char* library);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] const DeviceFacts& facts() const noexcept { return facts_; }
  [[nodiscard]] Result<PortFacts> query_port(unsigned port) const;

  /// Readable when next_event() has one.
  [[nodiscard]] int event_descriptor() const noexcept;
  /// None: no event is pending. An error: the device was removed.
  [[nodiscard]] Result<std::optional<Event>> next_event();

 private:
  friend class Ring;
  struct Context;
  Device();
  DeviceFacts facts_;
  std::unique_ptr<Context> context_;
};

}  // namespace roce::capture::verbs
