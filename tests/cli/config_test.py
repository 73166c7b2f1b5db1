#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Configuration files: keys, values, order, messages. Usage: config_test.py ROCEANALYZE SAMPLES"""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
LOSS = os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst")


class Config(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, text, name="c.toml"):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_program(self, *words, config="", **more):
        env = {**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "ROCEANALYZE_CONFIG": config, **more}
        if config is None:
            del env["ROCEANALYZE_CONFIG"]
        done = subprocess.run([PROGRAM, *words], check=False, timeout=120, capture_output=True, env=env, cwd=self.folder)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def icrc(self, *words, **options):
        status, out, err = self.run_program("report", "--json", LOSS, *words, **options)
        self.assertEqual((status, err), (0, ""))
        return json.loads(out)["roce"]["icrc"]["match"] != 0

    def test_defaults_count_for_all_commands_and_the_command_line_wins(self):
        config = self.write('[defaults]\nno-icrc = true\n')
        self.assertTrue(self.icrc())
        self.assertFalse(self.icrc(config=config))
        self.assertFalse(self.icrc("--config", config))
        self.assertTrue(self.icrc("--no-icrc=false", config=config))
        self.assertTrue(self.icrc("--config", self.write("", "empty.toml"), config=config))

    def test_the_table_of_a_command_comes_before_the_defaults(self):
        config = self.write('[report]\nno-icrc = false\n[defaults]\nno-icrc = true\n')
        self.assertTrue(self.icrc(config=config))

    def test_the_users_file_comes_after_that_of_the_host(self):
        self.write('[defaults]\nno-icrc = true\n', "xdg/roceanalyze/roceanalyze.toml")
        self.assertFalse(self.icrc(config=None, XDG_CONFIG_HOME=os.path.join(self.folder, "xdg")))
        self.write('[defaults]\nno-icrc = true\n', ".config/roceanalyze/roceanalyze.toml")
        self.assertFalse(self.icrc(config=None, HOME=self.folder, XDG_CONFIG_HOME=""))

    def test_what_is_typed_replaces_a_list_and_drops_what_it_excludes(self):
        config = self.write('[flows]\njson = true\ntop = 1\n[packets]\ne = ["frame.number", "ip.src"]\nT = "fields"\nc = 1\n')
        self.assertTrue(self.run_program("flows", LOSS, config=config)[1].startswith("{"))
        self.assertEqual(self.run_program("flows", LOSS, "--csv", config=config)[1].count("{"), 0)
        self.assertEqual(self.run_program("packets", LOSS, config=config)[1], "1\t10.77.0.1\n")
        self.assertEqual(self.run_program("packets", LOSS, "-e", "frame.number", config=config)[1], "1\n")

    def test_a_required_option_may_come_from_the_file(self):
        spool = os.path.join(self.folder, "spool")
        os.mkdir(spool)
        store = os.path.join(self.folder, "a.store")
        for table in ("[ship]\nto", "[defaults]\nstore"):
            config = self.write(f'{table} = "{store}"\n')
            self.assertEqual(self.run_program("ship", spool, "--once", config=config)[0], 0)
            self.assertTrue(os.path.exists(store))
            os.remove(store)
        self.assertEqual(self.run_program("ship", spool, "--once")[0], 2)

    def test_whose_rows_a_store_gets_counts_with_a_store_only(self):
        config = self.write('[capture]\nsite = "north"\n')
        _, _, err = self.run_program("capture", "-i", "no-such-device", config=config)
        self.assertNotIn("--store", err)
        self.assertIn("no-such-device", err)

    def test_mistakes_are_named_with_line_and_what_was_meant(self):
        config = self.write('[defaults]\nlink-sped = "100G"\njobs = 0\nhost = "h"\n[captur]\n[capture]\nsyslog = "yes"\n'
                            'link_speed = "10G"\nw = ["a", "b"]\nring-time = "50"\ntop = 1.5\n[report]\nr = "x"\ncount = 3\n'
                            'c = 4\nconfig = "x"\n[policy]\nx = 1\n[policy.lern]\n[config.check]\n')
        status, out, err = self.run_program("config", "check", config)
        self.assertEqual((status, out), (2, ""))
        expected = (
            "2:1: no key 'link-sped' in [defaults]; did you mean 'link-speed'?",
            "3:8: jobs: Value 0 not in range 1 to 256",
            "4:1: no key 'host' in [defaults]",
            "5:2: no command 'captur'; did you mean 'capture'?",
            "7:10: syslog: expected true or false, not a string",
            "8:1: no key 'link_speed' in [capture]; did you mean 'link-speed'?",
            "9:5: w: takes one value, not a list",
            "10:13: ring-time: not a duration: '50'",
            "11:7: top: expected a string or a whole number, not a fraction or a date",
            "13:1: 'r' is given on the command line only",
            "15:1: 'c' is the same option as 'count' in line 14",
            "16:1: 'config' is given on the command line only",
            "18:1: no key 'x' in [policy]: it has tables for its commands, [policy.learn]",
            "19:9: policy: no command 'lern'; did you mean 'learn'?",
            "20:9: no command 'config'")
        lines = err.splitlines()
        for text in expected[:14]:
            self.assertTrue(any(line.startswith(f"roceanalyze: {config}:{text}") for line in lines), (text, err))
        self.assertEqual(len(lines), len(expected), err)
        # A mistake anywhere ends any command, but not its help.
        self.assertEqual(self.run_program("devices", config=config)[0], 2)
        self.assertEqual(self.run_program("devices", "--help", config=config)[0], 0)
        self.assertIn("[defaults], or that of a command", self.run_program("config", "check", self.write("policy = 1"))[2])
        self.assertIn(":1:3: not TOML", self.run_program("config", "check", self.write("[x"))[2])

    def test_files_that_cannot_be_read(self):
        missing = os.path.join(self.folder, "missing.toml")
        for words, options in ((["devices", "--config", missing], {}), (["config", "check", missing], {}),
                               (["devices"], {"config": missing}), (["devices", "--config", self.folder], {})):
            status, out, err = self.run_program(*words, **options)
            self.assertEqual((status, out), (2, ""), words)
            self.assertRegex(err, "No such file|directory")
        self.assertIn("is set and empty", self.run_program("config", "check")[1])
        status, out, _ = self.run_program("config", "check", config=None, XDG_CONFIG_HOME=self.folder)
        self.assertEqual(status, 0)
        if not os.path.exists("/etc/roceanalyze.toml"):
            self.assertIn(f"/etc/roceanalyze.toml, nor at {self.folder}/roceanalyze/roceanalyze.toml", out)

    def test_show_prints_a_file_that_means_the_same(self):
        config = self.write('[defaults]\npolicy = "nvidia"\n[capture]\nb = ["files:5", "filesize:10"]\nB = 16\np = true\n'
                            'f = "udp port 4791 \\"\\\\"\n[policy.learn]\nc = 10\n')
        status, out, err = self.run_program("config", "show", config)
        self.assertEqual((status, err), (0, ""))
        self.assertIn(f"B = 16  # {config}:5\n", out)
        with open(config, "rb") as file:
            self.assertEqual(tomllib.loads(out), tomllib.load(file))
        self.assertEqual(self.run_program("config", "check", self.write(out, "shown.toml"))[0], 0)

    def test_every_option_of_capture_is_a_key(self):
        out = self.run_program("capture", "--help")[1]
        names = [(short or long) for short, long in re.findall(r"^  (?:-(\w)|--([\w-]+))[ ,]", out, re.MULTILINE)]
        self.assertGreater(len(names), 40)
        for name in names:
            if name in ("h", "config"):
                continue
            err = self.run_program("config", "check", self.write(f"[capture]\n{name} = []\n"))[2]
            self.assertNotIn("no key", err, name)
            self.assertNotEqual(err, "", name)

    def test_defaults_mean_the_same_in_all_commands(self):
        """An option of [defaults] has one description, whatever the command."""
        commands = ("report", "flows", "packets", "compare", "check", "capture", "host", "export", "why", "devices")
        names = ("policy", "link-speed", "pause-storm", "pfc-watchdog", "trimmed-dscp", "mrc-port", "decode-as", "roce-ip-protocol", "no-icrc", "time", "color")
        for name in names:
            told = set()
            for command in commands:
                out = self.run_program(command, "--help")[1]
                for found in re.findall(rf"^  --{name}(?: [^\n]*?)?(?:  +|\n +)(\S[^\n]*)$", out, re.MULTILINE):
                    told.add(found)
            self.assertTrue(told, name)
            self.assertEqual(len(told), 1, (name, told))


if __name__ == "__main__":
    unittest.main()
