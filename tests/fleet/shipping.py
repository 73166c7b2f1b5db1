# SPDX-License-Identifier: Apache-2.0
"""What tests of shipping have in common. Their arguments: ROCEANALYZE SAMPLES."""

import glob
import os
import shutil
import signal
import subprocess
import sys
import time

import clickhouse
import generator

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
HOSTS = 12


def run(*words, **more):
    env = {**os.environ, "LC_ALL": "C.UTF-8", **more}
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False, timeout=300, env=env)
    return done.returncode, done.stdout, done.stderr


class Shipping:
    """Batches of HOSTS hosts in a spool, for self.target, which self.server answers for."""

    @classmethod
    def prepare(cls):
        cls.folder = clickhouse.folder()
        cls.home = cls.folder.name
        cls.truth = generator.generate(cls.home + "/all", hosts=HOSTS, flows=4, intervals=60)

    def fill(self):
        self.spool = os.path.join(self.home, "spool")
        shutil.rmtree(self.spool, ignore_errors=True)
        shutil.copytree(self.home + "/all", self.spool)

    def waiting(self):
        return len(glob.glob(self.spool + "/*.batch"))

    def all_once(self):
        self.assertEqual(self.waiting(), 0)
        self.assertEqual(self.server.number("SELECT count() FROM roce.intervals"), self.truth.rows)
        self.assertEqual(self.server.number("SELECT uniqExact((run, seq, row)) FROM roce.intervals"), self.truth.rows)
        self.assertEqual(self.server.number("SELECT count() FROM roce.pairs"), self.truth.rows)
        self.assertEqual(self.server.number("SELECT count() FROM roce.heartbeats"), self.truth.batches)

    def ship(self):
        """Not while the server still adds what a killed client had sent: that is refused, and said."""
        end = time.monotonic() + 60
        while True:
            status, out, err = run("ship", self.spool, "--to", self.target, "--once")
            if status == 0 or "is still at work on a batch" not in err or time.monotonic() > end:
                break
            time.sleep(0.2)
        self.assertEqual((status, out), (0, ""), err)

    def ship_on(self):
        """As a unit of the host does; what it says is in self.home/said."""
        with open(self.home + "/said", "w", encoding="utf-8") as said:
            return subprocess.Popen([PROGRAM, "ship", self.spool, "--to", self.target], stderr=said)

    def ends(self, shipping):
        """Once all is shipped; what was said."""
        end = time.monotonic() + 150
        while self.waiting() and time.monotonic() < end:
            time.sleep(0.1)
        shipping.send_signal(signal.SIGTERM)
        self.assertEqual(shipping.wait(timeout=90), 0)
        with open(self.home + "/said", encoding="utf-8") as said:
            return said.read()
