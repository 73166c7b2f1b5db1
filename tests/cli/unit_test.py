#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The systemd unit: systemd accepts every line of it, finds it well confined, and the program knows every option that
it is started with. Usage: unit_test.py ROCEANALYZE SAMPLES"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
sys.argv.pop(1)
DOCS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs")
UNIT, DROP_IN = "roceanalyze@.service", "rdma.conf"
MOST_EXPOSURE = 20  # tenths of systemd's scale: 100 is not confined at all


def read(name):
    with open(os.path.join(DOCS, "systemd", name), encoding="utf-8") as file:
        return file.read()


def quoted(path):
    """As one word of a unit's line (systemd.syntax(7), systemd.unit(5): Specifiers)."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"'


class Unit(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def analyze(self, *words):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("there is no systemd-analyze here (Debian: systemd)")
        done = subprocess.run(["systemd-analyze", *words], check=False, timeout=120, capture_output=True, text=True,
                              env={**os.environ, "SYSTEMD_PAGER": ""})
        return done.returncode, done.stdout, done.stderr

    def unit(self, drop_in=False):
        """The unit as installed, but for the place of the program."""
        path = os.path.join(self.folder, UNIT)
        with open(path, "w", encoding="utf-8") as file:
            file.write(read(UNIT).replace("/usr/local/bin/roceanalyze", quoted(PROGRAM)))
        if drop_in:
            os.mkdir(path + ".d")
            with open(os.path.join(path + ".d", DROP_IN), "w", encoding="utf-8") as file:
                file.write(read(DROP_IN))
        return path

    def test_systemd_accepts_every_line(self):
        for drop_in in (False, True):
            status, out, err = self.analyze("verify", "--man=no", self.unit(drop_in))
            if "Failed to" in err and "bus" in err:
                self.skipTest(err)
            self.assertEqual((status, out + err), (0, ""))
            shutil.rmtree(self.folder)
            os.mkdir(self.folder)

    def test_it_is_confined(self):
        status, out, err = self.analyze("security", "--offline=true", f"--threshold={MOST_EXPOSURE}", "--no-pager",
                                        self.unit())
        if "unrecognized option" in err:
            self.skipTest("this systemd judges no unit that is not loaded")
        self.assertEqual(status, 0, out + err)

    def test_the_program_knows_its_options(self):
        text = read(UNIT)
        variables = dict(re.findall(r'^Environment="(\w+)=(.*)"$', text, re.MULTILINE))
        line = re.search(r"^ExecStart=(.*)$", text, re.MULTILINE).group(1)
        for name, value in variables.items():
            line = line.replace("$" + name, value)
        device = "roce-no-such"
        line = line.replace("%I", device).replace("%i", device).replace("%S", self.folder)
        self.assertNotRegex(line, r"[$%]")
        os.makedirs(os.path.join(self.folder, "roceanalyze", device))
        words = shlex.split(line)
        done = subprocess.run([PROGRAM, *words[1:]], check=False, timeout=60, capture_output=True, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)  # not 2: wrong usage
        self.assertIn(device, done.stderr)

    def test_its_installation_is_described(self):
        with open(os.path.join(DOCS, "capture.md"), encoding="utf-8") as file:
            text = file.read()
        for name in (UNIT, DROP_IN, "/etc/default/roceanalyze@"):
            self.assertIn(name, text)


if __name__ == "__main__":
    unittest.main()
