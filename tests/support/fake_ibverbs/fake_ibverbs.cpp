// SPDX-License-Identifier: Apache-2.0
// A stand-in for libibverbs.so.1: the same entry points and the same layout of what they hand out, so that
// the functions in the header work on it. It plays the script that the environment variable FAKE_IBVERBS
// names (script.hpp) and watches its caller: the order of destruction, keys, bounds, double posts, leaks.
// Rules that were broken are told on standard error, and the process ends with status 97.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "tests/support/fake_ibverbs/device.hpp"

namespace fake {

FakeIbverbsReport counts{};

namespace {

Script current;
ibv_device the_device;
std::vector<Context*> contexts;
std::uint32_t next_key = 100;

template <class T>
void add(std::vector<T*>& to, T* one) {
  to.push_back(one);
  ++counts.alive;
}

template <class T>
void remove(std::vector<T*>& from, T* one, const char* what) {
  const auto found = std::find(from.begin(), from.end(), one);
  if (found == from.end()) {
    violation("%s: of no such object", what);
    return;
  }
  from.erase(found);
  --counts.alive;
  delete one;
}

template <class T, class Test>
void none_left(const std::vector<T*>& of, const char* what, Test belongs) {
  if (std::any_of(of.begin(), of.end(), belongs)) violation("%s", what);
}

void open_pipe(int& read_end, int& write_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
  read_end = ends[0];
  write_end = ends[1];
}

ibv_cq_ex* create_cq_ex(ibv_context* raw, ibv_cq_init_attr_ex* wanted);

int query_port(ibv_context* raw, std::uint8_t port, ibv_port_attr* to, std::size_t size) {
  Context& context = context_of(raw);
  if (refused(context, "query")) return errno;
  const Script& script = context.script;
  if (port == 0 || port > script.ports) return EINVAL;
  ibv_port_attr facts{};
  facts.state = static_cast<ibv_port_state>(script.port_state);
  facts.max_mtu = IBV_MTU_4096;
  facts.active_mtu = static_cast<ibv_mtu>(script.mtu);
  facts.gid_tbl_len = 16;
  facts.lid = static_cast<std::uint16_t>(script.lid);
  facts.lmc = static_cast<std::uint8_t>(script.lmc);
  facts.active_width = static_cast<std::uint8_t>(script.width);
  facts.active_speed = static_cast<std::uint8_t>(script.speed);
  facts.link_layer = script.infiniband ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
  std::memcpy(to, &facts, std::min(size, sizeof facts));
  return 0;
}

ibv_flow* create_flow(ibv_qp* qp, ibv_flow_attr* wanted) {
  Context& context = context_of(qp->context);
  if (refused(context, "flow")) return nullptr;
  if (wanted->type != IBV_FLOW_ATTR_SNIFFER || wanted->size != sizeof *wanted || wanted->num_of_specs != 0 ||
      wanted->comp_mask != 0 || wanted->port == 0 || wanted->port > context.script.ports) {
    violation("ibv_create_flow of something else than a port's sniffer");
    errno = EINVAL;
    return nullptr;
  }
  auto* const queue = reinterpret_cast<Queue*>(qp);
  if (queue->raw.state != IBV_QPS_RTR) violation("ibv_create_flow before the queue pair is ready");
  if (queue->count == 0) violation("ibv_create_flow before any receive is posted: frames are lost");
  auto* const flow = new Flow{};
  flow->raw.context = qp->context;
  flow->queue = queue;
  add(context.flows, flow);
  return &flow->raw;
}

int destroy_flow(ibv_flow* raw) {
  remove(context_of(raw->context).flows, reinterpret_cast<Flow*>(raw), "ibv_destroy_flow");
  return 0;
}

Completions* make_completions(Context& context, std::uint32_t entries, ibv_comp_channel* channel) {
  if (entries == 0 || entries > static_cast<std::uint32_t>(context.script.max_cqe)) {
    errno = EINVAL;
    return nullptr;
  }
  auto* const queue = new Completions{};
  queue->context = &context;
  queue->channel = reinterpret_cast<Channel*>(channel);
  queue->raw.context = &context.raw.context;
  queue->raw.channel = channel;
  queue->raw.cqe = static_cast<int>(entries);
  queue->done.reserve(entries);
  add(context.completions, queue);
  return queue;
}

ibv_cq_ex* create_cq_ex(ibv_context* raw, ibv_cq_init_attr_ex* wanted) {
  Context& context = context_of(raw);
  if (refused(context, "cq")) return nullptr;
  if (!context.script.stamps && (wanted->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK) != 0) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  Completions* const queue = make_completions(context, wanted->cqe, wanted->channel);
  if (queue == nullptr) return nullptr;
  fill_stamped(queue->raw);
  return &queue->raw;
}

// At the end of the process, when all that is static in the caller has been destroyed.
struct AtTheEnd {
  ~AtTheEnd() {
    if (counts.alive != 0)
      violation("%llu objects were never destroyed", static_cast<unsigned long long>(counts.alive));
    if (counts.violations != 0) _exit(97);
  }
} at_the_end;

}  // namespace
}  // namespace fake

