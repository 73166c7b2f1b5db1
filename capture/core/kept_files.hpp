// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace roce::capture {

/// Opens files ahead for those who will read them: a process or thread that has given up its rights
/// (capture/confine) cannot open them any more. During its lifetime open_for_reading() of the same paths
/// gives what was open, or failed, at its construction. A pipe is given once, a regular file any number of
/// times; so the second reading gets the same file as the first even if its name has got another one.
/// For the whole process, as the rights of a thread are no part of its calls. Thread-safe.
class KeptFiles {
 public:
  /// `paths` as in open_for_reading(), "-" is ignored. Also keeps a temporary file.
  explicit KeptFiles(const std::vector<std::string>& paths);
  ~KeptFiles();
  KeptFiles(const KeptFiles&) = delete;
  KeptFiles& operator=(const KeptFiles&) = delete;

  /// From here on open_for_reading() of not_kept()[i] is open(i).
  void let_open(std::function<int(std::size_t)> open);
  /// Paths that could not be kept, for want of descriptors: they have to be opened when they are read.
  [[nodiscard]] const std::vector<std::string>& not_kept() const noexcept { return not_kept_; }

 private:
  std::vector<std::string> not_kept_;
};

/// open() for reading, close-on-exec, with further flags. The descriptor of a kept file shares its offset
/// with others: read it by pread(). -1 with errno on failure.
[[nodiscard]] int open_for_reading(const std::string& path, int flags = 0) noexcept;

/// A file without a name in the folder, for reading and writing, close-on-exec: it disappears with the
/// process however that ends. If the folder permits none, but a temporary file of that folder is kept, that
/// one, once. -1 with errno on failure.
[[nodiscard]] int open_temporary_file(const std::string& folder);

/// Where temporary files belong: $TMPDIR, else /tmp.
[[nodiscard]] std::string temporary_folder();

}  // namespace roce::capture
