// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "capture/sniffer/ring_memory.hpp"
#include "capture/sniffer/verbs_library.hpp"

namespace roce::capture::verbs {
namespace {

Status status_of(ibv_wc_status status) noexcept {
  switch (status) {
    case IBV_WC_SUCCESS:
      return Status::received;
    case IBV_WC_LOC_LEN_ERR:
      return Status::too_long;
    case IBV_WC_WR_FLUSH_ERR:
      return Status::flushed;
    default:
      return Status::failed;
  }
}

constexpr std::size_t most_at_once = 256;  // receives posted by one call, completions of one poll

}  // namespace

/// Declared in the order of creation: destroyed in the reverse order.
struct Ring::Objects {
  const Library* verbs = nullptr;
  unsigned port = 0;
  Owned<ibv_pd> domain{nullptr, nullptr};
  RingMemory memory;
  Owned<ibv_mr> region{nullptr, nullptr};
  Owned<ibv_comp_channel> channel{nullptr, nullptr};
  Owned<ibv_cq> completions{nullptr, nullptr};
  ibv_cq_ex* stamped = nullptr;  ///< `completions` if it has timestamps, else null
  Owned<ibv_qp> queue{nullptr, nullptr};
  Owned<ibv_flow> flow{nullptr, nullptr};
  std::vector<ibv_recv_wr> requests;  ///< linked once, reused for every post
  std::vector<ibv_sge> places;
  std::vector<ibv_wc> plain;