using namespace fake;

extern "C" {

void fake_ibverbs_report(FakeIbverbsReport* report) {
  *report = counts;
}

ibv_device** ibv_get_device_list(int* number) {
  current = read_script(std::getenv("FAKE_IBVERBS"));
  const auto alive = counts.alive, violations = counts.violations;
  counts = {};
  counts.alive = alive;
  counts.violations = violations;
  const auto refusal = current.refusals.find("list");
  if (refusal != current.refusals.end()) {
    errno = refusal->second.error;
    return nullptr;
  }
  the_device = {};
  the_device.node_type = current.iwarp ? IBV_NODE_RNIC : IBV_NODE_CA;
  the_device.transport_type = current.iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
  std::snprintf(the_device.name, sizeof the_device.name, "%s", current.device.c_str());
  std::snprintf(the_device.dev_name, sizeof the_device.dev_name, "uverbs0");
  auto** const list = new ibv_device* [2] { current.devices ? &the_device : nullptr, nullptr };
  if (number != nullptr) *number = current.devices ? 1 : 0;
  return list;
}

void ibv_free_device_list(ibv_device** list) {
  delete[] list;
}

ibv_context* ibv_open_device(ibv_device* device) {
  auto context = std::make_unique<Context>();
  context->script = current;
  if (refused(*context, "open")) return nullptr;
  std::memset(&context->raw, 0, sizeof context->raw);
  context->raw.sz = sizeof context->raw;
  context->raw.create_cq_ex = create_cq_ex;
  context->raw.ibv_create_flow = create_flow;
  context->raw.ibv_destroy_flow = destroy_flow;
  context->raw.query_port = query_port;
  ibv_context& raw = context->raw.context;
  raw.device = device;
  raw.abi_compat = __VERBS_ABI_IS_EXTENDED;
  raw.ops.poll_cq = poll_cq;
  raw.ops.req_notify_cq = request_notification;
  raw.ops.post_recv = post_receive;
  open_pipe(raw.async_fd, context->async_write_end);
  raw.num_comp_vectors = 1;
  add(contexts, context.get());
  return &context.release()->raw.context;
}

int ibv_close_device(ibv_context* raw) {
  Context& context = context_of(raw);
  if (!context.domains.empty() || !context.channels.empty() || !context.completions.empty() ||
      !context.queues.empty() || !context.regions.empty() || !context.flows.empty()) {
    violation("ibv_close_device while objects of it live");
  }
  close(raw->async_fd);
  if (context.async_write_end >= 0) close(context.async_write_end);
  remove(contexts, &context, "ibv_close_device");
  return 0;
}

int ibv_query_device(ibv_context* raw, ibv_device_attr* to) {
  Context& context = context_of(raw);
  if (refused(context, "query_device")) return errno;
  *to = {};
  std::snprintf(to->fw_ver, sizeof to->fw_ver, "%s", context.script.firmware.c_str());
  to->max_qp_wr = context.script.max_qp_wr;
  to->max_cqe = context.script.max_cqe;
  to->phys_port_cnt = static_cast<std::uint8_t>(context.script.ports);
  return 0;
}

int ibv_query_port(ibv_context* raw, std::uint8_t port, _compat_ibv_port_attr* to) {
  return query_port(raw, port, reinterpret_cast<ibv_port_attr*>(to),
                    offsetof(ibv_port_attr, port_cap_flags2));
}

int ibv_query_gid(ibv_context* raw, std::uint8_t port, int index, ibv_gid* to) {
  const Script& script = context_of(raw).script;
  if (port == 0 || port > script.ports || index < 0 || index >= 16) return -1;
  *to = {};
  if (static_cast<std::size_t>(index) < script.gids.size()) {
    std::memcpy(to->raw, script.gids[static_cast<std::size_t>(index)].data(), sizeof to->raw);
  }
  return 0;
}

ibv_pd* ibv_alloc_pd(ibv_context* raw) {
  Context& context = context_of(raw);
  if (refused(context, "pd")) return nullptr;
  auto* const domain = new Domain{};
  domain->raw.context = raw;
  add(context.domains, domain);
  return &domain->raw;
}

int ibv_dealloc_pd(ibv_pd* pd) {
  Context& context = context_of(pd->context);
  none_left(context.queues, "ibv_dealloc_pd while a queue pair of it lives",
            [pd](const Queue* queue) { return queue->raw.pd == pd; });
  none_left(context.regions, "ibv_dealloc_pd while a memory region of it lives",
            [pd](const Region* region) { return region->raw.pd == pd; });
  remove(context.domains, reinterpret_cast<Domain*>(pd), "ibv_dealloc_pd");
  return 0;
}

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t length, int access) {
  Context& context = context_of(pd->context);
  if (refused(context, "mr")) return nullptr;
  if ((access & IBV_ACCESS_LOCAL_WRITE) == 0)
    violation("ibv_reg_mr of receives without IBV_ACCESS_LOCAL_WRITE");
  auto* const region = new Region{};
  region->raw = {pd->context, pd, address, length, next_key, next_key, next_key};
  ++next_key;
  add(context.regions, region);
  return &region->raw;
}

