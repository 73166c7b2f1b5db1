// SPDX-License-Identifier: Apache-2.0
// How errors leave the library: our code throws Failure, guarded() makes a status and a roce_error of what
// was thrown.
#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "capture/core/error.hpp"
#include "cli/library/roceanalyze.h"

namespace roce::library {

class Failure final : public std::exception {
 public:
  Failure(roce_status status, capture::Error error) : status_(status), error_(std::move(error)) {}
  /// `path`: the argument or option that it is about.
  Failure(roce_status status, std::string path, std::string message) : status_(status) {
    error_.path = std::move(path);
    error_.message = std::move(message);
  }
  /// Of what was read: no room is not the input's fault.
  explicit Failure(capture::Error error)
      : Failure(error.kind == capture::ErrorKind::out_of_memory ? ROCE_NO_MEMORY : ROCE_INPUT,
                std::move(error)) {}

  [[nodiscard]] roce_status status() const noexcept { return status_; }
  [[nodiscard]] const capture::Error& error() const noexcept { return error_; }
  [[nodiscard]] const char* what() const noexcept override { return error_.message.c_str(); }

 private:
  roce_status status_;
  capture::Error error_;
};

/// Throws ROCE_MISUSE for a null pointer. `name`: of the argument.
template <class Pointer>
void require(Pointer pointer, const char* name) {
  if (pointer == nullptr) throw Failure(ROCE_MISUSE, name, "is null");
}

/// Sets *error, if there is one, to what is known of the failure.
void tell(roce_error** error, const Failure& failure) noexcept;

/// Runs `work`, which returns a roce_status; what it throws becomes a status and *error.
template <class Work>
roce_status guarded(roce_error** error, Work&& work) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    return std::forward<Work>(work)();
  } catch (const Failure& failure) {
    tell(error, failure);
    return failure.status();
  } catch (const std::bad_alloc&) {
    tell(error, Failure(ROCE_NO_MEMORY, capture::Error{}));  // no text: nothing is allocated
    return ROCE_NO_MEMORY;
  } catch (const std::exception& other) {
    try {
      tell(error, Failure(ROCE_DEFECT, "", std::string("defect of the library: ") + other.what()));
    } catch (...) {
      tell(error, Failure(ROCE_DEFECT, capture::Error{}));
    }
    return ROCE_DEFECT;
  } catch (...) {
    tell(error, Failure(ROCE_DEFECT, capture::Error{}));
    return ROCE_DEFECT;
  }
}

/// For functions that answer without a status: `otherwise` if the answer cannot be had.
template <class Answer, class Work>
Answer answered(Answer otherwise, Work&& work) noexcept {
  try {
    return std::forward<Work>(work)();
  } catch (...) {
    return otherwise;
  }
}

/// A copy for the caller, to be freed by roce_free(). `length` may be null.
void give(const std::string& text, char** out, std::size_t* length);

}  // namespace roce::library
