#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What commands write as JSON against its own schema (`roceanalyze schema`): all samples and all commands, no key that the
schema does not have. Usage: schema_test.py ROCEANALYZE SAMPLES"""

import json
import multiprocessing
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import jsonschema
except ImportError:
    print("skipped: needs python3-jsonschema")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
import ipfix_export  # noqa: E402
import mrc_fabric  # noqa: E402
import sflow_export  # noqa: E402
from sflow_export import variants  # noqa: E402

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
TABLES = ("flows", "connections", "incidents", "paths", "markings", "pauses", "dcbx")
# Questions of `fleet` that need no key of the store.
QUESTIONS = ("overview", "top", "loss", "clocks", "pairs", "incidents", "findings", "diagnoses", "marks", "hosts", "changes", "drops",
             "storm", "latency", "heat")
OPTIONS = ("--link-speed", "100G", "--pfc-watchdog", "1ms,2ms")
# Kinds of objects that nothing here has: what they look like is known from their table alone.
NOT_HERE = {"export_port", "export_port_pfc", "export_queue", "mrc_refusal"}


def run(*words, statuses=(0, 1, 3)):
    env = {**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
    done = subprocess.run([PROGRAM, *words], check=False, timeout=120, capture_output=True, env=env, cwd=SAMPLES)
    assert done.returncode in statuses, (words, done.returncode, done.stderr)
    return done.stdout.decode()


def once_each(pairs):
    """An object of which no key is there twice."""
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), sorted(key for key in keys if keys.count(key) > 1)
    return dict(pairs)


def schemas():
    names = [line.split()[0] for line in run("schema").splitlines()[1:]]
    return {name: json.loads(run("schema", name)) for name in names}


SCHEMAS = schemas()
VALIDATORS = {name: jsonschema.Draft202012Validator(schema) for name, schema in SCHEMAS.items()}


def kinds_in(schema, definitions, value, found):
    """Adds the kinds of objects that the value has."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        found.add(name)
        for key, each in value.items():
            kinds_in(definitions[name]["properties"][key], definitions, each, found)
    elif "anyOf" in schema and value is not None:
        for choice in schema["anyOf"]:
            if "$ref" in choice and len(schema["anyOf"]) == 2:
                kinds_in(choice, definitions, value, found)
    elif isinstance(value, list):
        for each in value:
            kinds_in(schema["items"], definitions, each, found)
    elif isinstance(value, dict):
        for each in value.values():
            kinds_in(schema["additionalProperties"], definitions, each, found)


def wrong_in(name, text, of):
    """What is wrong with each line of a document, in words."""
    wrong = []
    for line in text.splitlines():
        error = next(VALIDATORS[name].iter_errors(json.loads(line, object_pairs_hook=once_each)), None)
        if error is not None:
            wrong.append(f"{of}: {error.json_path}: {error.message[:200]}")
    return wrong


def tlv(kind, value):
    return struct.pack(">H", kind << 9 | len(value)) + value


def lldp(source, enabled):
    """DCBX of IEEE 802.1Q: ETS, its recommendation, PFC, an application."""
    def ieee(subtype, value):
        return tlv(127, b"\x00\x80\xc2" + bytes([subtype]) + value)
    tables = bytes(4) + bytes([100]) + bytes(7) + bytes([2]) * 8
    body = tlv(1, b"\x04" + source) + tlv(2, b"\x05eth0") + tlv(3, struct.pack(">H", 120)) + ieee(9, b"\x88" + tables) + \
        ieee(10, b"\0" + tables) + ieee(11, bytes([0x88, enabled])) + ieee(12, bytes([0, 3 << 5 | 3, 0x12, 0xB7])) + tlv(0, b"")
    return bytes.fromhex("0180c200000e") + source + b"\x88\xcc" + body


def pfc(source, quanta):
    return bytes.fromhex("0180c2000001") + source + struct.pack(">HHH8H", 0x8808, 0x0101, 8, 0, 0, 0, quanta, 0, 0, 0, 0) + \
        bytes(28)


