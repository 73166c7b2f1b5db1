// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyze/connection/connection.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {

/// The kind of a request's operation; undefined for responses.
[[nodiscard]] constexpr OperationKind operation_kind_of(dissect::Operation operation) noexcept {
  using dissect::Operation;
  switch (operation) {
    case Operation::write:
      return OperationKind::write;
    case Operation::read_request:
      return OperationKind::read;
    case Operation::compare_swap:
    case Operation::fetch_add:
      return OperationKind::atomic;
    case Operation::flush:
      return OperationKind::flush;
    case Operation::atomic_write:
      return OperationKind::atomic_write;
    default:
      return OperationKind::send;
  }
}

}  // namespace roce::analyze
