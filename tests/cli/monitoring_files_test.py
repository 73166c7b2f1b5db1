#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples for Prometheus and Grafana: promtool accepts the rules and each expression of the dashboard, the rules
fire when they should, and every metric named is one that there is.
Usage: monitoring_files_test.py ROCEANALYZE SAMPLES"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

DOCS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs")
RULES = os.path.join(DOCS, "prometheus")
del sys.argv[1:3]
METRIC = re.compile(r"\b(?:roceanalyze|process)_[a-z0-9_]+")


def read(*path):
    with open(os.path.join(DOCS, *path), encoding="utf-8") as file:
        return file.read()


def documented():
    return set(re.findall(r"^\| `((?:roceanalyze|process)_[a-z0-9_]+)`", read("metrics.md"), re.MULTILINE))


def expressions():
    panels = json.loads(read("grafana", "roceanalyze.json"))["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


class MonitoringFiles(unittest.TestCase):
    def promtool(self, *words):
        if shutil.which("promtool") is None:
            self.skipTest("there is no promtool here (Debian: prometheus)")
        done = subprocess.run(["promtool", *words], check=False, timeout=120, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_rules_are_rules(self):
        self.promtool("check", "rules", os.path.join(RULES, "roceanalyze.rules.yml"))

    def test_rules_fire_when_they_should(self):
        self.promtool("test", "rules", os.path.join(RULES, "roceanalyze.test.yml"))

    def test_every_rule_is_tested(self):
        alerts = re.findall(r"alert: (\w+)", read("prometheus", "roceanalyze.rules.yml"))
        self.assertGreater(len(alerts), 5)
        test = read("prometheus", "roceanalyze.test.yml")
        for alert in alerts:
            self.assertIn(f"alertname: {alert}}}", test)
            self.assertIn(f'alertname="{alert}"', test)

    def test_expressions_of_the_dashboard_are_expressions(self):
        rules = [{"record": f"panel:expression{number}",
                  "expr": expression.replace("$__rate_interval", "5m").replace("$instance", ".*").replace("$device", ".*")}
                 for number, expression in enumerate(expressions())]
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:  # JSON is YAML
            json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)
            file.flush()
            self.promtool("check", "rules", file.name)

    def test_every_metric_named_is_there(self):
        there = documented()
        self.assertGreater(len(there), 30)
        for text in [*expressions(), read("prometheus", "roceanalyze.rules.yml"), read("prometheus", "roceanalyze.test.yml")]:
            for name in METRIC.findall(text):
                self.assertIn(name, there, text)

    def test_panels_of_the_dashboard_lie_side_by_side(self):
        taken = set()
        panels = json.loads(read("grafana", "roceanalyze.json"))["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        for panel in panels:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(taken & cells, panel["title"])
            taken |= cells


if __name__ == "__main__":
    unittest.main()
