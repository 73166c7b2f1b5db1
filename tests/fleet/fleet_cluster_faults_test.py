#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong between a spool and a cluster of ClickHouse: nothing is lost, nothing doubled, each thing is said. Usage:
fleet_cluster_faults_test.py ROCEANALYZE SAMPLES"""

import signal
import sys
import time
import unittest

import clickhouse
import generator
from shipping import HOSTS, Shipping, run


class ClusterFaults(Shipping, unittest.TestCase):
    """Two shards by two replicas; the first server takes what is shipped."""

    @classmethod
    def setUpClass(cls):
        cls.prepare()
        cls.tests = 0
        cls.cluster = clickhouse.Cluster(cls.home + "/cluster")
        cls.cluster.start()
        cls.server = cls.cluster.servers[0]
        cls.target = cls.cluster.address
        assert run("store", "init", cls.target)[0] == 0

    @classmethod
    def tearDownClass(cls):
        cls.cluster.end()
        cls.folder.cleanup()

    def setUp(self):
        """Each test has rows of its own: blocks that were removed are not taken a second time."""
        type(self).tests += 1
        self.spool = f"{self.home}/spool{self.tests}"
        self.truth = generator.generate(self.spool, hosts=HOSTS, flows=4, intervals=60, seed=100 + self.tests)
        self.level()
        self.of_before = self.counts(self.server)

    def level(self):
        """Waits until replicas have fetched what they lack."""
        end = time.monotonic() + 120
        for first, second in (self.cluster.servers[:2], self.cluster.servers[2:]):
            while True:
                sides = [[s.number(f"SELECT count() FROM roce.{table}_local") for table in ("intervals", "pairs")] +
                         [s.number("SELECT count() FROM system.replication_queue WHERE type = 'GET_PART'")] for s in (first, second)]
                if sides[0] == sides[1] and sides[0][-1] == 0:
                    break
                self.assertLess(time.monotonic(), end, sides)
                time.sleep(0.1)

    @staticmethod
    def counts(server):
        rows = [server.number(f"SELECT count() FROM roce.{table}") for table in ("intervals", "pairs", "heartbeats")]
        return [*rows, server.number("SELECT uniqExact((run, seq, row)) FROM roce.intervals")]

    def all_once(self):
        """By each server: it asks its own replica, and one of the other shard."""
        self.assertEqual(self.waiting(), 0)
        self.level()
        wanted = [self.truth.rows, self.truth.rows, self.truth.batches, self.truth.rows]
        for server in self.cluster.servers:
            self.assertEqual([now - before for now, before in zip(self.counts(server), self.of_before)], wanted, server.home)

    def is_refused(self):
        status, _, err = run("ship", self.spool, "--to", self.target, "--once")
        self.assertEqual(status, 3)
        self.assertIn(self.target, err)
        self.assertEqual(self.waiting(), self.truth.batches)

    def is_taken(self):
        end = time.monotonic() + 120
        while run("ship", self.spool, "--to", self.target, "--once")[0] != 0:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.2)
        self.all_once()

    def test_a_replica_that_is_lost_and_comes_back(self):
        lost = self.cluster.servers[1]
        shipping = self.ship_on()
        time.sleep(0.2)
        lost.end(signal.SIGKILL)
        self.assertEqual(self.ends(shipping), "")  # the other one takes all
        lost.start()
        self.all_once()

    def test_the_server_that_takes_batches_is_killed(self):
        shipping = self.ship_on()
        time.sleep(0.3)
        self.server.end(signal.SIGKILL)
        time.sleep(1)
        self.server.start()
        words = self.ends(shipping)
        self.all_once()
        self.assertLess(len(words.splitlines()), 8, words)

    def test_a_shard_that_is_away(self):
        """Nothing is taken for one shard only; answers say that they lack it."""
        for server in self.cluster.servers[2:]:
            server.end(signal.SIGKILL)
        self.is_refused()
        status, _, err = run("fleet", "overview", "--from", self.target)
        self.assertEqual(status, 0, err)
        self.assertIn("a shard of the cluster does not answer", err)
        for server in self.cluster.servers[2:]:
            server.start()
        self.is_taken()

    def test_zookeeper_that_is_away(self):
        self.cluster.end_zookeeper()
        self.is_refused()
        self.assertEqual(run("fleet", "overview", "--from", self.target)[0], 0)
        self.cluster.start_zookeeper()
        self.is_taken()


if __name__ == "__main__":
    if clickhouse.SERVER is None or clickhouse.ZOOKEEPER is None:
        print(clickhouse.WHY_SKIPPED if clickhouse.SERVER is None else "skipped: " + clickhouse.WHY_NO_CLUSTER)
        sys.exit(clickhouse.SKIPPED)
    unittest.main()
