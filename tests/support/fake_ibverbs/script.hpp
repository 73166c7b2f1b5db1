// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// The file that FAKE_IBVERBS names: the device, then what happens, a line each.
//
//   device mlx5_0 | no_devices | ports 2 | layer infiniband | transport iwarp | firmware 16.35.2000
//   port_state 4 | speed 32 | width 2 | mtu 5 | lid 7 | lmc 1 | gid fe80… (32 digits) | stamps no
//   max_qp_wr 32768 | raw_limit 8192 (of a raw queue pair, in truth) | max_cqe 4194303 | counter PATH (a file
//   that out_of_buffer is written to) refuse open|list|query|pd|channel|cq|qp|init|rtr|reset|mr|flow|post|arm
//   ERRNO [AFTER]
//
//   frames COUNT BYTES [BURST]  so many at each poll, dropped where no receive is posted; 0: as many as find
//   one file "PATH" [BURST]         those of a pcap file, with its times wait_armed                  what
//   follows comes when notification is asked for, and wakes the caller race                        what
//   follows comes then, too, but before the notification is set: nobody is woken long BYTES one frame of that
//   size, whatever the buffers error STATUS                one receive ends with that ibv_wc_status, the
//   queue pair goes on broken STATUS               the same, and the queue pair is in error: all receives are
//   flushed event NUMBER [PORT]         an asynchronous event, by its number in ibv_event_type mtu_file PATH
//   VALUE         a file is written: sysfs changes overrun N                   N completions are lost and the
//   completion queue is in error remove                      IBV_EVENT_DEVICE_FATAL; everything fails from
//   here on vanish                      everything fails from here on, without an event
namespace fake {

struct Step {
  enum class Kind {
    frames,
    file,
    wait_armed,
    race,
    long_frame,
    error,
    broken,
    event,
    port_state,
    write_file,
    lie,
    overrun,
    remove,
    vanish
  };
  Kind kind{};
  std::uint64_t count = 0;  // frames, completions, an event's number, a status
  std::uint64_t bytes = 0;
  std::uint64_t burst = 0;
  std::string path, text;
};

struct Refusal {
  int error = 0;
  unsigned after = 0;  // calls that succeed before
};

struct Frame {
  std::vector<std::uint8_t> bytes;
  std::uint64_t time_ns = 0;
};

struct Script {
  std::string device = "mlx5_0";
  bool devices = true;
  unsigned ports = 1;
  bool infiniband = false;
  bool iwarp = false;
  std::string firmware = "16.35.2000";
  unsigned port_state = 4;
  unsigned speed = 32, width = 2, mtu = 5;
  unsigned lid = 0, lmc = 0;
  std::vector<std::array<std::uint8_t, 16>> gids;
  bool stamps = true;
  int max_qp_wr = 32768;
  int raw_limit = 1 << 30;
  int max_cqe = 4194303;
  std::string counter;
  std::map<std::string, Refusal> refusals;
  std::vector<Step> steps;
};

// Ends the process with a message where the script cannot be understood.
Script read_script(const char* path);
std::vector<Frame> read_pcap(const std::string& path);

}  // namespace fake
