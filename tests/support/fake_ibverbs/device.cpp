// SPDX-License-Identifier: Apache-2.0
// What the stand-in's device does: frames, completions, wake-ups, errors.
#include "tests/support/fake_ibverbs/device.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

namespace fake {
namespace {

constexpr std::uint64_t first_stamp = 1'700'000'000'000'000'000;  // of frames that the script makes up
constexpr std::uint64_t stamp_step = 1000;

Queue* listening(Context& context) {
  return context.flows.empty() ? nullptr : context.flows.front()->queue;
}

void wake(Completions& queue) {
  if (!queue.armed || queue.channel == nullptr) return;
  queue.armed = false;
  const void* which = &queue.raw;
  if (write(queue.channel->write_end, &which, sizeof which) == sizeof which) ++counts.wakeups;
}

bool complete(Context& context, Queue& queue, const Done& done) {
  Completions& to = *queue.completions;
  if (to.in_error) return false;
  if (to.done.size() - to.read_at >= static_cast<std::size_t>(to.raw.cqe)) {
    ++counts.overrun;
    to.in_error = true;
    push_event(context, IBV_EVENT_CQ_ERR, 0);
    return false;
  }
  to.done.push_back(done);
  return true;
}

// There is one.
Receive take_receive(Queue& queue) {
  const Receive receive = queue.receives[queue.first];
  queue.first = queue.first + 1 == queue.receives.size() ? 0 : queue.first + 1;
  --queue.count;
  queue.posted[receive.id] = false;
  return receive;
}

void fail(Context& context, Queue& queue, ibv_wc_status status, bool for_good) {
  if (queue.count == 0) return;
  Done done{};
  done.id = take_receive(queue).id;
  done.status = status;
  complete(context, queue, done);
  if (!for_good) return;
  queue.raw.state = IBV_QPS_ERR;
  flush(context, queue);
}

void arrive(Context& context, const std::uint8_t* bytes, std::size_t size, std::uint64_t stamp) {
  Queue* const queue = listening(context);
  if (queue == nullptr || queue->raw.state != IBV_QPS_RTR || queue->count == 0) {
    ++counts.no_buffer;
    context.counter_moved = true;
    return;
  }
  if (size > queue->receives[queue->first].bytes) {
    ++counts.too_long;
    fail(context, *queue, IBV_WC_LOC_LEN_ERR, true);
    return;
  }
  const Receive receive = take_receive(*queue);
  std::memcpy(receive.to, bytes, size);
  if (complete(context, *queue, {receive.id, stamp, static_cast<std::uint32_t>(size), IBV_WC_SUCCESS})) {
    ++counts.delivered;
  }
}

void make_up(Context& context, std::size_t size) {
  std::vector<std::uint8_t>& frame = context.pattern;
  if (frame.size() < size) frame.resize(size, 0xa5);
  const std::uint64_t number = context.synthetic++;
  // Ethernet from 02:00:00:00:00:02 to :01, so that a port with one of them tells its directions; every third
  // frame is the other way. Then its number.
  constexpr std::uint8_t header[14] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5};
  if (size >= sizeof header) {
    std::memcpy(frame.data(), header, sizeof header);
    if (number % 3 == 2) std::swap(frame[5], frame[11]);
  }
  if (size >= sizeof header + sizeof number)
    std::memcpy(frame.data() + sizeof header, &number, sizeof number);
  arrive(context, frame.data(), size, first_stamp + number * stamp_step);
}

// One part of a step of frames; true when the step is over.
bool play_frames(Context& context, const Step& step) {
  Queue* const queue = listening(context);
  if (queue == nullptr) return false;  // they come when somebody listens
  if (step.kind == Step::Kind::file && context.file.empty()) context.file = read_pcap(step.path);
  const std::uint64_t all = step.kind == Step::Kind::file ? context.file.size() : step.count;
  std::uint64_t now = std::min(all - context.done_of_step, step.burst != 0 ? step.burst : 512);
  // Without a burst: the link waits for receives, as if it were slow.
  if (step.burst == 0 && queue->completions->in_error) return false;
  if (step.burst == 0) now = std::min<std::uint64_t>(now, queue->raw.state == IBV_QPS_RTR ? queue->count : 0);
  for (; now > 0; --now) {
    if (step.kind == Step::Kind::file) {
      const Frame& frame = context.file[context.done_of_step];
      arrive(context, frame.bytes.data(), frame.bytes.size(), frame.time_ns);
    } else {
      make_up(context, step.bytes);
    }
    ++context.done_of_step;
  }
  return context.done_of_step == all;
}

void write_number(const std::string& path, const std::string& text) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) return;
  if (write(descriptor, text.data(), text.size()) < 0) violation("cannot write %s", path.c_str());
  close(descriptor);
}

void lose_completions(Context& context, std::uint64_t number) {
  Queue* const queue = listening(context);
  if (queue == nullptr) return;
  for (; number > 0 && queue->count != 0; --number) {
    take_receive(*queue);
    ++counts.overrun;
  }
  queue->completions->in_error = true;
  push_event(context, IBV_EVENT_CQ_ERR, 0);
}

