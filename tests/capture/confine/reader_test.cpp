// SPDX-License-Identifier: Apache-2.0
#include "capture/confine/reader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "capture/confine/broker.hpp"
#include "capture/confine/file_access.hpp"
#include "capture/confine/privileges.hpp"
#include "capture/core/kept_files.hpp"
#include "tests/capture/confine/in_child.hpp"

namespace roce::capture {
namespace {

namespace fs = std::filesystem;

class ConfinedReader : public ::testing::Test {
 protected:
  void SetUp() override {
    ROCE_NEEDS_FILTERS();
    folder = fs::temp_directory_path() / ("roce_reader_" + std::to_string(::getpid()));
    fs::create_directories(folder / "out");
    for (const char* name : {"one", "two", "secret"}) std::ofstream(folder / name) << name;
    out = ::open((folder / "out").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  }
  void TearDown() override {
    if (out >= 0) ::close(out);
    if (!folder.empty()) fs::remove_all(folder);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder / name).string(); }

  fs::path folder;
  int out = -1;
};

/// What a thread that is confined finds.
std::string found_in(const std::vector<std::string>& files, const std::function<std::string()>& work) {
  return in_child([&]() -> std::string {
    const Confined confined = confine_reader(files);
    if (!confined.capabilities || !confined.calls) return "not confined";
    return work();
  });
}

std::string open_result(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  return descriptor >= 0 ? "open" : "no";
}

bool landlock_here() {
  return in_child([]() -> std::string {
           if (auto dropped = drop_capabilities_of_thread(); !dropped) return "no";
           const auto done = restrict_files({{}, {}});
           return done && *done ? "yes" : "no";
         }) == "yes";
}

TEST_F(ConfinedReader, opens_nothing_that_was_not_open) {
  EXPECT_EQ(found_in({},
                     [&]() -> std::string {
                       for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR, O_WRONLY | O_CREAT, O_PATH,
                                               O_RDWR | O_TMPFILE, O_RDONLY | O_DIRECTORY}) {
                         for (const std::string& name :
                              {path("one"), path("new"), folder.string(), std::string("/etc/passwd"),
                               std::string("/proc/self/mem"), std::string("/dev/null")}) {
                           if (open_result(name, flags) != "no") return name + " can be opened";
                         }
                       }
                       if (::openat(out, "new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0) return "openat";
                       if (::socket(AF_UNIX, SOCK_STREAM, 0) >= 0) return "a socket";
                       if (::renameat(AT_FDCWD, path("one").c_str(), out, "one") == 0) return "renamed";
                       if (::unlink(path("one").c_str()) == 0) return "removed";
                       if (::truncate(path("one").c_str(), 0) == 0) return "cut";
                       return {};
                     }),
            "");
  EXPECT_TRUE(fs::exists(path("one")));
}

TEST_F(ConfinedReader, opens_the_files_that_it_names_and_no_other) {
  if (!landlock_here()) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_EQ(found_in({path("one"), path("missing")},
                     [&]() -> std::string {
                       if (open_result(path("one"), O_RDONLY) != "open") return "the file cannot be opened";
                       if (open_result(path("one"), O_RDWR) == "open") return "for writing";
                       if (open_result(path("secret"), O_RDONLY) == "open") return "another file";
                       if (open_result("/etc/passwd", O_RDONLY) == "open") return "/etc/passwd";
                       if (open_result(folder.string(), O_RDONLY | O_DIRECTORY) == "open") return "folder";
                       if (open_result(path("new"), O_WRONLY | O_CREAT) == "open") return "a new file";
                       return {};
                     }),
            "");
}

class Renamed final : public PlacedOutput {
 public:
  Renamed(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}
  Expected<void> place() override {
    if (std::rename(from_.c_str(), to_.c_str()) == 0) return {};
    Error error;
    error.kind = ErrorKind::not_writable;
    error.path = to_;
    error.message = std::strerror(errno);
    error.system_errno = errno;
    return tl::unexpected<Error>(std::move(error));
  }
  void discard() noexcept override { std::remove(from_.c_str()); }
  Expected<void> finish() { return placed(); }

