#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The house rules that a compiler does not keep: who may include whom, which library stays in which
file, licence lines, READMEs, samples and their manifest. Usage: structure_test.py CHECKOUT"""

import collections
import json
import os
import re
import subprocess
import sys
import unittest

import batch_names
import class_sizes
import rooms

ROOT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else os.path.abspath(".")

# Folder -> folders of ours it may include. Every arrow points one way. The command line and the window may name the
# types of capture and dissect that analyze's public results carry (Error, Frame, Dissection).
MAY_INCLUDE = {
    "dissect": {"dissect"},
    "capture": {"capture"},
    "analyze": {"analyze", "dissect", "capture"},
    "cli": {"cli", "analyze", "dissect", "capture"},
    "gui": {"gui", "analyze", "dissect", "capture"},
    "tests": {"tests", "cli", "gui", "analyze", "dissect", "capture"},
}

# Beginning of an <include> -> library. What is neither here nor standard nor POSIX fails the test:
# a new library is a decision, and this is where it is written down.
LIBRARIES = {
    "isa-l/": "isa-l", "isa-l.h": "isa-l", "fmt/": "fmt", "CLI/": "CLI11", "tsl/": "robin-map", "tl/": "expected",
    "zlib.h": "zlib", "zstd.h": "zstd", "lz4": "lz4", "toml++/": "toml++", "pcap/": "libpcap", "pcap.h": "libpcap",
    "prometheus/": "prometheus-cpp", "seccomp.h": "libseccomp", "sqlite3.h": "sqlite",
    "curl/": "libcurl",
    "infiniband/": "libibverbs", "rdma/": "libibverbs", "Q": "Qt", "qcustomplot": "Qt", "gtest/": "GoogleTest",
    "gmock/": "GoogleTest", "nlohmann/": "nlohmann-json", "tins/": "libtins", "re2/": "re2",
}
MAY_USE = {
    "dissect": {"isa-l"},
    "capture": {"zlib", "zstd", "lz4", "libpcap", "libibverbs", "libseccomp", "expected"},
    "analyze": {"fmt", "robin-map", "toml++", "nlohmann-json", "expected", "re2", "sqlite", "libcurl"},
    "cli": {"CLI11", "fmt", "expected", "prometheus-cpp"},
    "gui": {"Qt", "expected"},
    "tests": set(LIBRARIES.values()),
}
# Not in a header that others may include.
PRIVATE = {"isa-l", "zlib", "zstd", "lz4", "libpcap", "libibverbs", "fmt", "robin-map", "toml++", "nlohmann-json",
           "prometheus-cpp", "libseccomp", "sqlite", "re2", "libcurl"}
# Inside one .cpp each; libibverbs behind one header, for its seam is several files.
SEAMS = {"libibverbs": "capture/sniffer/verbs_library.hpp"}
IN_ONE_FILE = {"isa-l", "zlib", "zstd", "lz4", "libpcap", "libibverbs", "nlohmann-json", "prometheus-cpp", "libseccomp",
               "sqlite", "re2", "libcurl"}

# What dissect must not know: files, threads, clocks, printing.
IMPURE = {"fstream", "iostream", "ostream", "sstream", "cstdio", "filesystem", "thread", "mutex", "atomic", "chrono",
          "ctime", "random", "condition_variable"}

CODE = (".hpp", ".cpp")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
POSIX = re.compile(r"^((sys|arpa|net|netinet|linux)/\w+|unistd|fcntl|poll|signal|dirent|glob|time|errno|termios|pthread"
                   r"|sched|dlfcn|endian|spawn|regex|pwd|grp|syslog|malloc|locale|langinfo|ifaddrs)\.h$")
# Written in pieces, so that this file does not hold what it looks for.
MACHINE_PATHS = re.compile("|".join([r"(?<![\w.$}])/wor" + r"k/", r"(?<![\w.$}])/roo" + r"t/", r"/home/\w+/",
                                     r"\.\./shar" + "ed"]))
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")


def all_files():
    """Paths of the project's files, as git knows them or, without git, as they lie there."""
    try:
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True).stdout
        files = [name for name in listed.decode().split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        files = []
        for folder, folders, names in os.walk(ROOT):
            folders[:] = [f for f in folders if f not in ("build", ".git", ".cache")]
            files += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
    return sorted(name for name in files if os.path.isfile(os.path.join(ROOT, name)))


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as file:
        return file.read()


FILES = all_files()
SOURCES = [name for name in FILES if name.endswith(CODE)]


def folder_of(name):
    return name.split("/", 1)[0]


def library_of(header):
    """The third-party library of <header>, "" for standard and POSIX headers, None if unknown."""
    for beginning, library in LIBRARIES.items():
        if header.startswith(beginning):
            return library
    if "." not in header and "/" not in header:
        return ""
    return "" if POSIX.match(header) else None


def includes(name):
    """(ours, third party): checkout-relative paths and headers."""
    ours, theirs = [], []
    for kind, target in INCLUDE.findall(read(name)):
        if kind == "<":
            theirs.append(target)
        elif folder_of(target) in MAY_INCLUDE:
            ours.append(target)
        else:
            ours.append(os.path.normpath(os.path.join(os.path.dirname(name), target)))
    return ours, theirs


GRAPH = {name: includes(name) for name in SOURCES}


class Structure(unittest.TestCase):
    maxDiff = None

    def none(self, wrong, rule):
        self.assertFalse(wrong, "\n" + rule + "\n  " + "\n  ".join(map(str, wrong)))

    def test_folders_include_one_way(self):
        self.none([f"{name} includes {target}" for name, (ours, _) in GRAPH.items() for target in ours
                   if folder_of(target) not in MAY_INCLUDE[folder_of(name)]],
                  f"Allowed: {MAY_INCLUDE}")

    def test_included_files_exist(self):
        self.none([f"{name} includes {target}" for name, (ours, _) in GRAPH.items() for target in ours
                   if not os.path.isfile(os.path.join(ROOT, target))], "No such file:")

    def test_libraries_stay_where_they_belong(self):
        wrong = []
        for name, (_, theirs) in GRAPH.items():
            for header in theirs:
                library = library_of(header)
                if library is None:
                    wrong.append(f"{name}: <{header}> is of no library known here")
                elif library and library not in MAY_USE[folder_of(name)]:
                    wrong.append(f"{name}: {library} does not belong into {folder_of(name)}/")
        self.none(wrong, "Third party, see LIBRARIES and MAY_USE:")

    def test_private_libraries_reach_no_other_folder(self):
        """Headers of a folder that other folders include, with all that these include in turn."""
        reached = collections.deque(
            (target, f"{name} -> {target}") for name, (ours, _) in GRAPH.items() for target in ours
            if folder_of(name) != folder_of(target) and folder_of(name) != "tests")
        seen, wrong = set(), []
        while reached:
            name, way = reached.popleft()
            if name in seen or name not in GRAPH:
                continue
            seen.add(name)
            ours, theirs = GRAPH[name]
            wrong += [f"{way} includes <{header}>" for header in theirs if library_of(header) in PRIVATE]
            reached.extend((target, f"{way} -> {target}") for target in ours)
        self.none(wrong, "A public header shows a private library:")

    def test_some_libraries_live_in_one_file(self):
        users = collections.defaultdict(set)
        for name, (_, theirs) in GRAPH.items():
            if folder_of(name) != "tests":
                for header in theirs:
                    users[library_of(header)].add(name)
        self.none([f"{library}: {sorted(users[library])}" for library in sorted(IN_ONE_FILE)
                   if len(users[library]) > 1
                   or any(not n.endswith(".cpp") and n != SEAMS.get(library) for n in users[library])],
                  "Inside one .cpp each:")

    def test_rooms_include_what_the_table_says(self):
        self.none(rooms.violations({name: ours for name, (ours, _) in GRAPH.items()}), "See tests/structure/rooms.py:")

    def test_every_source_lies_in_a_room(self):
        self.none([name for name in SOURCES if not name.startswith("tests/") and rooms.room_of(name) is None],
                  "See tests/structure/rooms.py:")

    def test_the_table_of_rooms_is_held(self):
        """The test of the test: includes against the table are found, those it allows are not."""
        wrong = {"analyze/base/units.hpp": ["analyze/flow/flow.hpp"], "dissect/bth.hpp": ["capture/core/frame.hpp"],
                 "gui/models/tables.cpp": ["gui/pages/page.hpp"], "cli/report/report.hpp": ["analyze/transport/psn_ring.hpp"],
                 "analyze/base/series.cpp": ["analyze/nowhere.hpp"]}
        for name, targets in wrong.items():
            self.assertEqual(len(rooms.violations({name: targets})), 1, name)
        right = {"analyze/flow/flow.hpp": ["analyze/base/units.hpp", "analyze/flow/marking.hpp", "dissect/types.hpp"],
                 "gui/pages/page.cpp": ["gui/models/tables.hpp", "analyze/results/snapshot.hpp"]}
        self.assertEqual(rooms.violations(right), [])

    def test_the_table_of_rooms_has_no_circle(self):
        self.none([f"{room} and {below}" for room in rooms.ROOMS for below in rooms.reach(room) - {room}
                   if room in rooms.reach(below)], "Each may include the other:")

    def test_rooms_have_a_readme(self):
        self.none([room for room in rooms.ROOMS if not os.path.isfile(os.path.join(ROOT, room, "README.md"))],
                  "What is it for, where does one start reading? README.md is missing in:")

    def test_qt_stays_in_the_window(self):
        self.none([f"{name}: {library_of(header)}" for name, (_, theirs) in GRAPH.items() if not name.startswith(("gui/", "tests/gui/"))
                   for header in theirs if library_of(header) == "Qt"], "Qt belongs into gui/ and its tests:")

    def test_names_of_one_source_meet_no_other(self):
        for folder in ("dissect", "capture", "analyze", "cli", "gui"):
            files = {name: read(name) for name in SOURCES if folder_of(name) == folder}
            self.none(batch_names.clashes({n: t for n, t in files.items() if n.endswith(".cpp")},
                                          {n: t for n, t in files.items() if n.endswith(".hpp")},
                                          batch_names.compiled_together(read(f"{folder}/CMakeLists.txt"), folder)),
                      "Sources of a room are compiled as one (tests/structure/batch_names.py):")

    def test_clashes_of_names_are_found(self):
        helper = "namespace {\n\nint twice(int n) {\n  return n;\n}\n\n}  // namespace\n"
        alias = "namespace {\n\nusing Kind = Token::Kind;\n\n}  // namespace\n"
        self.assertEqual(len(batch_names.clashes({"a/x.cpp": helper, "a/y.cpp": helper}, {})), 1)
        self.assertEqual(len(batch_names.clashes({"a/x.cpp": helper}, {"a/y.hpp": "[[nodiscard]] int twice(int n);\n"})), 1)
        self.assertEqual(batch_names.clashes({"a/x.cpp": helper, "b/y.cpp": helper, "a/z.cpp": alias, "a/w.cpp": alias}, {}), [])

    def test_classes_that_follow_connections_stay_small(self):
        self.none([f"{name}: {of} has {count}" for name in SOURCES
                   if name.startswith(("analyze/transport/", "analyze/tracker/", "analyze/episode/"))
                   for of, count in class_sizes.members(read(name)) if count > 40], "At most 40 data members:")

    def test_data_members_are_counted(self):
        """The test of the test."""
        text = ("class A : public B {\n public:\n  explicit A(int n) : n_(n), m_{n} {}\n  void f(int a);\n"
                "  [[nodiscard]] int g() const { int local = 1; return local; }\n"
                "  struct In {\n    std::map<int, int> a, b;  ///< two; of them\n    bool c : 1 = false;\n  };\n"
                "  enum class E { x, y };\n  using T = int;\n  static constexpr int most = 3;\n\n private:\n"
                "  class Later;\n  friend class Other;\n  int n_ = 0;\n  std::array<In, 2> m_{};\n"
                "  std::function<void(int)> call_;\n  const In* in_ = nullptr;\n};\n")
        self.assertEqual(class_sizes.members(text), [("In", 3), ("A", 4)])

    def test_dissect_is_pure(self):
        self.none([f"{name} includes <{header}>" for name, (_, theirs) in GRAPH.items() if folder_of(name) == "dissect"
                   for header in theirs if header in IMPURE or (header.endswith(".h") and library_of(header) == "")],
                  "No files, threads, clocks or printing in dissect/:")

    def test_licence_lines(self):
        wrong = []
        for name in FILES:
            base = os.path.basename(name)
            if name.endswith(CODE + (".py", ".sh", ".cmake")) or base in ("CMakeLists.txt", "run"):
                if not any("SPDX-License-Identifier: Apache-2.0" in line for line in read(name).splitlines()[:3]):
                    wrong.append(name)
        self.none(wrong, "SPDX-License-Identifier: Apache-2.0 is missing at the top of:")

    def test_header_guards(self):
        self.none([name for name in SOURCES if name.endswith(".hpp") and "#pragma once" not in read(name)],
                  "#pragma once is missing in:")

    def test_file_names(self):
        self.none([name for name in SOURCES if not re.fullmatch(r"[a-z0-9_/]+\.(hpp|cpp)", name)],
                  "Files are snake_case.hpp or .cpp:")

    def test_no_machine_paths_and_nothing_unfinished(self):
        wrong = []
        for name in FILES:
            if name.startswith("samples/") and not name.endswith((".md", ".json")):
                continue
            if name.startswith("tests/fuzz/corpus/"):
                continue
            for number, line in enumerate(read(name).splitlines(), 1):
                for pattern in (MACHINE_PATHS, UNFINISHED):
                    if pattern.search(line):
                        wrong.append(f"{name}:{number}: {line.strip()[:100]}")
        self.none(wrong, "Paths of somebody's machine, or unfinished work:")

    def test_folder_readmes(self):
        self.none([folder for folder in ("", "dissect", "capture", "analyze", "cli", "gui", "samples", "tests")
                   if not os.path.isfile(os.path.join(ROOT, folder, "README.md"))], "README.md is missing in:")

    def test_links_of_documents(self):
        wrong = []
        for name in FILES:
            if name.endswith(".md"):
                for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", read(name)):
                    if "://" not in target and not target.startswith("mailto:"):
                        path = os.path.normpath(os.path.join(ROOT, os.path.dirname(name), target))
                        if not os.path.exists(path):
                            wrong.append(f"{name}: {target}")
        self.none(wrong, "Links to nothing:")

    def test_run_scripts_are_executable(self):
        self.none([name for name in FILES if os.path.basename(name) == "run"
                   and not os.access(os.path.join(ROOT, name), os.X_OK)], "Not executable:")

    def test_ci_calls_the_tests_and_nothing_else(self):
        lines = [line for line in read(".ci/run").splitlines() if line and not line.startswith("#")]
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], r'^exec "[^;&|]*/tests/run" "\$@"$')

    def test_samples_are_described(self):
        captures = {name[len("samples/"):] for name in FILES if name.startswith("samples/")} - {"README.md", "manifest.json"}
        described = [file["file"] for scenario in json.loads(read("samples/manifest.json")) for file in scenario["files"]]
        self.assertEqual(len(described), len(set(described)))
        self.assertEqual(captures, set(described))
        readme = read("samples/README.md")
        self.none([name for name in captures if f"| {name} |" not in readme], "No row in samples/README.md:")
        size = sum(os.path.getsize(os.path.join(ROOT, "samples", name)) for name in captures)
        self.assertLess(size, 8 << 20, "samples/ shall stay small")


if __name__ == "__main__":
    unittest.main()