// True when the next step may follow at once.
bool play(Context& context, const Step& step, bool asked) {
  using Kind = Step::Kind;
  Queue* const queue = listening(context);
  switch (step.kind) {
    case Kind::frames:
    case Kind::file:
      if (!play_frames(context, step)) return false;
      context.file.clear();
      return true;
    case Kind::wait_armed:
    case Kind::race:
      return asked;
    case Kind::long_frame:
      if (queue == nullptr || queue->raw.state != IBV_QPS_RTR) return false;
      make_up(context, step.bytes);
      return true;
    case Kind::error:
    case Kind::broken:
      if (queue == nullptr || queue->raw.state != IBV_QPS_RTR || queue->count == 0) return false;
      ++counts.failed;
      fail(context, *queue, static_cast<ibv_wc_status>(step.count), step.kind == Kind::broken);
      return true;
    case Kind::lie:
      if (queue == nullptr) return false;
      complete(context, *queue, {step.count, 1, static_cast<std::uint32_t>(step.bytes), IBV_WC_SUCCESS});
      return true;
    case Kind::event:
      push_event(context, static_cast<ibv_event_type>(step.count), static_cast<int>(step.bytes));
      return true;
    case Kind::port_state:
      context.script.port_state = static_cast<unsigned>(step.count);
      return true;
    case Kind::write_file:
      write_number(step.path, step.text);
      return true;
    case Kind::overrun:
      lose_completions(context, step.count);
      return true;
    case Kind::remove:
      push_event(context, IBV_EVENT_DEVICE_FATAL, 0);
      [[fallthrough]];
    case Kind::vanish:
      context.gone = true;
      close(context.async_write_end);  // nothing more is to be read: a hang-up
      context.async_write_end = -1;
      return true;
  }
  return true;
}

}  // namespace

void violation(const char* format, ...) {
  ++counts.violations;
  std::va_list arguments;
  va_start(arguments, format);
  std::fputs("fake libibverbs: ", stderr);
  std::vfprintf(stderr, format, arguments);
  std::fputc('\n', stderr);
  va_end(arguments);
}

bool refused(Context& context, const char* what) {
  errno = EIO;
  if (context.gone) return true;
  const auto found = context.script.refusals.find(what);
  if (found == context.script.refusals.end()) return false;
  if (found->second.after > 0) {
    --found->second.after;
    return false;
  }
  errno = found->second.error;
  return true;
}

void advance(Context& context, bool asked) {
  while (!context.gone && context.step < context.script.steps.size()) {
    const Step& step = context.script.steps[context.step];
    const bool waited = step.kind == Step::Kind::wait_armed;
    if (!play(context, step, asked)) break;
    ++context.step;
    context.done_of_step = 0;
    if (asked && waited) {
      // The next step comes now that the caller waits.
      for (Completions* queue : context.completions) queue->armed = true;
    }
    if (step.kind == Step::Kind::wait_armed || step.kind == Step::Kind::race) asked = false;
  }
  if (context.counter_moved && !context.script.counter.empty()) {
    write_number(context.script.counter, std::to_string(counts.no_buffer) + "\n");
    context.counter_moved = false;
  }
}

void flush(Context& context, Queue& queue) {
  while (queue.count != 0) complete(context, queue, {take_receive(queue).id, 0, 0, IBV_WC_WR_FLUSH_ERR});
}

void push_event(Context& context, ibv_event_type type, int port) {
  ibv_async_event event{};
  event.event_type = type;
  event.element.port_num = port;
  if (type == IBV_EVENT_CQ_ERR && !context.completions.empty()) {
    event.element.cq = reinterpret_cast<ibv_cq*>(&context.completions.back()->raw);
  }
  if (type == IBV_EVENT_QP_FATAL && !context.queues.empty()) event.element.qp = &context.queues.back()->raw;
  if (write(context.async_write_end, &event, sizeof event) != sizeof event) violation("event not written");
}

int request_notification(ibv_cq* cq, int) {
  auto& queue = *reinterpret_cast<Completions*>(cq);
  if (refused(*queue.context, "arm")) return errno;
  const std::size_t before = queue.done.size();
  Context& context = *queue.context;
  const bool race = context.step < context.script.steps.size() &&
                    context.script.steps[context.step].kind == Step::Kind::race;
  if (!race) queue.armed = true;
  advance(context, true);
  const bool new_ones = queue.done.size() > before || queue.in_error;
  if (race) queue.armed = true;  // set behind what came: that wakes nobody
  if (!race && new_ones) wake(queue);
  return 0;
}

