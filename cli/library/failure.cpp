// SPDX-License-Identifier: Apache-2.0
#include "cli/library/failure.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "analyze/base/value_format.hpp"

struct roce_error {
  roce_status status = ROCE_DEFECT;
  std::string message;
  std::string path;
  std::string text;
  std::int64_t offset = -1;
};

namespace roce::library {
namespace {

// Short enough to need no memory.
roce_error no_memory{ROCE_NO_MEMORY, "out of memory", "", "out of memory", -1};

/// Names of files may hold anything.
std::string shown(const std::string& text) {
  std::string valid, out;
  analyze::append_valid_text(valid, text);
  analyze::append_lines(out, valid);
  return out;
}

std::string text_and_below(const capture::Error& error) {
  return error.below.empty() ? error.message : error.message + "\n" + error.below;
}

}  // namespace

void tell(roce_error** error, const Failure& failure) noexcept {
  if (error == nullptr) return;
  *error = &no_memory;
  if (failure.status() == ROCE_NO_MEMORY && failure.error().message.empty()) return;
  try {
    auto told = std::make_unique<roce_error>();
    const capture::Error& from = failure.error();
    told->status = failure.status();
    told->message = shown(from.message.empty() ? "defect of the library" : text_and_below(from));
    told->path = shown(from.path);
    if (from.offset && *from.offset <= INT64_MAX) told->offset = static_cast<std::int64_t>(*from.offset);
    told->text = from.message.empty() ? told->message : shown(from.describe());
    *error = told.release();
  } catch (...) {
    *error = &no_memory;
  }
}

void give(const std::string& text, char** out, std::size_t* length) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  *out = copy;
  if (length != nullptr) *length = text.size();
}

}  // namespace roce::library

using roce::library::no_memory;

const char* roce_version(void) {
  return ROCE_VERSION;
}

void roce_free(char* text) {
  std::free(text);
}

roce_status roce_error_status(const roce_error* error) {
  return error != nullptr ? error->status : ROCE_OK;
}
const char* roce_error_message(const roce_error* error) {
  return error != nullptr ? error->message.c_str() : "";
}
const char* roce_error_path(const roce_error* error) {
  return error != nullptr ? error->path.c_str() : "";
}
int64_t roce_error_offset(const roce_error* error) {
  return error != nullptr ? error->offset : -1;
}
const char* roce_error_text(const roce_error* error) {
  return error != nullptr ? error->text.c_str() : "";
}
void roce_error_free(roce_error* error) {
  if (error != &no_memory) delete error;
}