  Result<void> make_completions(ibv_context* context, std::uint32_t entries);
  Result<void> make_queue(std::uint32_t receives);
  Result<void> modify(ibv_qp_state state);
  Result<void> make_memory(std::size_t bytes);
  Result<void> make_flow();
  Result<std::size_t> poll_stamped(Completion* to, std::size_t limit) const;
  Result<std::size_t> poll_plain(Completion* to, std::size_t limit);
};

Ring::Ring() = default;
Ring::~Ring() = default;

Result<void> Ring::Objects::make_completions(ibv_context* context, std::uint32_t entries) {
  ibv_cq_init_attr_ex wanted{};
  wanted.cqe = entries;
  wanted.channel = channel.get();
  wanted.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
  wanted.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
  wanted.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
  stamped = ibv_create_cq_ex(context, &wanted);
  if (stamped == nullptr) {  // a driver may support timestamps but not the flag
    wanted.comp_mask = wanted.flags = 0;
    stamped = ibv_create_cq_ex(context, &wanted);
  }
  ibv_cq* made = stamped != nullptr ? ibv_cq_ex_to_cq(stamped) : nullptr;
  if (made == nullptr) {
    errno = 0;
    made = verbs->create_cq(context, static_cast<int>(entries), nullptr, channel.get(), 0);
    plain.resize(most_at_once);
  }
  if (made == nullptr) return failed_by_errno(Step::create_completions);
  completions = {made, verbs->destroy_cq};
  return {};
}

Result<void> Ring::Objects::make_queue(std::uint32_t receives) {
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = completions.get();
  wanted.cap.max_recv_wr = receives;
  wanted.cap.max_recv_sge = 1;
  wanted.qp_type = IBV_QPT_RAW_PACKET;
  errno = 0;
  queue = {verbs->create_qp(domain.get(), &wanted), verbs->destroy_qp};
  if (!queue) return failed_by_errno(Step::create_queue_pair);
  return {};
}

Result<void> Ring::Objects::modify(ibv_qp_state state) {
  ibv_qp_attr wanted{};
  wanted.qp_state = state;
  wanted.port_num = static_cast<std::uint8_t>(port);
  const int given = state == IBV_QPS_INIT ? IBV_QP_STATE | IBV_QP_PORT : IBV_QP_STATE;
  const int error = verbs->modify_qp(queue.get(), &wanted, given);
  if (error == 0) return {};
  return failed(state == IBV_QPS_INIT  ? Step::to_init
                : state == IBV_QPS_RTR ? Step::to_ready
                                       : Step::reset,
                error < 0 ? errno : error);
}

/// Huge pages may exist and still not be usable: limit of a control group, other NUMA node.
Result<void> Ring::Objects::make_memory(std::size_t bytes) {
  for (const bool try_huge : {true, false}) {
    memory = RingMemory(bytes, try_huge);
    if (memory.data() == nullptr) return failed_by_errno(Step::allocate_memory);
    errno = 0;
    region = {verbs->reg_mr(domain.get(), memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE),
              verbs->dereg_mr};
    if (region || !memory.huge()) break;
  }
  if (!region) return failed_by_errno(Step::register_memory);
  return {};
}

Result<void> Ring::Objects::make_flow() {
  ibv_flow_attr wanted{};
  wanted.type = IBV_FLOW_ATTR_SNIFFER;
  wanted.size = sizeof wanted;
  wanted.port = static_cast<std::uint8_t>(port);
  errno = 0;
  flow = {ibv_create_flow(queue.get(), &wanted), [](ibv_flow* old) { return ibv_destroy_flow(old); }};
  if (!flow) return failed_by_errno(Step::create_flow);
  return {};
}

Result<std::unique_ptr<Ring>> Ring::create(Device& device, unsigned port, RingShape shape) {
  std::unique_ptr<Ring> ring(new Ring);
  ring->shape_ = shape;
  ring->objects_ = std::make_unique<Objects>();
  Objects& own = *ring->objects_;
  const Library& verbs = device.context_->library;
  ibv_context* const context = device.context_->context.get();
  own.verbs = &verbs;
  own.port = port;

  errno = 0;
  own.domain = {verbs.alloc_pd(context), verbs.dealloc_pd};
  if (!own.domain) return failed_by_errno(Step::allocate_domain);
  own.channel = {verbs.create_comp_channel(context), verbs.destroy_comp_channel};
  if (!own.channel) return failed_by_errno(Step::create_channel);
  make_non_blocking(own.channel->fd);
  if (auto made = own.make_completions(context, shape.buffers); !made) return tl::unexpected(made.error());
  // Before memory is allocated: fails if the device or our privileges do not allow a raw packet queue.
  if (auto made = own.make_queue(shape.buffers); !made) return tl::unexpected(made.error());

  if (auto made = own.make_memory(std::size_t{shape.buffers} * shape.buffer_bytes); !made) {
    return tl::unexpected(made.error());
  }
  ring->memory_ = own.memory.data();

  own.places.resize(most_at_once);
  own.requests.resize(most_at_once);
  for (std::size_t i = 0; i < most_at_once; ++i) {
    own.places[i].length = shape.buffer_bytes;
    own.places[i].lkey = own.region->lkey;
    own.requests[i].sg_list = &own.places[i];
    own.requests[i].num_sge = 1;
  }
  if (auto initial = own.modify(IBV_QPS_INIT); !initial) return tl::unexpected(initial.error());
  if (auto posted = ring->post_all(); !posted) return tl::unexpected(posted.error());
  if (auto ready = own.modify(IBV_QPS_RTR); !ready) return tl::unexpected(ready.error());
  if (auto made = own.make_flow(); !made) return tl::unexpected(made.error());
  return ring;
}

Result<void> Ring::post_all() {
  std::vector<std::uint32_t> all(shape_.buffers);
  for (std::uint32_t i = 0; i < shape_.buffers; ++i) all[i] = i;
  return post(all.data(), all.size());
}

Result<void> Ring::post(const std::uint32_t* buffers, std::size_t count) {
  Objects& own = *objects_;
  while (count > 0) {
    const std::size_t now = std::min(count, most_at_once);
    for (std::size_t i = 0; i < now; ++i) {
      own.requests[i].wr_id = buffers[i];
      own.requests[i].next = &own.requests[i] + 1;
      own.places[i].addr = reinterpret_cast<std::uintptr_t>(bytes_of(buffers[i]));
    }
    own.requests[now - 1].next = nullptr;
    ibv_recv_wr* refused = nullptr;
    if (const int error = ibv_post_recv(own.queue.get(), own.requests.data(), &refused); error != 0) {
      return failed(Step::post_receives, error < 0 ? errno : error);
    }
    buffers += now;
    count -= now;
  }
  return {};
}

Result<std::size_t> Ring::Objects::poll_stamped(Completion* to, std::size_t limit) const {
  ibv_poll_cq_attr none{};
  if (const int error = ibv_start_poll(stamped, &none); error != 0) {
    if (error == ENOENT) return std::size_t{0};
    return failed(Step::poll, error);
  }
  std::size_t count = 0;
  int error = 0;
  while (true) {
    Completion& one = to[count++];
    one.buffer = static_cast<std::uint32_t>(std::min<std::uint64_t>(stamped->wr_id, UINT32_MAX));
    one.status = status_of(stamped->status);
    // Other fields of a failed receive are undefined.
    one.bytes = one.status == Status::received ? ibv_wc_read_byte_len(stamped) : 0;
    one.time_ns = one.status == Status::received ? ibv_wc_read_completion_wallclock_ns(stamped) : 0;
    if (count == limit) break;
    error = ibv_next_poll(stamped);
    if (error != 0) break;
  }
  ibv_end_poll(stamped);
  if (error != 0 && error != ENOENT) return failed(Step::poll, error);
  return count;
}

Result<std::size_t> Ring::Objects::poll_plain(Completion* to, std::size_t limit) {
  const int got =
      ibv_poll_cq(completions.get(), static_cast<int>(std::min(limit, plain.size())), plain.data());
  if (got < 0) return failed(Step::poll, errno != 0 ? errno : EIO);
  for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) {
    const ibv_wc& from = plain[i];
    to[i] = {0, static_cast<std::uint32_t>(std::min<std::uint64_t>(from.wr_id, UINT32_MAX)), 0,
             status_of(from.status)};
    if (to[i].status == Status::received) to[i].bytes = from.byte_len;
  }
  return static_cast<std::size_t>(got);
}

