// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "tests/support/fake_ibverbs/report.hpp"
#include "tests/support/fake_ibverbs/script.hpp"

#undef ibv_query_port
#undef ibv_reg_mr

// The objects behind the pointers that the stand-in hands out, and the device that plays its script. Frames
// arrive when the caller looks for them: what is lost depends on what it posted, not on how fast it is.
namespace fake {

struct Receive {
  std::uint64_t id = 0;
  std::uint8_t* to = nullptr;
  std::uint32_t bytes = 0;
};
struct Done {
  std::uint64_t id = 0;
  std::uint64_t time_ns = 0;
  std::uint32_t bytes = 0;
  ibv_wc_status status{};
};

struct Context;
struct Channel {
  ibv_comp_channel raw;
  int write_end;
};
struct Completions {
  ibv_cq_ex raw;
  Context* context;
  Channel* channel;
  bool armed;
  bool polling;
  bool in_error;
  unsigned events_taken, events_acknowledged;
  std::size_t read_at;
  std::vector<Done> done;  // from read_at on; emptied when all was read
  Done current;
};
struct Queue {
  ibv_qp raw;
  Completions* completions;
  std::uint32_t limit;
  std::vector<Receive> receives;  // a circle of `limit`
  std::size_t first, count;
  std::vector<bool> posted;  // by place in the memory region
};
struct Region {
  ibv_mr raw;
};
struct Domain {
  ibv_pd raw;
};
struct Flow {
  ibv_flow raw;
  Queue* queue;
};

struct Context {
  verbs_context raw;
  Script script;
  std::size_t step = 0;
  std::uint64_t done_of_step = 0;
  std::vector<Frame> file;
  std::vector<std::uint8_t> pattern;
  std::uint64_t synthetic = 0;  // frames made so far
  bool gone = false;
  bool counter_moved = false;
  int async_write_end = -1;
  std::vector<Domain*> domains;
  std::vector<Channel*> channels;
  std::vector<Completions*> completions;
  std::vector<Queue*> queues;
  std::vector<Region*> regions;
  std::vector<Flow*> flows;
};

extern FakeIbverbsReport counts;

// A rule that the caller broke.
void violation(const char* format, ...) __attribute__((format(printf, 1, 2)));
// Whether the script lets a call fail now; errno says how.
bool refused(Context& context, const char* what);

// Lets the script go on. `asked`: notification is being asked for.
void advance(Context& context, bool asked);
void flush(Context& context, Queue& queue);
void push_event(Context& context, ibv_event_type type, int port);

// Entries of the context's tables.
int poll_cq(ibv_cq* cq, int entries, ibv_wc* to);
int request_notification(ibv_cq* cq, int solicited);
int post_receive(ibv_qp* qp, ibv_recv_wr* first, ibv_recv_wr** bad);
void fill_stamped(ibv_cq_ex& cq);

inline Context& context_of(ibv_context* raw) {
  return *reinterpret_cast<Context*>(reinterpret_cast<std::uint8_t*>(raw) - offsetof(verbs_context, context));
}

}  // namespace fake