def links():
    """Two ports that announce themselves, pause each other, and CNPs."""
    ports, frames = (bytes.fromhex("020000000001"), bytes.fromhex("0200000000f1")), []
    for i, enabled in enumerate((8, 8, 16)):
        frames += [(i * 10**9, lldp(port, enabled)) for port in ports]
    for i in range(40):
        frames += [(3 * 10**9 + i * 100_000, pfc(port, 0xFFFF)) for port in ports]
    for i in range(60):
        frames.append((4 * 10**9 + i * 50_000, sflow_export.roce_frame("10.0.0.1", "10.0.0.2", 17 + i % 2, i, 0x81)))
    return [(10**18 + time, len(frame), frame) for time, frame in frames]


def fast_cnps():
    """Of a switch, for packets to queue pair 0x22 of another host (tests/dissect/fast_cnp_test.cpp)."""
    switch, sender, receiver = (bytes.fromhex("fd77" + 24 * "0" + end) for end in ("0007", "0001", "0002"))
    options = b"\x11\x02\x1e\x10" + receiver + b"\x01\x02\0\0"
    cnp = struct.pack(">HHHHBBHII", 49152, 4791, 40, 0, 0x81, 0x40, 0xFFFF, 0x22, 0) + bytes(20)
    frame = bytes(12) + b"\x86\xdd" + struct.pack(">IHBB", 0x60000000, len(options + cnp), 60, 64) + switch + sender + options + cnp
    return [(10**18 + 1000 * i, len(frame), frame) for i in range(3)]


