#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command that reads captures has no rights while it reads: confinement_test.py PROGRAM SAMPLES

Each command gets a capture through a pipe that stays open, so that it waits for more: /proc/PID/status says what it may do
then. A library that is loaded into the program in place of a decompressor plays the dissector that a packet has taken over."""
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, SAMPLES = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
CAPTURE = os.path.join(SAMPLES, "01_rc_pingpong_s1.pcap")

COMMANDS = (
    ["report"], ["report", "--json"], ["report", "--html"], ["flows"], ["connections"], ["incidents"], ["paths"], ["pairs"], ["markings"], ["pauses"], ["dcbx"],
    ["why", "--qp", "0x15"], ["why", "--log", "/dev/null"],
    ["packets"], ["packets", "-V"], ["packets", "-T", "json"], ["packets", "-w", "OUT.pcapng"],
    ["check", "--policy", "nvidia"], ["check", "--policy", "nvidia", "--junit", "OUT.xml"], ["policy", "learn"],
    ["export", "--to", "OUT.json"], ["export", "--to", "OUT.sqlite"], ["export", "--to", "OUT/"], ["compare"],
)


def supported():
    done = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True)
    return "sanitizers" not in done.stdout


def status_of(pid):
    """What each thread may do."""
    found = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/status", encoding="utf-8") as file:
                found.append(dict(re.findall(r"^(\w+):\s*(.*)$", file.read(), re.M)))
        except OSError:
            pass
    return found


@unittest.skipUnless(supported(), "a build with sanitizers is not confined")
class Confinement(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="roce_confine_")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(CAPTURE, "rb") as file:
            self.bytes = file.read()

    def reading(self, command):
        """The command while it waits for the rest of its capture, and the end of the pipe."""
        words = [word.replace("OUT", os.path.join(self.folder, "out")) for word in command]
        files = [CAPTURE, "-"] if command[0] == "compare" else ["-"]
        process = subprocess.Popen([PROGRAM, *words, *files], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdin.write(self.bytes[: len(self.bytes) // 2])
        process.stdin.flush()
        return process

    def test_no_command_has_rights_while_it_reads(self):
        for command in COMMANDS:
            with self.subTest(" ".join(command)):
                process = self.reading(command)
                deadline, rights = time.monotonic() + 20, []
                while time.monotonic() < deadline:
                    rights = status_of(process.pid)
                    if rights and all(row.get("Seccomp") == "2" for row in rights):
                        break
                    time.sleep(0.01)
                for row in rights:
                    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
                        self.assertEqual(int(row[name], 16), 0, (name, row[name]))
                    self.assertEqual((row["Seccomp"], row["NoNewPrivs"]), ("2", "1"))
                self.assertTrue(rights)
                output, errors = process.communicate(self.bytes[len(self.bytes) // 2 :])
                self.assertIn(process.returncode, (0, 1), errors)
                if "OUT" not in " ".join(command):
                    self.assertTrue(output)
        self.assertEqual(sorted(os.listdir(self.folder)), ["out", "out.json", "out.pcapng", "out.sqlite", "out.xml"])

    def test_the_results_are_the_same(self):
        for command in COMMANDS:
            if command[0] == "compare" or "OUT" in " ".join(command):
                continue
            for sample in ("04_write_loss1.cb.pcap.zst", "13_dumpcap_2if_loss.pcapng.zst"):
                path = os.path.join(SAMPLES, sample)
                got = [subprocess.run([PROGRAM, *command, path, *option], capture_output=True, check=False)
                       for option in ([], ["--no-sandbox"])]
                self.assertEqual((got[0].returncode, got[0].stdout, got[0].stderr),
                                 (got[1].returncode, got[1].stdout, got[1].stderr), (command, sample))

    def test_an_unreadable_or_missing_file_is_still_named(self):
        for path, words in (("missing.pcap", "No such file"), (self.folder, "directory"), ("none_*.pcap", "none matches")):
            done = subprocess.run([PROGRAM, "report", path], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 3, path)
            self.assertIn(words, done.stderr)
            self.assertIn(path, done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_root_reads_files_of_others_twice(self):
        path = os.path.join(self.folder, "private.pcap")
        with open(path, "wb") as file:
            file.write(self.bytes)
        os.chown(path, 65534, 65534)
        os.chmod(path, 0o600)
        os.chmod(self.folder, 0o700)
        os.chown(self.folder, 65534, 65534)
        for command in (["packets", path, "-Y", "roce.connection == 0"], ["report", path, "-Y", "roce.connection == 0"],
                        ["report", path, path]):
            done = subprocess.run([PROGRAM, *command], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_root_writes_into_folders_of_others_and_reads_many_of_their_files(self):
        theirs = os.path.join(self.folder, "theirs")
        os.mkdir(theirs, 0o700)
        os.chown(theirs, 65534, 65534)
        for command in (["packets", CAPTURE, "-w", theirs + "/a.pcapng"], ["export", CAPTURE, "-o", theirs + "/a.sqlite"],
                        ["export", CAPTURE, "-o", theirs + "/d/"], ["export", CAPTURE, "-o", theirs + "/d/"],
                        ["check", "--policy", "nvidia", CAPTURE, "--junit", theirs + "/a.xml"]):
            done = subprocess.run([PROGRAM, *command], capture_output=True, text=True, check=False)
            self.assertIn(done.returncode, (0, 1), (command, done.stderr))
        self.assertEqual(sorted(os.listdir(theirs)), ["a.pcapng", "a.sqlite", "a.xml", "d"])
        for number in range(100):
            path = os.path.join(theirs, f"c{number:03}.pcap")
            with open(path, "wb") as file:
                file.write(self.bytes)
            os.chmod(path, 0o600)
            os.chown(path, 65534, 65534)
        done = subprocess.run(f"ulimit -n 100; '{PROGRAM}' report '{theirs}'/c*.pcap --json", shell=True, capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_signal_while_finishing_leaves_no_temporary_file(self):
        process = self.reading(["packets", "-w", "OUT.pcapng"])
        for _ in range(500):
            if any(name.endswith(".tmp") for name in os.listdir(self.folder)):
                break
            time.sleep(0.01)
        process.kill()
        process.communicate()
        for _ in range(500):
            if not os.listdir(self.folder):
                break
            time.sleep(0.01)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_dissector_taken_over_opens_nothing(self):
        source = os.path.join(self.folder, "taken.c")
        library = os.path.join(self.folder, "taken.so")
        with open(source, "w", encoding="utf-8") as file:
            file.write(r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
/* Called with the first compressed bytes of a capture: as near to a packet as a library can get. */
static void say(const char* what, long result) {
  char line[200];
  int n = snprintf(line, sizeof line, "%s %s\n", what, result >= 0 ? "DONE" : "refused");
  if (write(2, line, n) < 0) return;
}
size_t ZSTD_decompressStream(void* a, void* b, void* c) {
  static int once;
  if (!once++) {
    say("passwd", open("/etc/passwd", O_RDONLY));
    say("syscall", syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY, 0));
    say("tmp", open("/tmp/roce_taken_over", O_WRONLY | O_CREAT, 0600));
    say("folder", open("/tmp", O_RDONLY | O_DIRECTORY));
    say("memory", open("/proc/self/mem", O_RDWR));
    say("socket", socket(AF_INET, SOCK_STREAM, 0));
    say("unix", socket(AF_UNIX, SOCK_STREAM, 0));
    say("link", symlink("/etc/passwd", "/tmp/roce_taken_over"));
    say("mkdir", mkdir("/tmp/roce_taken_over", 0700));
    say("unlink", unlink(getenv("ROCE_VICTIM")));
    say("rename", rename(getenv("ROCE_VICTIM"), "/tmp/roce_taken_over"));
    say("chmod", chmod(getenv("ROCE_VICTIM"), 0777));
    say("truncate", truncate(getenv("ROCE_VICTIM"), 0));
    say("fork", syscall(SYS_fork));
    say("kill", syscall(SYS_kill, 1, 0));
  }
  size_t (*real)(void*, void*, void*) = dlsym(RTLD_NEXT, "ZSTD_decompressStream");
  return real(a, b, c);
}
""".replace("#include <stdio.h>", "#include <stdio.h>\n#include <stdlib.h>"))
        if subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=False).returncode != 0:
            self.skipTest("no C compiler")
        victim = os.path.join(self.folder, "victim")
        with open(victim, "w", encoding="utf-8") as file:
            file.write("here")
        path = os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst")
        for command in (["report", path], ["packets", path], ["packets", path, "-w", self.folder + "/w.pcapng"],
                        ["check", "--policy", "nvidia", path], ["export", path, "--to", self.folder + "/e.json"],
                        ["compare", path, path]):
            done = subprocess.run([PROGRAM, *command], capture_output=True, text=True, check=False,
                                  env={**os.environ, "LD_PRELOAD": library, "ROCE_VICTIM": victim})
            said = dict(line.split() for line in done.stderr.splitlines() if line.endswith((" DONE", " refused")))
            self.assertEqual(len(said), 15, done.stderr)
            self.assertEqual({name for name, result in said.items() if result == "DONE"}, set(), command)
            self.assertTrue(os.path.exists(victim))


if __name__ == "__main__":
    sys.argv[1:] = []
    unittest.main()
