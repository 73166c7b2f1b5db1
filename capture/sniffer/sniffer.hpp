// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "capture/live/live_device.hpp"
#include "capture/sniffer/own_frames.hpp"
#include "capture/sniffer/ring_plan.hpp"
#include "capture/sniffer/sniffed_port.hpp"
#include "capture/sniffer/sniffer_errors.hpp"
#include "capture/sniffer/verbs.hpp"

// Internal: RDMA devices as a LiveDevice. RoCE frames never reach the network stack of the host; the device
// itself copies them to a raw packet queue pair with the sniffer's flow.
namespace roce::capture {

/// What a sniffer asks of the machine; tests bring their own.
struct SnifferWorld {
  std::string root;                          ///< before /sys, /proc and /dev
  const char* library = "libibverbs.so.1";   ///< for dlopen()
  std::function<std::int64_t()> wall_clock;  ///< nanoseconds since the epoch; empty: the system's
};

class Sniffer final : public LiveDevice {
 public:
  /// `options.device` is an RDMA device's name. Frames arrive from here on, into the ring.
  [[nodiscard]] static Expected<std::unique_ptr<Sniffer>> open(const LiveOptions& options,
                                                               SnifferWorld world = {});

  [[nodiscard]] std::vector<InterfaceInfo> interfaces() const override;
  [[nodiscard]] std::string format() const override;
  [[nodiscard]] std::vector<std::string> notices() const override;
  [[nodiscard]] Expected<bool> take(SlabQueue& queue) override;
  [[nodiscard]] Expected<void> wait(int stop, std::chrono::milliseconds at_most) override;
  void finish(SlabQueue& queue) override;
  [[nodiscard]] Drops drops() override;

 private:
  Sniffer(const LiveOptions& options, SnifferWorld world, RdmaName name);
  [[nodiscard]] std::optional<Error> start();
  [[nodiscard]] std::optional<Error> make_ring();
  [[nodiscard]] Error failed(const verbs::Failure& failure) const;
  [[nodiscard]] Error lost_device(const std::string& why);
  [[nodiscard]] Error lost_device(const verbs::Failure& failure);

  [[nodiscard]] Expected<std::size_t> take_some(SlabQueue& queue);
  void deliver(SlabQueue& queue, const verbs::Completion& completion, std::int64_t now);
  void learn_clock(std::int64_t stamp);
  void watch_for_dry_ring(std::size_t polled);
  [[nodiscard]] std::optional<Error> recover(SlabQueue& queue);
  [[nodiscard]] std::optional<Error> handle_events();
  void refresh_port();
  [[nodiscard]] bool can_grow();
  void note(std::string text);

  static constexpr std::size_t batch = 256;  ///< completions polled and buffers given back at once

  const LiveOptions options_;
  const SnifferWorld world_;
  const RdmaName name_;
  SniffedPort sysfs_;
  RingNeeds needs_;
  RingPlan plan_;
  OwnAddresses own_;
  bool infiniband_ = false;
  bool port_active_ = false;
  std::uint16_t link_type_ = 0;
  std::optional<RoomCounters> room_;
  std::unique_ptr<verbs::Device> device_;
  std::unique_ptr<verbs::Ring> ring_;  ///< after device_: destroyed before it

  std::array<verbs::Completion, batch> completions_{};
  std::array<std::uint32_t, batch> give_back_{};
  std::uint32_t posted_ = 0;  ///< buffers that the device has
  bool armed_ = false;
  bool events_waiting_ = true;  ///< looked at in the next take()
  unsigned takes_ = 0;          ///< since events were looked at
  bool flushing_ = false;       ///< the queue pair is in error
  bool broken_ = false;         ///< the completion queue is
  bool outgrown_ = false;       ///< a frame was longer than its buffer
  unsigned flush_waits_ = 0;
  unsigned restarts_in_a_row_ = 0;
  bool clock_known_ = false;
  std::uint64_t run_ = 0;        ///< completions since a poll found less than it asked for
  std::uint64_t run_limit_ = 0;  ///< buffers that the device had when the run began
  bool dry_ = false;

  // Frames that are lost for certain or at most.
  std::uint64_t too_long_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t overrun_at_most_ = 0;
  std::uint64_t restarts_ = 0;

  mutable std::mutex notes_mutex_;
  std::vector<std::string> notes_;
};

/// Whether a name is one of an RDMA device: sysfs has it, or libibverbs lists it.
[[nodiscard]] bool is_rdma_device(const std::string& device, const SnifferWorld& world = {});

/// Opens it. Devices in software (rxe, siw) are refused with the network interface to capture on instead.
[[nodiscard]] Expected<std::unique_ptr<LiveDevice>> open_rdma_device(const LiveOptions& options,
                                                                     SnifferWorld world = {});

}  // namespace roce::capture