int ibv_dereg_mr(ibv_mr* mr) {
  Context& context = context_of(mr->context);
  none_left(context.queues, "ibv_dereg_mr while a queue pair may write there",
            [mr](const Queue* queue) { return queue->raw.pd == mr->pd; });
  remove(context.regions, reinterpret_cast<Region*>(mr), "ibv_dereg_mr");
  return 0;
}

ibv_comp_channel* ibv_create_comp_channel(ibv_context* raw) {
  Context& context = context_of(raw);
  if (refused(context, "channel")) return nullptr;
  auto* const channel = new Channel{};
  channel->raw.context = raw;
  open_pipe(channel->raw.fd, channel->write_end);
  add(context.channels, channel);
  return &channel->raw;
}

int ibv_destroy_comp_channel(ibv_comp_channel* raw) {
  Context& context = context_of(raw->context);
  auto* const channel = reinterpret_cast<Channel*>(raw);
  none_left(context.completions, "ibv_destroy_comp_channel while a completion queue of it lives",
            [channel](const Completions* queue) { return queue->channel == channel; });
  close(raw->fd);
  close(channel->write_end);
  remove(context.channels, channel, "ibv_destroy_comp_channel");
  return 0;
}

ibv_cq* ibv_create_cq(ibv_context* raw, int entries, void*, ibv_comp_channel* channel, int) {
  Context& context = context_of(raw);
  if (refused(context, "cq")) return nullptr;
  Completions* const queue = make_completions(context, static_cast<std::uint32_t>(entries), channel);
  return queue == nullptr ? nullptr : reinterpret_cast<ibv_cq*>(&queue->raw);
}

int ibv_destroy_cq(ibv_cq* cq) {
  auto* const queue = reinterpret_cast<Completions*>(cq);
  none_left(queue->context->queues, "ibv_destroy_cq while a queue pair of it lives",
            [queue](const Queue* of) { return of->completions == queue; });
  if (queue->polling) violation("ibv_destroy_cq without ibv_end_poll");
  if (queue->events_taken != queue->events_acknowledged) {
    violation("ibv_destroy_cq would wait for ever: %u of %u events acknowledged", queue->events_acknowledged,
              queue->events_taken);
  }
  remove(queue->context->completions, queue, "ibv_destroy_cq");
  return 0;
}

