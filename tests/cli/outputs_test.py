#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the program writes files over, and what not: planted links, its own inputs, captures, databases of others, files
of any other kind; --force, modes, a full disk. Usage: outputs_test.py ROCEANALYZE SAMPLES"""

import gzip
import os
import pwd
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
SAMPLE = os.path.join(SAMPLES, "03_rping.pcap")


def run(*words, **options):
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([PROGRAM, *words], check=False, timeout=120, stderr=subprocess.PIPE, **options)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


# How each command writes a file: its name's ending, and its words for a source and a target.
WRITERS = {
    "packets": (".pcapng", lambda source, target: ("packets", source, "-w", target)),
    "json": (".json", lambda source, target: ("export", source, "--to", target)),
    "ndjson": (".ndjson", lambda source, target: ("export", source, "--to", target)),
    "sqlite": (".db", lambda source, target: ("export", source, "--to", target)),
    "openmetrics": (".om", lambda source, target: ("export", source, "--to", target)),
    "influx": (".lp", lambda source, target: ("export", source, "--to", target)),
    "junit": (".xml", lambda source, target: ("check", source, "--policy", "nvidia", "--fail-on", "error", "--junit", target)),
    "snapshot": (".json", lambda source, target: ("host", "--snapshot", target)),
}


class Outputs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.source = shutil.copy(SAMPLE, self.path("source.pcap"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def each_writer(self):
        for name, (ending, words) in WRITERS.items():
            yield name, self.path("out" + ending), words
            self.assertEqual([left for left in os.listdir(self.folder) if ".tmp" in left], [], name)

    def refused(self, words, target, *texts, status=2):
        before, names = read(target), sorted(os.listdir(self.folder))
        done = run(*words)
        self.assertEqual((done.returncode, done.stdout), (status, b""), (words, done.stderr))
        for text in texts:
            self.assertIn(text, done.stderr.decode())
        self.assertEqual(read(target), before)
        self.assertEqual(sorted(os.listdir(self.folder)), names)

    def written(self, words, target):
        done = run(*words)
        self.assertEqual(done.returncode, 0, (words, done.stderr))
        self.assertGreater(os.path.getsize(target), 0)

    def test_files_of_another_kind_need_force(self):
        for name, target, words in self.each_writer():
            write(target, b"notes of the last months\n")
            self.refused(words(self.source, target), target, "not an earlier output of this kind", "without --force")
            self.written((*words(self.source, target), "--force"), target)
            self.assertNotIn(b"notes", read(target))
            os.unlink(target)

    def test_captures_need_force(self):
        data = read(SAMPLE)
        pcapng = self.path("a.pcapng")
        self.written(("packets", self.source, "-w", pcapng), pcapng)
        zst = os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst")
        for name, target, words in self.each_writer():
            for capture in (data, read(pcapng), gzip.compress(data), read(zst)):
                write(target, capture)
                self.refused(words(self.source, target), target, "is a capture", "without --force")
            self.written((*words(self.source, target), "--force"), target)
            os.unlink(target)

    def test_incompressible_and_damaged_contents_are_looked_at(self):
        noise = read(SAMPLE)[:24] + os.urandom(400_000)
        target = self.path("out.json")
        write(target, gzip.compress(noise, 1))
        self.refused(("export", self.source, "--to", target), target, "is a capture")
        for contents in (gzip.compress(os.urandom(1000)), gzip.compress(noise)[:12], b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd" + os.urandom(100)):
            write(target, contents)
            self.refused(("export", self.source, "--to", target), target, "not an earlier output of this kind")

    def test_a_forgotten_name_does_not_cost_the_first_capture(self):
        first, second = shutil.copy(SAMPLE, self.path("first.pcap")), shutil.copy(SAMPLE, self.path("second.pcap"))
        for words in (("packets", "-w", first, second), ("export", second, "--format", "json", "--to", first),
                      ("check", second, "--policy", "nvidia", "--junit", first), ("host", "--snapshot", first)):
            self.refused(words, first, "is a capture", "--force")

    def test_an_input_is_never_an_output(self):
        os.symlink(self.source, self.path("link"))
        os.link(self.source, self.path("hard"))
        for name, _, words in self.each_writer():
            if name == "snapshot":
                continue
            for alias in ("source.pcap", "link", "hard"):
                target = self.path(alias)
                format_of = () if words(1, 2)[0] != "export" else ("--format", name)
                for force in ((), ("--force",)):
                    self.refused((*words(self.source, target), *format_of, *force), target, "reads the file itself")
                # One of several inputs, or of a pattern.
                self.refused((*words(self.path("sou*.pcap"), target), *format_of, "--force"), target, "reads the file itself")

    def test_policies_and_snapshots_are_inputs_too(self):
        policy = write(self.path("own.toml"), run("check", "--show-policy", "nvidia").stdout)
        self.refused(("check", self.source, "--policy", policy, "--junit", policy, "--force"), policy, "reads the file itself")
        self.refused(("packets", self.source, "--policy", policy, "-w", policy, "--force"), policy, "reads the file itself")
        before = self.path("before.json")
        self.written(("host", "--snapshot", before), before)
        self.refused(("host", "--before", before, "--snapshot", before, "--force"), before, "reads the file itself")

    def test_standard_output_is_no_input(self):
        before = read(self.source)
        for words in (("report", self.source), ("report", "--html", self.source), ("packets", self.source), ("flows", self.source),
                      ("packets", self.source, "-w", "-"), ("compare", SAMPLE, self.source),
                      ("export", self.source, "--to", "-", "--format", "json"),
                      ("check", self.source, "--policy", "nvidia", "--junit", "-")):
            with self.subTest(words), open(self.source, "ab") as file:
                done = run(*words, stdout=file)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(b"standard output", done.stderr)
                self.assertEqual(read(self.source), before)

    def test_earlier_outputs_of_the_same_kind_are_replaced(self):
        for name, target, words in self.each_writer():
            if name == "packets":
                continue
            for _ in range(2):
                self.written(words(self.source, target), target)
            if name in ("json", "snapshot"):
                self.written((*words(self.source, target), *(() if name == "json" else ("--pretty",))), target)
                self.written(words(self.source, target), target)
            os.unlink(target)

    def test_empty_files_are_filled(self):
        for _, target, words in self.each_writer():
            write(target, b"")
            self.written(words(self.source, target), target)
            os.unlink(target)

    def test_outputs_of_other_commands_are_not_replaced(self):
        for first, second in (("json", "ndjson"), ("ndjson", "json"), ("snapshot", "json"), ("json", "snapshot"), ("sqlite", "json"),
                              ("influx", "openmetrics"), ("junit", "influx"), ("openmetrics", "sqlite")):
            with self.subTest((first, second)):
                target = self.path("out")
                words = lambda name: (*WRITERS[name][1](self.source, target),
                                      *(("--format", name) if WRITERS[name][1](1, 2)[0] == "export" else ()))
                self.written(words(first), target)
                self.refused(words(second), target, "without --force")
                os.unlink(target)

    def test_databases_of_others(self):
        target = self.path("prod.db")
        words = ("export", self.source, "--to", target)
        for statements in ("CREATE TABLE customers (name)", "CREATE TABLE about (name, value); INSERT INTO about VALUES ('schema', 'x/1')"):
            database = sqlite3.connect(target)
            database.executescript(statements)
            database.close()
            self.refused(words, target, "is an SQLite database", "without --force")
            os.unlink(target)
        write(target, b"SQLite format 3\0" + bytes(100))
        self.refused(words, target, "is an SQLite database")
        os.unlink(target)
        self.written(words, target)
        self.written(words, target)
        self.written((*words, "--table", "flows"), target)
        database = sqlite3.connect(target)
        database.execute("CREATE INDEX packets ON flows (packets)")
        database.commit()
        self.written(words, target)
        database = sqlite3.connect(target)
        database.execute("CREATE TABLE my_notes (text)")
        database.commit()
        database.close()
        self.refused(words, target, "is an SQLite database")
        self.written((*words, "--force"), target)

    def test_csv_files_of_others(self):
        folder = self.path("tables")
        words = ("export", self.source, "--to", folder + "/")
        self.written(words, os.path.join(folder, "flows.csv"))
        first = {name: read(os.path.join(folder, name)) for name in os.listdir(folder)}
        self.written(words, os.path.join(folder, "flows.csv"))
        self.assertEqual({name: read(os.path.join(folder, name)) for name in os.listdir(folder)}, first)
        hosts = os.path.join(folder, "hosts.csv")
        names = first["hosts.csv"].split(b"\r\n")[0].split(b",")
        # A table of another version is not this one.
        for other in (b",".join([names[0], *names[2:], b"gone"]) + b"\r\nx\r\n", b"host,rack,owner\r\n1,2,3\r\n", names[0] + b",rack,owner,phone\n1,2,3,4\n", read(SAMPLE)):
            write(hosts, other)
            self.refused(words, hosts, "hosts.csv", "without --force")
            self.assertEqual(sorted(os.listdir(folder)), sorted(first))
        self.written((*words, "--force"), hosts)
        self.assertEqual(read(hosts), first["hosts.csv"])

    def test_who_may_read_outputs(self):
        for mask in (0o022, 0o000):
            for name, target, words in self.each_writer():
                done = run(*words(self.source, target), preexec_fn=lambda mask=mask: os.umask(mask))
                self.assertEqual(done.returncode, 0, done.stderr)
                wanted = 0o600 if name == "packets" else 0o666 & ~mask
                self.assertEqual(stat.S_IMODE(os.stat(target).st_mode), wanted, name)
                # One that is replaced keeps its mode.
                os.chmod(target, 0o640)
                self.written((*words(self.source, target), "--force"), target)
                self.assertEqual(stat.S_IMODE(os.stat(target).st_mode), 0o640, name)
                os.unlink(target)

    def test_a_full_disk_leaves_nothing_behind(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
        for name, target, words in self.each_writer():
            done = run(*words(self.source, target), preexec_fn=limit)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(b"File too large", done.stderr)
            self.assertEqual(os.listdir(self.folder), ["source.pcap"], name)
        done = run("export", self.source, "--to", self.path("folder/"), preexec_fn=limit)
        self.assertEqual((done.returncode, os.listdir(self.folder)), (3, ["source.pcap"]))
        os.mkdir(self.path("folder"))
        done = run("export", self.source, "--to", self.path("folder"), preexec_fn=limit)
        self.assertEqual((done.returncode, os.listdir(self.path("folder"))), (3, []))

    def test_a_read_only_file_stays(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everything")
        for _, target, words in self.each_writer():
            write(target, b"")
            os.chmod(target, 0o444)
            self.refused((*words(self.source, target), "--force"), target, "Permission denied", status=3)
            os.unlink(target)

    def test_own_links_pipes_and_devices(self):
        os.mkdir(self.path("far"))
        for _, target, words in self.each_writer():
            os.symlink("far/there", target)
            self.written(words(self.source, target), target)  # the link leads nowhere as yet
            self.written((*words(self.source, target), "--force"), target)
            self.assertTrue(os.path.islink(target))
            os.unlink(target)
            os.unlink(self.path("far/there"))
            for place in ("/dev/null", "/dev/stdout", "/proc/self/fd/1"):
                done = run(*words(self.source, place), *(("--format", "json") if words(1, 2)[0] == "export" else ()))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(bool(done.stdout), place != "/dev/null" or words(1, 2)[0] in ("check", "host"))
        with open(self.path("all"), "wb") as file:
            self.assertEqual(run("export", self.source, "--to", "/dev/stdout", "--format", "json", stdout=file).returncode, 0)
        self.assertEqual(read(self.path("all")), run("report", "--json", self.source).stdout)
        os.symlink("loop", self.path("loop"))
        done = run("packets", self.source, "-w", self.path("loop"))
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"symbolic links", done.stderr)

    def nobody(self):
        """Runs as another user, with the rights of this one left to the rest of the test."""
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        user = pwd.getpwnam("nobody").pw_uid
        os.chmod(self.folder, 0o755)

        def as_nobody(action):
            child = os.fork()
            if child == 0:
                try:
                    os.setuid(user)
                    action()
                    os._exit(0)
                except BaseException:  # pylint: disable=broad-except
                    os._exit(1)
            if os.waitpid(child, 0)[1] != 0:
                self.skipTest("no other users in this user namespace")
        return as_nobody

    def test_planted_links_in_a_sticky_folder(self):
        as_nobody = self.nobody()
        shared, victim = self.path("shared"), self.path("victim")
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        for _, target, words in self.each_writer():
            planted = os.path.join(shared, os.path.basename(target))
            as_nobody(lambda planted=planted: os.symlink(victim, planted))
            for contents in (b"", b"precious"):
                write(victim, contents)
                for force in ((), ("--force",)):
                    self.refused((*words(self.source, planted), *force), victim, "a link of another user", status=3)
            os.unlink(victim)
            done = run(*words(self.source, planted))
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertFalse(os.path.exists(victim))
            # By way of an own link from elsewhere.
            os.symlink(planted, target)
            self.assertEqual(run(*words(self.source, target)).returncode, 3)
            os.unlink(target)
            os.unlink(planted)
            # The folder's owner, root here, may have links in it.
            os.symlink(victim, planted)
            self.written(words(self.source, planted), victim)
            os.unlink(victim)
            os.unlink(planted)
            self.assertEqual(os.listdir(shared), [])

    def test_planted_folders_files_and_pipes_in_a_sticky_folder(self):
        as_nobody = self.nobody()
        shared, victim = self.path("shared"), self.path("victims")
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        os.mkdir(victim)
        as_nobody(lambda: os.symlink(victim, os.path.join(shared, "tables")))
        done = run("export", self.source, "--to", os.path.join(shared, "tables/"))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"a link of another user", done.stderr)
        self.assertEqual(os.listdir(victim), [])
        for _, target, words in self.each_writer():
            planted = os.path.join(shared, os.path.basename(target))
            as_nobody(lambda planted=planted: os.close(os.open(planted, os.O_CREAT | os.O_WRONLY, 0o666)))
            self.refused((*words(self.source, planted), "--force"), planted, "belongs to another user", status=3)
            os.unlink(planted)
            as_nobody(lambda planted=planted: os.mkfifo(planted))
            done = run(*words(self.source, planted))
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(b"belongs to another user", done.stderr)
            os.unlink(planted)

    def test_a_file_of_another_user_does_not_decide_who_may_read(self):
        as_nobody = self.nobody()
        folder = self.path("theirs")
        os.mkdir(folder)
        os.chmod(folder, 0o777)
        target = os.path.join(folder, "a.pcapng")

        def plant():
            os.umask(0)
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o666))
        as_nobody(plant)
        self.written(("packets", self.source, "-w", target), target)
        facts = os.stat(target)
        self.assertEqual((stat.S_IMODE(facts.st_mode), facts.st_uid), (0o600, 0))


if __name__ == "__main__":
    unittest.main()
