// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_options.hpp"

#include <algorithm>

namespace roce::support {
namespace {

using Apply = void (*)(FaultOptions&);

FaultRates losing(double rate) {
  return {.loss_before = rate / 2, .loss_after = rate / 2};
}

FaultRates everything(double rate) {
  return {.loss_before = rate,
          .loss_after = rate,
          .duplicate_before = rate,
          .duplicate_after = rate,
          .reorder_before = rate,
          .reorder_after = rate,
          .capture_drop = rate,
          .capture_duplicate = rate,
          .rnr = rate,
          .slow = rate / 10};
}

struct Preset {
  std::string_view name;
  Apply apply;
};

constexpr Preset presets[] = {
    {"clean", [](FaultOptions& o) { o.rates = {}; }},
    {"loss0.1", [](FaultOptions& o) { o.rates = losing(0.001); }},
    {"loss1", [](FaultOptions& o) { o.rates = losing(0.01); }},
    {"loss_before1", [](FaultOptions& o) { o.rates = {.loss_before = 0.01}; }},
    {"loss_after1", [](FaultOptions& o) { o.rates = {.loss_after = 0.01}; }},
    {"request_loss1",
     [](FaultOptions& o) {
       o.rates = losing(0.01);
       o.victims = Victims::requests;
     }},
    {"response_loss1",
     [](FaultOptions& o) {
       o.rates = losing(0.01);
       o.victims = Victims::responses;
     }},
    {"all0.1", [](FaultOptions& o) { o.rates = everything(0.001); }},
    {"all1", [](FaultOptions& o) { o.rates = everything(0.01); }},
    // Receivers that place packets in any order: reordering alone, nothing is sent again.
    {"reorder",
     [](FaultOptions& o) {
       o.rates = {.reorder_before = 0.01, .reorder_after = 0.01};
       o.recovery = Recovery::in_any_order;
     }},
    {"adaptive_routing",
     [](FaultOptions& o) {
       o.rates = {.reorder_before = 0.3};
       o.reorder_delay = 3'000;
       o.recovery = Recovery::in_any_order;
     }},
    // Receivers that take a late packet for a lost one.
    {"reorder_nak", [](FaultOptions& o) { o.rates = {.reorder_before = 0.01, .reorder_after = 0.01}; }},
    {"selective_repeat",
     [](FaultOptions& o) {
       o.rates = losing(0.01);
       o.rates.reorder_before = 0.05;
       o.reorder_delay = 3'000;
       o.recovery = Recovery::selective_repeat;
     }},
    {"duplicate", [](FaultOptions& o) { o.rates = {.duplicate_before = 0.01, .duplicate_after = 0.01}; }},
    {"capture_drop", [](FaultOptions& o) { o.rates = {.capture_drop = 0.01}; }},
    {"mirror", [](FaultOptions& o) { o.rates = {.capture_duplicate = 1}; }},
    {"mirror1", [](FaultOptions& o) { o.rates = {.capture_duplicate = 0.01}; }},
    {"mirror_interface",
     [](FaultOptions& o) {
       o.rates = {.capture_duplicate = 1};
       o.mirror = Mirror::interface;
     }},
    {"mirror_vlan",
     [](FaultOptions& o) {
       o.rates = {.capture_duplicate = 1};
       o.mirror = Mirror::vlan;
     }},
    {"mirror_hop",
     [](FaultOptions& o) {
       o.rates = {.capture_duplicate = 1};
       o.mirror = Mirror::hop;
     }},
    // Wrong marks of a quarter of the flows, with losses so that some are sent again.
    {"marks",
     [](FaultOptions& o) {
       o.rates = losing(0.01);
       o.marks = {.on = true, .mismarked = 0.25};
     }},
    {"congestion",
     [](FaultOptions& o) {
       o.rates = {};
       o.marks = {.on = true, .congested = 0.5, .ce = 0.05, .cnp_faults = 0.3};
     }},
    {"pauses",
     [](FaultOptions& o) {
       o.rates = {};
       o.hosts = 8;
       o.idle = 1'500'000;  // time enough for some pauses
       o.marks = {.on = true, .pauses = true};
     }},
    {"corrupt", [](FaultOptions& o) { o.rates = {.corrupt_before = 0.005, .corrupt_after = 0.005}; }},
    // One host pauses its link for 5 ms; what goes there waits.
    {"pause_storm",
     [](FaultOptions& o) {
       o.rates = {};
       o.marks = {.on = true,
                  .pauses = true,
                  .pause_kind = PauseKind::storm,
                  .pause_host = 1,
                  .pause_for = 5'000'000,
                  .pauses_hold = true};
     }},
    {"rnr", [](FaultOptions& o) { o.rates = {.rnr = 0.02}; }},
    {"slow", [](FaultOptions& o) { o.rates = {.slow = 0.002}; }},
    {"access", [](FaultOptions& o) { o.rates = {.access = 0.0005}; }},
    {"blackout", [](FaultOptions& o) { o.rates = {.blackout = 0.2}; }},
};

// Hundredths of a millisecond.
constexpr std::array<std::uint32_t, 32> rnr_table{
    65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

}  // namespace

bool apply_preset(std::string_view name, FaultOptions& options) {
  const auto* const found =
      std::find_if(std::begin(presets), std::end(presets), [&](const Preset& p) { return p.name == name; });
  if (found == std::end(presets)) {
    return false;
  }
  found->apply(options);
  return true;
}

std::vector<std::string_view> preset_names() {
  std::vector<std::string_view> names;
  for (const Preset& preset : presets) {
    names.push_back(preset.name);
  }
  return names;
}

namespace {

// Where the truth would have to say "undecidable" of nearly everything.
std::string_view order_contradiction(const FaultOptions& options) {
  const FaultRates& rates = options.rates;
  if (changes_order(options) && (options.marks.on || rates.capture_duplicate > 0 ||
                                 rates.duplicate_before > 0 || rates.duplicate_after > 0)) {
    return "which of two copies is the first one is not known by stamps that jitter";
  }
  if (options.timer_sends_oldest && !keeps_early(options.recovery)) {
    return "a timer that sends one packet needs receivers that keep what comes early";
  }
  if (options.drop_queued && (rates.duplicate_before > 0 || rates.duplicate_after > 0)) {
    return "responses dropped for a doubled READ request look like lost ones";
  }
  if (options.generations > 1 && options.connection_manager) {
    return "the CM is told of one connection a queue pair";
  }
  if (options.connections % options.generations != 0) {
    return "each queue pair must be used by as many connections";
  }
  return {};
}

}  // namespace

std::string_view contradiction(const FaultOptions& options) {
  if (options.window < 2 * options.max_message_packets) {
    return "the window must hold two messages";
  }
  if (options.mix == std::array<std::uint32_t, 4>{}) {
    return "an operation must have a weight";
  }
  if (options.split_interfaces && options.mirror == Mirror::interface &&
      options.rates.capture_duplicate > 0) {
    return "copies of another interface and one interface a direction exclude each other";
  }
  if (options.marks.on && (options.rates.capture_duplicate > 0 || options.split_interfaces)) {
    return "marks are told for captures that have each packet once, on one interface";
  }
  if (options.marks.pauses_hold && options.marks.pause_for == ~Time{0}) {
    return "what waits for a pause needs its end";
  }
  if (options.rates.corrupt_before > 0 && options.marks.on) {
    return "marks are told of whole packets";
  }
  if (options.trim.percent > 0 && (options.marks.on || options.rates.capture_duplicate > 0)) {
    return "trimming is told of captures that have each packet once, with the marks that it gives";
  }
  if (options.marks.on && options.connection_manager) {
    return "marks are not told of CM messages";
  }
  return order_contradiction(options);
}

Time rnr_wait(std::uint32_t code) {
  return Time{rnr_table[code & 31U]} * 10'000;
}

}  // namespace roce::support
