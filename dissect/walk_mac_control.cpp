// SPDX-License-Identifier: Apache-2.0
#include "dissect/headers/mac_control.hpp"
#include "dissect/walk.hpp"

namespace roce::dissect {

// The parameters are followed by padding to Ethernet's minimum length: 0 on the wire, not checked.
Step walk_mac_control(Walk& walk) noexcept {
  if (!walk.fits(HeaderId::mac_control, MacControl::size)) return Step::done;
  switch (read<MacControl::opcode>(walk.at())) {
    case mac_control_pause:
      (void)walk.take<MacPause>();
      break;
    case mac_control_pfc:
      (void)walk.take<MacPfc>();
      break;
    default:
      walk.push(HeaderId::mac_control, MacControl::size);
      break;
  }
  return Step::done;
}

}  // namespace roce::dissect