int post_receive(ibv_qp* qp, ibv_recv_wr* first, ibv_recv_wr** bad) {
  auto& queue = *reinterpret_cast<Queue*>(qp);
  Context& context = context_of(qp->context);
  for (; first != nullptr; first = first->next) {
    *bad = first;
    if (refused(context, "post")) return errno;
    if (qp->state == IBV_QPS_RESET) {
      violation("ibv_post_recv in state RESET");
      return EINVAL;
    }
    if (first->num_sge != 1) {
      violation("ibv_post_recv of %d pieces", first->num_sge);
      return EINVAL;
    }
    if (queue.count == queue.receives.size()) {
      violation("ibv_post_recv beyond max_recv_wr %u", queue.limit);
      return ENOMEM;
    }
    const ibv_sge& piece = *first->sg_list;
    const bool inside =
        std::any_of(context.regions.begin(), context.regions.end(), [&](const Region* region) {
          const auto begin = reinterpret_cast<std::uintptr_t>(region->raw.addr);
          return region->raw.lkey == piece.lkey && region->raw.pd == qp->pd && piece.addr >= begin &&
                 piece.addr + piece.length <= begin + region->raw.length;
        });
    if (!inside) {
      violation("a receive outside of its memory region, or with another's key");
      return EINVAL;
    }
    if (first->wr_id >= queue.posted.size()) {
      violation("a receive with number %llu", static_cast<unsigned long long>(first->wr_id));
      return EINVAL;
    }
    if (queue.posted[first->wr_id]) {
      violation("receive %llu is posted already", static_cast<unsigned long long>(first->wr_id));
      return EINVAL;
    }
    queue.posted[first->wr_id] = true;
    counts.buffer_bytes = piece.length;
    const std::size_t at = (queue.first + queue.count) % queue.receives.size();
    queue.receives[at] = {first->wr_id, reinterpret_cast<std::uint8_t*>(piece.addr), piece.length};
    ++queue.count;
  }
  *bad = nullptr;
  if (qp->state == IBV_QPS_ERR) flush(context, queue);
  return 0;
}

// ---- polling

namespace {

bool next(Completions& queue) {
  if (queue.read_at == queue.done.size()) {
    queue.done.clear();
    queue.read_at = 0;
    return false;
  }
  queue.current = queue.done[queue.read_at++];
  return true;
}

Completions& of(ibv_cq_ex* cq) {
  return *reinterpret_cast<Completions*>(cq);
}

int show(ibv_cq_ex* cq) {
  cq->wr_id = of(cq).current.id;
  cq->status = of(cq).current.status;
  return 0;
}

int start_poll(ibv_cq_ex* cq, ibv_poll_cq_attr* attributes) {
  Completions& queue = of(cq);
  if (attributes == nullptr || attributes->comp_mask != 0) return EINVAL;
  if (queue.polling) violation("ibv_start_poll without ibv_end_poll");
  if (queue.read_at == queue.done.size()) advance(*queue.context, false);
  if (queue.context->gone && queue.read_at == queue.done.size()) return EIO;
  if (!next(queue)) return ENOENT;
  queue.polling = true;
  return show(cq);
}

int next_poll(ibv_cq_ex* cq) {
  if (!of(cq).polling) violation("ibv_next_poll without ibv_start_poll");
  return next(of(cq)) ? show(cq) : ENOENT;
}

void end_poll(ibv_cq_ex* cq) {
  if (!of(cq).polling) violation("ibv_end_poll without ibv_start_poll");
  of(cq).polling = false;
}

void check_readable(ibv_cq_ex* cq) {
  if (!of(cq).polling) violation("a completion is read outside of start and end");
  if (of(cq).current.status != IBV_WC_SUCCESS) violation("a completion with an error is read");
}

std::uint32_t read_byte_len(ibv_cq_ex* cq) {
  check_readable(cq);
  return of(cq).current.bytes;
}

std::uint64_t read_wallclock(ibv_cq_ex* cq) {
  check_readable(cq);
  return of(cq).current.time_ns;
}

}  // namespace

void fill_stamped(ibv_cq_ex& cq) {
  cq.start_poll = start_poll;
  cq.next_poll = next_poll;
  cq.end_poll = end_poll;
  cq.read_byte_len = read_byte_len;
  cq.read_completion_wallclock_ns = read_wallclock;
}

int poll_cq(ibv_cq* cq, int entries, ibv_wc* to) {
  auto& queue = *reinterpret_cast<Completions*>(cq);
  if (queue.read_at == queue.done.size()) advance(*queue.context, false);
  if (queue.context->gone && queue.read_at == queue.done.size()) {
    errno = EIO;
    return -1;
  }
  int got = 0;
  for (; got < entries && next(queue); ++got) {
    // What is not defined after an error is garbage, here too.
    std::memset(&to[got], queue.current.status == IBV_WC_SUCCESS ? 0 : 0xee, sizeof to[got]);
    to[got].wr_id = queue.current.id;
    to[got].status = queue.current.status;
    to[got].opcode = IBV_WC_RECV;
    if (queue.current.status == IBV_WC_SUCCESS) to[got].byte_len = queue.current.bytes;
  }
  return got;
}

}  // namespace fake