def generated():
    """Captures of what no sample has: names and records."""
    loss = list(variants.read(os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst")))
    told = [(200 + i, {"lost": "before_capture", "connection": 0, "direction": "a_to_b", "kind": "write", "psn": i})
            for i in range(20)]
    ends = {0: {"a": {"address": "10.77.0.1", "qp": 71}, "b": {"address": "10.77.0.2", "qp": 71}}}
    yield "sflow", sflow_export.export(loss, 8, 1, told, ends)[0]
    yield "ipfix", ipfix_export.export(loss, ipfix_export.Switch(8, 1), told, ends)[0]
    yield "mrc", mrc_fabric.make(1, "lost_answers_too", 1500)[0]
    yield "mrc_trims", mrc_fabric.make(1, "trims_and_losses", 1500)[0]
    yield "sampled", [record for i, record in enumerate(loss) if i % 4 == 0]
    yield "hole", loss[:1200] + loss[1300:]
    yield "links", links()
    yield "fast_cnps", fast_cnps()


def check_sample(sample):
    """(what is wrong, kinds of objects in the report)"""
    report = run("report", "--json", sample, *OPTIONS)
    document, kinds = json.loads(report), set()
    wrong = wrong_in("report", report, f"report {sample}")
    if not wrong:
        kinds_in({"$ref": SCHEMAS["report"]["$ref"]}, SCHEMAS["report"]["$defs"], document, kinds)
    for table in TABLES:
        wrong += wrong_in(table, run(table, "--json", sample, *OPTIONS), f"{table} {sample}")
    wrong += wrong_in("packets", run("packets", "-T", "json", "-c", "24", sample), f"packets {sample}")
    queue_pairs = [c["a"]["qp"] or c["b"]["qp"] for c in document["connections"][:1]]
    if queue_pairs:
        wrong += wrong_in("why", run("why", "--json", "--qp", str(queue_pairs[0]), sample), f"why {sample}")
    return wrong, kinds


def samples():
    with open(os.path.join(SAMPLES, "manifest.json"), encoding="utf-8") as file:
        json.load(file)  # what is no capture
    return sorted(name for name in os.listdir(SAMPLES) if ".pcap" in name)


class Schemas(unittest.TestCase):
    def none_wrong(self, name, text, of):
        self.assertTrue(text.strip(), of)
        self.assertEqual(wrong_in(name, text, of), [])

    def test_schemas_are_schemas(self):
        self.assertEqual(run("schema").splitlines()[0].split()[:2], ["document", "version"])
        for name, schema in SCHEMAS.items():
            jsonschema.Draft202012Validator.check_schema(schema)
            for kind, each in schema["$defs"].items():
                self.assertIs(each["additionalProperties"], False, (name, kind))
                self.assertEqual(len(each["required"]), len(set(each["required"])), (name, kind))
                for key, value in each["properties"].items():
                    self.assertTrue(value["description"], (name, kind, key))

    def test_keys_stand_in_the_documents(self):
        docs = os.path.join(os.path.dirname(SAMPLES), "docs")
        words = set()
        for name in ("output.md", "exports.md", "compare.md", "fleet.md"):
            with open(os.path.join(docs, name), encoding="utf-8") as file:
                words.update(re.findall(r"[a-z0-9_]+", file.read()))
        for name in ("report", "paths", "why", "compare", "capture", "host", "host-facts", "store"):
            for kind, each in SCHEMAS[name]["$defs"].items():
                self.assertLessEqual(set(each["properties"]), words, (name, kind))

    def test_a_key_that_is_not_in_the_schema_fails(self):
        document = json.loads(run("report", "--json", "03_rping.pcap"))
        document["flows"][0]["unheard_of"] = 1
        self.assertTrue(wrong_in("report", json.dumps(document), ""))
        del document["flows"][0]["unheard_of"], document["flows"][0]["packets"]
        self.assertTrue(wrong_in("report", json.dumps(document), ""))

    def test_samples_and_commands(self):
        with multiprocessing.Pool(min(os.cpu_count() or 1, 4)) as pool, tempfile.TemporaryDirectory() as folder:
            made = []
            for name, records in generated():
                made.append(os.path.join(folder, name + ".pcap"))
                variants.write(made[-1], records)
            results = pool.map(check_sample, samples() + made, chunksize=1)
        self.assertEqual([each for wrong, _ in results for each in wrong], [])
        met = set().union(*(kinds for _, kinds in results))
        self.assertEqual(set(SCHEMAS["report"]["$defs"]) - met, NOT_HERE)

    def test_check_and_export(self):
        for sample in ("08_vlan100_dscp26_pcp3.pcap.zst", "04_write_loss1.cb.pcap.zst"):
            self.none_wrong("report", run("check", "--json", "--policy", "nvidia", sample), f"check {sample}")
            with tempfile.TemporaryDirectory() as folder:
                for ending, name in (("json", "report"), ("ndjson", "export")):
                    path = os.path.join(folder, "x." + ending)
                    run("export", sample, "-o", path)
                    with open(path, encoding="utf-8") as file:
                        self.none_wrong(name, file.read(), f"export {ending} {sample}")

    def test_compare(self):
        for a in samples():
            b = a.replace(".ca.", ".cb.")
            if a != b and b in samples():
                self.none_wrong("compare", run("compare", "--json", a, b), f"compare {a} {b}")

    def test_host(self):
        self.none_wrong("host-facts", run("devices", "--json"), "devices")
        with tempfile.TemporaryDirectory() as folder:
            before = os.path.join(folder, "before.json")
            run("host", "--snapshot", before)
            with open(before, encoding="utf-8") as file:
                self.none_wrong("host-facts", file.read(), "host --snapshot")
            self.none_wrong("host", run("host", "--json", "--before", before, "--after", before), "host --before")

    def test_capture(self):
        words = (PROGRAM, "capture", "-i", "lo", "--json", "--every", "500ms", "-a", "duration:3")
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as capture:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
                psn = 0
                while capture.poll() is None:
                    # SEND Only; its ICRC is wrong, so that there is a finding.
                    udp.sendto(struct.pack(">BBHII", 4, 0x40, 0xFFFF, 17, psn & 0xFFFFFF) + bytes(20), ("127.0.0.1", 4791))
                    psn += 1
                    time.sleep(0.002)
            out, err = capture.stdout.read(), capture.stderr.read()
        if capture.returncode == 3 and not out:
            self.skipTest("capturing on lo: " + err)
        self.none_wrong("capture", out, "capture")
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertLessEqual({"summary", "finding"}, {line.get("kind") for line in lines})
        self.assertTrue(any(line.get("worst_connections") for line in lines))
        self.assertTrue(lines[-1]["final"])

    def test_fleet(self):
        with tempfile.TemporaryDirectory() as folder:
            store = os.path.join(folder, "fleet.store")
            for host, side in (("a", "ca"), ("b", "cb")):
                run("export", f"04_write_loss1.{side}.pcap.zst", "-o", store, "--host", host)
            self.none_wrong("store", run("store", "status", "--json", store), "store status")
            for question in QUESTIONS:
                self.none_wrong("fleet", run("fleet", question, "--from", store, "--json"), f"fleet {question}")
            top = json.loads(run("fleet", "top", "--from", store, "--json"))["rows"][0]
            for question in ("flow", "connection"):
                answer = run("fleet", question, str(top[question]), "--from", store, "--json")
                self.none_wrong("fleet", answer, f"fleet {question}")


if __name__ == "__main__":
    unittest.main()