Result<std::size_t> Ring::poll(Completion* to, std::size_t limit) {
  if (lied_) return failed(Step::poll, EBADMSG);
  auto got =
      objects_->stamped != nullptr ? objects_->poll_stamped(to, limit) : objects_->poll_plain(to, limit);
  if (!got) return got;
  for (std::size_t i = 0; i < *got; ++i) {
    if (to[i].buffer < shape_.buffers && to[i].bytes <= shape_.buffer_bytes) continue;
    lied_ = true;
    if (i == 0) return failed(Step::poll, EBADMSG);
    return i;
  }
  return got;
}

bool Ring::hardware_stamps() const noexcept {
  return objects_->stamped != nullptr;
}
bool Ring::huge_pages() const noexcept {
  return objects_->memory.huge();
}
int Ring::descriptor() const noexcept {
  return objects_->channel->fd;
}

Result<void> Ring::arm() {
  if (const int error = ibv_req_notify_cq(objects_->completions.get(), 0); error != 0) {
    return failed(Step::arm, error < 0 ? errno : error);
  }
  return {};
}

void Ring::take_wakeups() noexcept {
  // Destroying the queue blocks until all consumed events are acknowledged.
  unsigned taken = 0;
  ibv_cq* which = nullptr;
  void* context = nullptr;
  while (objects_->verbs->get_cq_event(objects_->channel.get(), &which, &context) == 0) ++taken;
  if (taken != 0) objects_->verbs->ack_cq_events(objects_->completions.get(), taken);
}

void Ring::stop() noexcept {
  objects_->flow.reset();
}

Result<void> Ring::restart() {
  // The flow is kept: creating one needs privileges that may have been dropped by now.
  Objects& own = *objects_;
  if (auto reset = own.modify(IBV_QPS_RESET); !reset) return reset;
  if (auto initial = own.modify(IBV_QPS_INIT); !initial) return initial;
  if (auto posted = post_all(); !posted) return posted;
  return own.modify(IBV_QPS_RTR);
}

}  // namespace roce::capture::verbs
