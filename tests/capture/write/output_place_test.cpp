// SPDX-License-Identifier: Apache-2.0
// What files are written over, and what not: by files that are renamed, and by recordings.
#include "capture/write/output_place.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>

#include "capture/write/output_file.hpp"
#include "capture/write/record_file.hpp"
#include "tests/capture/bytes_builder.hpp"

namespace roce::capture {
namespace {

using test::Bytes;
using test::Folder;
using test::read_bytes;

const Bytes pcapng_begin = {0x0A, 0x0D, 0x0D, 0x0A, 0x1C, 0, 0, 0};
const Bytes notes = {'n', 'o', 't', 'e', 's'};
constexpr uid_t somebody = 65534;

OutputRules forced() {
  return {.inputs = {}, .may_replace = nullptr, .force = true};
}
OutputRules over_captures() {
  return {.inputs = {}, .may_replace = is_capture, .force = false};
}

/// Makes an output in both ways; returns the errors' kinds, none for success.
struct Outcome {
  std::optional<ErrorKind> file, recording;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};
Outcome both(const std::string& path, const OutputRules& rules) {
  Outcome outcome;
  if (const auto file = OutputFile::create(path, rules); !file) outcome.file = file.error().kind;
  if (const auto file = RecordFile::open(path, false, rules); !file) outcome.recording = file.error().kind;
  return outcome;
}
Outcome refused_as(ErrorKind kind) {
  return {kind, kind};
}

mode_t mode_of(const std::string& path) {
  struct stat facts {};
  EXPECT_EQ(stat(path.c_str(), &facts), 0);
  return facts.st_mode & 07777U;
}

/// Runs as another user in a child; false if that is not possible here.
bool as_somebody(const std::function<bool()>& action) {
  if (geteuid() != 0) return false;
  const pid_t child = fork();
  if (child == 0) _exit(setuid(somebody) == 0 && action() ? 0 : 1);
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0;
}

/// A folder like /tmp in a folder that others may enter.
std::string shared_folder(const Folder& folder) {
  std::string shared = folder.name("shared");
  EXPECT_EQ(chmod(folder.name("").c_str(), 0755), 0);
  EXPECT_EQ(mkdir(shared.c_str(), 0700), 0);
  EXPECT_EQ(chmod(shared.c_str(), 01777), 0);
  return shared;
}

TEST(OutputPlace, WhatIsThereDecides) {
  const Folder folder;
  const std::string file = folder.write("f", notes);
  EXPECT_EQ(both(file, {}), refused_as(ErrorKind::would_replace));
  EXPECT_EQ(both(file, over_captures()), refused_as(ErrorKind::would_replace));
  EXPECT_EQ(read_bytes(file), notes);
  EXPECT_EQ(both(file, forced()), Outcome());
  folder.write("f", pcapng_begin);
  EXPECT_EQ(both(file, {}), refused_as(ErrorKind::would_replace));
  EXPECT_EQ(read_bytes(file), pcapng_begin);
  EXPECT_EQ(both(file, over_captures()), Outcome()) << "an earlier recording";
  folder.write("f", {});
  EXPECT_EQ(both(file, {}), Outcome()) << "nothing is lost";
  EXPECT_EQ(both(folder.name("new"), {}), Outcome());
  EXPECT_EQ(both(folder.name(""), forced()), refused_as(ErrorKind::not_writable));
}

TEST(OutputPlace, AnInputIsNeverAnOutput) {
  const Folder folder;
  const std::string file = folder.write("in", pcapng_begin);
  ASSERT_EQ(symlink("in", folder.name("soft").c_str()), 0);
  ASSERT_EQ(link(file.c_str(), folder.name("hard").c_str()), 0);
  OutputRules rules = forced();
  rules.inputs = identities_of({folder.name("i*")});
  ASSERT_EQ(rules.inputs.size(), 1U);
  for (const char* name : {"in", "soft", "hard"})
    EXPECT_EQ(both(folder.name(name), rules), refused_as(ErrorKind::own_input)) << name;
  EXPECT_EQ(read_bytes(file), pcapng_begin);
}

TEST(OutputPlace, NewCapturesAreForTheirOwner) {
  const Folder folder;
  const mode_t before = umask(0);
  ASSERT_TRUE(RecordFile::open(folder.name("recording"), false, {}));
  for (const Readers readers : {Readers::owner_only, Readers::by_umask}) {
    auto file =
        OutputFile::create(folder.name(readers == Readers::owner_only ? "saved" : "text"), {}, readers);
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->finish());
  }
  umask(before);
  EXPECT_EQ(mode_of(folder.name("recording")), 0600U);
  EXPECT_EQ(mode_of(folder.name("saved")), 0600U);
  EXPECT_EQ(mode_of(folder.name("text")), 0666U);
}

TEST(OutputPlace, WhatAppearsMeanwhileIsNotReplacedEither) {
  const Folder folder;
  auto file = OutputFile::create(folder.name("f"), {});
  ASSERT_TRUE(file);
  folder.write("f", notes);
  const auto done = (*file)->finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::would_replace);
  EXPECT_EQ(read_bytes(folder.name("f")), notes);
  file = OutputFile::create(folder.name("f"), forced());
  ASSERT_TRUE(file);
  ASSERT_EQ(unlink(folder.name("f").c_str()), 0);
  EXPECT_TRUE((*file)->finish());
}

TEST(OutputPlace, PlantedLinksAreNotFollowed) {
  const Folder folder;
  const std::string shared = shared_folder(folder);
  const std::string victim = folder.write("victim", notes);
  const std::string planted = shared + "/out";
  if (!as_somebody([&] { return symlink(victim.c_str(), planted.c_str()) == 0; }))
    GTEST_SKIP() << "only root can become another user";
  EXPECT_EQ(both(planted, forced()), refused_as(ErrorKind::not_writable));
  ASSERT_EQ(symlink(planted.c_str(), folder.name("by_way_of").c_str()), 0);
  EXPECT_EQ(both(folder.name("by_way_of"), forced()), refused_as(ErrorKind::not_writable));
  EXPECT_EQ(read_bytes(victim), notes);
  ASSERT_EQ(unlink(victim.c_str()), 0);
  EXPECT_EQ(both(planted, forced()), refused_as(ErrorKind::not_writable));
  EXPECT_NE(access(victim.c_str(), F_OK), 0);
  // Without the sticky bit the kernel follows them, too.
  ASSERT_EQ(chmod(shared.c_str(), 0755), 0);
  EXPECT_EQ(both(planted, forced()), Outcome());
}

TEST(OutputPlace, PlantedFilesAndPipesAreNotWritten) {
  const Folder folder;
  const std::string shared = shared_folder(folder);
  const std::string file = shared + "/file", fifo = shared + "/fifo";
  if (!as_somebody([&] {
        return ::close(::open(file.c_str(), O_CREAT | O_WRONLY, 0666)) == 0 &&
               mkfifo(fifo.c_str(), 0666) == 0;
      }))
    GTEST_SKIP() << "only root can become another user";
  EXPECT_EQ(both(file, forced()), refused_as(ErrorKind::not_writable));
  EXPECT_EQ(both(fifo, forced()), refused_as(ErrorKind::not_writable));
}

TEST(OutputPlace, AMadeNameIsNeitherPredictableNorTooLong) {
  const Folder folder;
  const std::string name(255, 'x');
  auto file = OutputFile::create(folder.name(name), {});
  ASSERT_TRUE(file) << file.error().describe();
  EXPECT_TRUE((*file)->finish());
  EXPECT_EQ(access(folder.name(name).c_str(), F_OK), 0);
}

}  // namespace
}  // namespace roce::capture
