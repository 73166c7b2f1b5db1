// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <string>

#include "capture/core/error.hpp"
#include "capture/write/output_rules.hpp"

// Internal: where an output goes. Everything that the program opens for writing by name goes through here.
namespace roce::capture {

/// An open descriptor, closed at the end.
class OwnedDescriptor {
 public:
  explicit OwnedDescriptor(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  ~OwnedDescriptor() { reset(); }
  OwnedDescriptor(OwnedDescriptor&& other) noexcept : descriptor_(other.release()) {}
  OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  [[nodiscard]] int get() const noexcept { return descriptor_; }
  [[nodiscard]] int release() noexcept;
  void reset(int descriptor = -1) noexcept;  ///< keeps errno

 private:
  int descriptor_;
};

/// A name in an open folder, and what was there when it was found. Links are followed here, with the rules
/// that the kernel has with fs.protected_symlinks, fs.protected_regular and fs.protected_fifos: in a sticky
/// folder in which everyone may write (/tmp), links and files of other users are refused, except those of the
/// folder's owner. The kernel's own rules do not apply to a program that resolves links itself and renames,
/// and are not enabled on every system.
class OutputPlace {
 public:
  /// Errors: not_writable.
  [[nodiscard]] static Expected<OutputPlace> find(const std::string& path);

  [[nodiscard]] bool exists() const noexcept { return exists_; }
  /// Whether there is something that is written to as it is: a pipe, a device.
  [[nodiscard]] bool direct() const noexcept { return exists_ && !S_ISREG(facts_.st_mode); }
  [[nodiscard]] const struct stat& facts() const noexcept { return facts_; }  ///< if it exists
  [[nodiscard]] int folder() const noexcept { return folder_.get(); }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Whether the existing file belongs to the user as whom files are made. Like find(), only before the
  /// sandbox of a live capture, which never asks for that user.
  [[nodiscard]] bool own() const noexcept;

  /// The same name in the same folder, as it is now. Opens nothing by name; a link is not followed: it is
  /// refused, as it came meanwhile.
  [[nodiscard]] Expected<void> look_again();
  /// Whether what is there now may be replaced. Errors: own_input, would_replace, not_writable.
  [[nodiscard]] Expected<void> permit(const OutputRules& rules) const;
  /// Opens what exists for writing, as it is; fails with ENOENT if there is something else now. Nothing is
  /// created or truncated.
  [[nodiscard]] Expected<OwnedDescriptor> open_existing() const;

 private:
  [[nodiscard]] Expected<void> look(const std::string& path);
  [[nodiscard]] Expected<void> refuse_strangers() const;
  [[nodiscard]] tl::unexpected<Error> refused(int number, const std::string& what) const;

  std::string path_;  ///< as given, for messages
  OwnedDescriptor folder_;
  std::string name_;
  struct stat facts_ {};
  bool exists_ = false;
  bool opaque_ = false;  ///< a link of /proc to something that has no name: /dev/fd/63
};

}  // namespace roce::capture
