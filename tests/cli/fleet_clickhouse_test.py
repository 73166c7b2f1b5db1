#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of a store in ClickHouse: its statements run, all columns take what SQLite has, sums are equal, and keys are those
that ClickHouse computes. Skipped without clickhouse-server. Usage: fleet_clickhouse_test.py ROCEANALYZE SAMPLES"""

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
SKIPPED = 77
PATIENCE = 60
SERVER = shutil.which("clickhouse-server") or shutil.which("clickhouse-server", path="/usr/sbin:/usr/bin")
# `yandex` is what the root element was called in 2018.
CONFIG = """<yandex><logger><level>warning</level><log>{0}/server.log</log><errorlog>{0}/error.log</errorlog></logger>
<listen_host>127.0.0.1</listen_host><http_port>{1}</http_port><tcp_port>{2}</tcp_port><path>{0}/data/</path><tmp_path>{0}/tmp/</tmp_path>
<users_config>users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
<timezone>UTC</timezone><mark_cache_size>5368709</mark_cache_size><remote_servers/></yandex>"""
USERS = """<yandex><profiles><default><max_memory_usage>1000000000</max_memory_usage></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
<quotas><default><interval><duration>3600</duration><queries>0</queries><errors>0</errors><result_rows>0</result_rows><read_rows>0</read_rows>
<execution_time>0</execution_time></interval></default></quotas></yandex>"""


def run(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cell(value):
    text = str(value)
    for plain, escaped in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(plain, escaped)
    return text


class ClickHouse(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        home = cls.folder.name
        cls.port = free_port()
        for name, text in (("config.xml", CONFIG.format(home, cls.port, free_port())), ("users.xml", USERS)):
            with open(os.path.join(home, name), "w", encoding="ascii") as file:
                file.write(text)
        cls.server = subprocess.Popen([SERVER, f"--config-file={home}/config.xml"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                cls.ask("SELECT 1")
                break
            except OSError:
                assert cls.server.poll() is None and time.monotonic() < end, "clickhouse-server does not begin"
                time.sleep(0.1)
        cls.store = os.path.join(home, "fleet.store")
        for end_of, host, address in (("ca", "a", "10.77.0.1"), ("cb", "b", "10.77.0.2")):
            run("export", os.path.join(SAMPLES, f"04_write_loss1.{end_of}.pcap.zst"), "-o", cls.store, "--host", host, "--address", address,
                "--label", "odd=a\tb\\c", "--fabric", "east")

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.server.wait(timeout=PATIENCE)
        cls.folder.cleanup()

    @classmethod
    def ask(cls, sql, data=b""):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{cls.port}/", sql.encode() + data, timeout=PATIENCE) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{sql[:200]}: {error.read().decode()}") from error

    def test_tables_take_what_sqlite_has(self):
        for statement in 2 * run("store", "schema", "--engine", "clickhouse").splitlines():  # run again, they change nothing
            self.ask(statement.rstrip(";"))
        base = sqlite3.connect(self.store)
        self.addCleanup(base.close)
        for table in json.loads(run("store", "status", self.store, "--json"))["tables"]:
            name = table["name"]
            rows = base.execute(f"SELECT * FROM {name}")
            columns = [column[0] for column in rows.description]
            lines = "".join("\t".join(map(cell, row)) + "\n" for row in rows)
            self.ask(f"INSERT INTO roce.{name} ({', '.join(columns)}) FORMAT TabSeparated\n", lines.encode())
            numbers = [kind[0] for kind in base.execute(f"SELECT name FROM pragma_table_info('{name}') WHERE type = 'INTEGER'")]
            texts = [kind[0] for kind in base.execute(f"SELECT name FROM pragma_table_info('{name}') WHERE type = 'TEXT'")]
            theirs = self.ask(f"SELECT count(){''.join(f', max(toInt64({n}))' for n in numbers)} FROM roce.{name}").split("\t")
            ours = base.execute(f"SELECT COUNT(*){''.join(f', MAX({n})' for n in numbers)} FROM {name}").fetchone()
            self.assertEqual([int(each) for each in theirs], [each or 0 for each in ours], name)
            for text in texts:
                if base.execute(f"SELECT MAX({text} LIKE '[%') FROM {name}").fetchone()[0]:
                    continue  # arrays
                self.assertEqual(json.loads(self.ask(f"SELECT max({text}) AS m FROM roce.{name} FORMAT JSON"))["data"][0]["m"],
                                 base.execute(f"SELECT COALESCE(MAX({text}), '') FROM {name}").fetchone()[0], (name, text))
        wrong = self.ask("SELECT countIf(pair_key != sipHash64(concat('east|', if(src < dst, src, dst), '|', if(src < dst, dst, src))) % "
                         "9223372036854775808), countIf(flow_key != sipHash64(concat('east|', src, '|', dst, '|', toString(dst_qp))) % "
                         "9223372036854775808), count() > 0 FROM roce.intervals")
        self.assertEqual(wrong.split(), ["0", "0", "1"])


if __name__ == "__main__":
    if SERVER is None:
        print("skipped: clickhouse-server is missing (apt-get install --no-install-recommends clickhouse-server)")
        sys.exit(SKIPPED)
    unittest.main()