 private:
  std::string from_, to_;
};

TEST_F(ConfinedReader, lets_its_broker_open_and_place_what_was_agreed) {
  for (const char* name : {"a.tmp", "b.tmp"}) std::ofstream(folder / "out" / name) << name;
  EXPECT_EQ(in_child([&]() -> std::string {
              Renamed a(path("out/a.tmp"), path("out/a")), b(path("out/b.tmp"), path("out/b")),
                  wrong(path("out/none"), path("out/c"));
              auto broker = Broker::start({path("one"), path("missing")}, {&a, &b, &wrong});
              if (!broker) return "no broker";
              if (!confine_reader({}).calls) return "not confined";
              char text[4] = {};
              const int file = broker->open(0);
              if (file < 0 || ::read(file, text, 3) != 3 || std::string(text) != "one") return "one";
              if (broker->open(1) >= 0 || errno != ENOENT) return "missing";
              if (broker->open(2) >= 0) return "what was not agreed";
              if (auto placed = a.finish(); !placed) return placed.error().describe();
              const auto failed = wrong.finish();
              if (failed || failed.error().system_errno != ENOENT || failed.error().path != path("out/c"))
                return "an error is not told";
              return {};
            }),
            "");
  EXPECT_TRUE(fs::exists(path("out/a")));
  EXPECT_FALSE(fs::exists(path("out/b")));
  EXPECT_FALSE(fs::exists(path("out/b.tmp"))) << "what is not placed is removed";
}

TEST_F(ConfinedReader, leaves_nothing_behind_when_it_is_killed) {
  std::ofstream(folder / "out" / "a.tmp") << "a";
  EXPECT_EQ(in_child([&]() -> std::string {
              Renamed a(path("out/a.tmp"), path("out/a"));
              const auto broker = Broker::start({}, {&a});
              ::raise(SIGKILL);
              return "alive";
            }),
            "signal 9");
  for (int i = 0; i < 500 && fs::exists(path("out/a.tmp")); ++i) ::usleep(10'000);
  EXPECT_FALSE(fs::exists(path("out/a.tmp")));
}

TEST_F(ConfinedReader, has_no_rights_and_neither_have_its_threads) {
  EXPECT_EQ(in_child([]() -> std::string {
              std::string wrong;
              std::thread reader([&] {
                const Confined confined = confine_reader({});
                if (!confined.capabilities || !confined.calls) wrong = "not confined";
                if (open_result("/etc/passwd", O_RDONLY) == "open") wrong = "opened";
                std::thread inner([&] {
                  if (open_result("/etc/passwd", O_RDONLY) == "open") wrong = "opened by its thread";
                });
                inner.join();
              });
              reader.join();
              if (open_result("/etc/passwd", O_RDONLY) != "open") return "the first thread is confined";
              return wrong;
            }),
            "");
}

TEST_F(ConfinedReader, reads_kept_files_as_often_as_it_likes) {
  const std::string fifo = path("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int writer = ::open(fifo.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::write(writer, "p", 1), 1);
  EXPECT_EQ(in_child([&]() -> std::string {
              const KeptFiles kept({path("one"), path("missing"), fifo, "-"});
              if (!kept.not_kept().empty()) return "not kept";
              if (!confine_reader({}).calls) return "not confined";
              for (int i = 0; i < 3; ++i) {
                const int file = open_for_reading(path("one"));
                char text[4] = {};
                if (file < 0 || ::pread(file, text, 3, 0) != 3 || std::string(text) != "one") return "one";
                ::close(file);
              }
              if (open_for_reading(path("missing")) >= 0 || errno != ENOENT) return "missing";
              if (open_for_reading(path("secret")) >= 0) return "secret";
              const int pipe = open_for_reading(fifo);
              char byte = 0;
              if (pipe < 0 || ::read(pipe, &byte, 1) != 1 || byte != 'p') return "pipe";
              if (open_for_reading(fifo) >= 0) return "a pipe is read once";
              const int temporary = open_temporary_file(temporary_folder());
              if (temporary < 0 || ::write(temporary, "x", 1) != 1) return "no temporary file";
              if (open_temporary_file(temporary_folder()) >= 0) return "a second temporary file";
              return {};
            }),
            "");
  ::close(writer);
}

TEST_F(ConfinedReader, keeps_the_file_that_had_the_name_first) {
  const KeptFiles kept({path("one")});
  fs::rename(path("two"), path("one"));
  const int file = open_for_reading(path("one"));
  char text[4] = {};
  ASSERT_EQ(::pread(file, text, 3, 0), 3);
  EXPECT_STREQ(text, "one");
  ::close(file);
}

TEST_F(ConfinedReader, says_which_files_it_could_not_keep) {
  EXPECT_EQ(in_child([&]() -> std::string {
              rlimit few{100, 100};
              if (::setrlimit(RLIMIT_NOFILE, &few) != 0) return "setrlimit";
              const KeptFiles kept(std::vector<std::string>(80, path("one")));
              return kept.not_kept().size() > 60 && kept.not_kept().size() < 80
                         ? ""
                         : std::to_string(kept.not_kept().size());
            }),
            "");
}

}  // namespace
}  // namespace roce::capture