int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  void* which = nullptr;
  if (read(channel->fd, &which, sizeof which) != sizeof which) return -1;
  *cq = static_cast<ibv_cq*>(which);
  *cq_context = (*cq)->cq_context;
  ++reinterpret_cast<Completions*>(*cq)->events_taken;
  return 0;
}

void ibv_ack_cq_events(ibv_cq* cq, unsigned number) {
  reinterpret_cast<Completions*>(cq)->events_acknowledged += number;
}

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* wanted) {
  Context& context = context_of(pd->context);
  if (refused(context, "qp")) return nullptr;
  if (wanted->qp_type != IBV_QPT_RAW_PACKET || wanted->cap.max_recv_sge != 1 || wanted->recv_cq == nullptr ||
      wanted->send_cq == nullptr || wanted->cap.max_recv_wr == 0) {
    violation("ibv_create_qp of another kind than a sniffer needs");
  }
  if (wanted->cap.max_recv_wr >
      static_cast<std::uint32_t>(std::min(context.script.max_qp_wr, context.script.raw_limit))) {
    errno = EINVAL;
    return nullptr;
  }
  auto* const queue = new Queue{};
  queue->raw.context = pd->context;
  queue->raw.pd = pd;
  queue->raw.recv_cq = wanted->recv_cq;
  queue->raw.qp_type = wanted->qp_type;
  queue->raw.state = IBV_QPS_RESET;
  queue->completions = reinterpret_cast<Completions*>(wanted->recv_cq);
  queue->limit = counts.receives = wanted->cap.max_recv_wr;
  queue->receives.resize(queue->limit);
  queue->posted.resize(queue->limit);
  add(context.queues, queue);
  return &queue->raw;
}

int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* wanted, int mask) {
  Context& context = context_of(qp->context);
  auto& queue = *reinterpret_cast<Queue*>(qp);
  if ((mask & IBV_QP_STATE) == 0) return EINVAL;
  struct Way {
    ibv_qp_state to;
    const char* name;
    int mask;
  };
  constexpr Way ways[] = {{IBV_QPS_RESET, "reset", IBV_QP_STATE},
                          {IBV_QPS_INIT, "init", IBV_QP_STATE | IBV_QP_PORT},
                          {IBV_QPS_RTR, "rtr", IBV_QP_STATE}};
  for (const Way& way : ways) {
    if (way.to != wanted->qp_state) continue;
    if (refused(context, way.name)) return errno;
    const bool order = way.to == IBV_QPS_RESET || (way.to == IBV_QPS_INIT && qp->state == IBV_QPS_RESET) ||
                       (way.to == IBV_QPS_RTR && qp->state == IBV_QPS_INIT);
    if (!order || mask != way.mask) {
      violation("ibv_modify_qp to %s from state %d with mask %x", way.name, static_cast<int>(qp->state),
                mask);
      return EINVAL;
    }
    if (way.to == IBV_QPS_RESET) {
      if (qp->state == IBV_QPS_ERR) ++counts.restarts;
      queue.first = queue.count = 0;
      std::fill(queue.posted.begin(), queue.posted.end(), false);
    }
    qp->state = way.to;
    return 0;
  }
  return EINVAL;
}

int ibv_destroy_qp(ibv_qp* qp) {
  Context& context = context_of(qp->context);
  auto* const queue = reinterpret_cast<Queue*>(qp);
  none_left(context.flows, "ibv_destroy_qp while a flow leads to it",
            [queue](const Flow* flow) { return flow->queue == queue; });
  remove(context.queues, queue, "ibv_destroy_qp");
  return 0;
}

int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  const ssize_t got = read(context->async_fd, event, sizeof *event);
  if (got == sizeof *event) return 0;
  if (got == 0) errno = EIO;  // the device is gone
  return -1;
}

void ibv_ack_async_event(ibv_async_event*) {}

const char* ibv_port_state_str(ibv_port_state state) {
  return state == IBV_PORT_ACTIVE ? "active" : state == IBV_PORT_DOWN ? "down" : "initializing";
}

const char* ibv_event_type_str(ibv_event_type event) {
  return event == IBV_EVENT_DEVICE_FATAL ? "local catastrophic error" : "an event";
}

}  // extern "C"
