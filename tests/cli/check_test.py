#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check, policy learn and --policy: exit statuses, lines, JSON, JUnit XML, filters; the samples judged by their own
policies and by those of others. Usage: check_test.py ROCEANALYZE SAMPLES"""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from concurrent.futures import ThreadPoolExecutor

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
PROFILES = ["nvidia", "broadcom-thor2", "cisco-nxos", "arista", "sonic", "gaudi3", "huawei-hccl", "ucx"]


def captures():
    return sorted(os.path.join(SAMPLES, name) for name in os.listdir(SAMPLES) if ".pcap" in name)


def run(*words, cwd=None):
    done = subprocess.run([PROGRAM, *words], check=False, timeout=300, capture_output=True, cwd=cwd)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def udp_frame(tos, ttl=64, source=1, destination=2, opcode=0x0a, psn=0, vlan=None, udp_port=49152):
    """A RoCE v2 frame by the books of RFC 791, 768 and the IBTA; its ICRC is not looked at here."""
    bth = struct.pack(">BBHII", opcode, 0, 0xffff, 0x11, psn)
    reth = b"" if opcode != 0x0a else struct.pack(">QII", 0x1000, 1, 4) + b"data"
    payload = bth + (b"\0" * 16 if opcode == 0x81 else reth if opcode == 0x0a else b"\x1f\0\0\0") + b"\0\0\0\0"
    udp = struct.pack(">HHHH", udp_port, 4791, 8 + len(payload), 0) + payload
    head = struct.pack(">BBHHHBBH4s4s", 0x45, tos, 20 + len(udp), psn, 0x4000, ttl, 17, 0,
                       bytes((10, 0, 0, source)), bytes((10, 0, 0, destination)))
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xffff) + (total >> 16)
    head = head[:10] + struct.pack(">H", ~((total & 0xffff) + (total >> 16)) & 0xffff) + head[12:]
    tag = b"" if vlan is None else struct.pack(">HH", 0x8100, vlan)
    return bytes(10) + b"\2\1" + tag + b"\x08\0" + head + udp


def write_capture(path, frames):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for number, frame in enumerate(frames):
            file.write(struct.pack("<IIII", 1_700_000_000, number, len(frame), len(frame)) + frame)


class Check(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.capture = os.path.join(cls.folder.name, "marks.pcap")
        # Data DSCP 26 ECT(0); packets 4 and 5 are wrong in DSCP, 6 in ECN, 7 (an ACK) in DSCP, 8 a CNP with DSCP 26.
        write_capture(cls.capture, [
            udp_frame(106, psn=0), udp_frame(106, psn=1), udp_frame(107, psn=2), udp_frame(0x02, psn=3),
            udp_frame(0x62, psn=4), udp_frame(104, psn=5),
            udp_frame(0x00, source=2, destination=1, opcode=0x11, psn=5),
            udp_frame(104, source=2, destination=1, opcode=0x81)])

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_list_and_show(self):
        status, out, _ = run("check", "--list-policies")
        self.assertEqual((status, [line.split()[0] for line in out.splitlines()]), (0, PROFILES))
        for name in PROFILES:
            status, out, err = run("check", "--show-policy", name)
            self.assertEqual((status, err), (0, ""))
            shown = self.path(name + ".toml", out)
            for capture in (self.capture, *captures()[:3]):
                by_name, by_file = (run("check", capture, "--policy", p, "--json") for p in (name, shown))
                self.assertEqual(by_name[0], by_file[0])
                self.assertEqual(by_name[1].replace(name, "P"), by_file[1].replace(shown, "P").replace(name, "P"))
        status, _, err = run("check", "--show-policy", "nvidai")
        self.assertEqual(status, 2)
        self.assertIn("--show-policy: no profile nvidai; profiles are", err)
        self.assertIn("did you mean 'nvidia'?", err)

    def test_exit_status(self):
        self.assertEqual(run("check", self.capture, "--policy", "nvidia")[0], 1)
        self.assertEqual(run("check", self.capture, "--policy", "nvidia", "--fail-on", "error")[0], 0)
        anything = self.path("anything.toml", "")
        status, out, _ = run("check", self.capture, "--policy", anything, "--fail-on", "error")
        self.assertEqual(status, 0, out)
        self.assertEqual(run("check", self.capture)[0], 2)
        self.assertEqual(run("check", "--policy", "nvidia")[0], 2)
        self.assertEqual(run("check", "/nonexistent", "--policy", "nvidia")[0], 3)
        self.assertEqual(run("check", self.capture, "--policy", "nvidia", "--fail-on", "never")[0], 2)
        # On the scale of diagnoses: the losses cost time, and ended nothing.
        loss = os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst")
        for level, expected in (("odd", 1), ("degraded", 1), ("fatal", 0)):
            self.assertEqual(run("report", loss, "--fail-on", level)[0], expected, level)
            self.assertEqual(run("check", loss, "--policy", "nvidia", "--fail-on", level)[0], expected, level)
        self.assertEqual(run("check", self.capture, "--policy", "nvidia", "--junit", "/nonexistent/x.xml")[0], 3)
        status, out, err = run("check", self.capture, "--policy", self.path("bad.toml", "trust = \"dcsp\"\n[clas]\n"))
        self.assertEqual((status, out), (2, ""))
        self.assertRegex(err, r"bad\.toml:1:9: expected \"dscp\" or \"pcp\", not \"dcsp\"; did you mean 'dscp'\?")
        self.assertRegex(err, r"bad\.toml:2:2: no key 'clas' in a policy; did you mean 'class'\?")

    def test_a_policy_that_is_none_is_not_quoted(self):
        """It may be a list of passwords that the user of the program may read, but not the reader of its messages."""
        secrets = ["root:$6$salt$h4sh:19000:0:99999:7:::", "hunter2", "password=hunter2", "key = trustno1",
                   "\"$6$salt$h4sh\" = 1", "4711", "pin = 98765432109876543210", "[\"s3cret\"", "a.b = \"\\s3cret\""]
        for i, secret in enumerate(secrets):
            listed = self.path(f"secret{i}", secret + "\n")
            for policy in (listed, self.path(f"other{i}.toml", f"traffic_class_file = \"{listed}\"\n")):
                status, out, err = run("check", self.capture, "--policy", policy)
                if status != 0:
                    self.assertEqual((status, out), (2, ""), secret)
                    self.assertRegex(err, rf"(secret|other){i}(\.toml)?:1:\d+: ", secret)
                for word in ("$6$", "h4sh", "hunter2", "trustno1", "trus", "4711", "98765", "s3cret"):
                    self.assertNotIn(word, err, secret)

    def test_a_pass_says_what_it_does_not_speak_for(self):
        nothing = self.path("nothing.pcap", "")
        write_capture(nothing, [bytes(12) + b"\x08\x06" + bytes(46)])
        status, out, err = run("check", nothing, "--policy", "nvidia")
        self.assertEqual((status, out), (3, ""))
        self.assertIn("no RoCE packets, so nothing to judge", err)
        right = self.path("right.pcap", "")
        write_capture(right, [udp_frame(106, psn=psn) for psn in range(10)])
        status, out, _ = run("check", right, "--policy", self.path("cnp.toml", "[class.cnp]\ndscp = 48\n"))
        self.assertEqual(status, 0)
        self.assertIn("not judged: no packet of the policy's class cnp\n", out)
        status, out, _ = run("check", right, "--policy", self.path("none.toml", "# later\n"))
        self.assertEqual(status, 0)
        self.assertIn("not judged: the policy has no rule for any packet\n", out)
        data = self.path("data.toml", "[class.data]\ndscp = 26\n")
        self.assertNotIn("not judged", run("check", right, "--policy", data)[1])
        # 136 different markings, more than a flow keeps.
        many = self.path("many.pcap", "")
        write_capture(many, [udp_frame(106, psn=n, ttl=64 + n) for n in range(136)])
        status, out, err = run("check", many, "--policy", data)
        self.assertEqual(status, 3)
        self.assertIn("not judged: 8 packets of flows with more markings than are kept per flow\n", out)
        self.assertRegex(out.splitlines()[-1], "^incomplete: ")
        self.assertIn("8 RoCE packets were not judged", err)
        unjudged = "8 packets of flows with more markings than are kept per flow"
        self.assertEqual(json.loads(run("check", many, "--policy", data, "--json")[1])["not_judged"], [unjudged])
        suite = xml.fromstring(run("check", many, "--policy", data, "--junit", "-")[1]).find("testsuite")
        self.assertEqual(suite.find("system-out").text,
                         "Too little was captured to judge losses and answers: a few packets, of one direction only.\n"
                         f"not judged: {unjudged}\n")
        self.assertEqual(xml.fromstring(run("check", right, "--policy", data, "--junit", "-")[1])
                         .find("testsuite").find("system-out").text,
                         "Too little was captured to judge losses and answers: a few packets, of one direction only.\n")
        self.assertEqual(json.loads(run("report", "--json", many)[1])["not_judged"], [])

    def test_without_roce_packets_nothing_has_passed(self):
        nothing = self.path("nothing.pcap", "")
        write_capture(nothing, [bytes(12) + b"\x08\x06" + bytes(46)])
        status, out, _ = run("check", nothing, "--policy", "nvidia", "--junit", "-")
        self.assertEqual(status, 3)
        suite = xml.fromstring(out).find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("0", "0"))
        self.assertEqual(suite.find("system-out").text, "not judged: there are no RoCE packets\n")

    def violations(self, *words):
        """id, rule -> number of packets, first packets"""
        status, out, err = run("report", "--json", *words)
        self.assertEqual(status, 0, err)
        found = {}
        for finding in json.loads(out)["findings"]:
            if finding["id"].startswith("policy_"):
                rule = re.match(r"Rule (\S+) of", finding["explanation"]).group(1)
                self.assertNotIn((finding["id"], rule), found)
                found[finding["id"], rule] = (finding["count"], finding["packets"])
        return found

    def test_every_wrong_packet_is_found_and_nothing_else(self):
        self.assertEqual(self.violations(self.capture, "--policy", "nvidia"), {
            ("policy_dscp", "class.data.dscp"): (2, [4, 5]),
            ("policy_ecn", "class.data.ecn"): (1, [6]),
            ("policy_dscp", "class.ack.dscp"): (1, [7]),
            ("policy_dscp", "class.cnp.dscp"): (1, [8])})
        status, out, _ = run("check", self.capture, "--policy", "nvidia")
        lines = [line for line in out.splitlines() if " policy_" in line]
        self.assertEqual(len(lines), 4, out)
        self.assertTrue(all(line.startswith("degraded policy_") for line in lines), out)
        self.assertRegex(out.splitlines()[-1], r"^failed: ")

    def test_matrix(self):
        rows = json.loads(run("report", "--json", self.capture, "--policy", "nvidia")[1])["markings"]
        verdicts = {(r["class"], r["dscp"], r["ecn"]): (r["packets"], r["verdict"]) for r in rows}
        self.assertEqual(verdicts, {("data", 26, "ect0"): (2, "ok"), ("data", 26, "ce"): (1, "ok"),
                                    ("data", 0, "ect0"): (1, "violation"), ("data", 24, "ect0"): (1, "violation"),
                                    ("data", 26, "not_ect"): (1, "violation"), ("ack", 0, "not_ect"): (1, "violation"),
                                    ("cnp", 26, "not_ect"): (1, "violation")})

        text = run("report", self.capture, "--policy", "nvidia")[1]
        self.assertIn("DSCP 26, ECT(0): 2, ok", text)
        self.assertRegex(text, r"DSCP 0, ECT\(0\): 1, violation\s+\(expected\s+DSCP\s+26")
        self.assertNotIn("violation", run("report", self.capture)[1])

    def test_field(self):
        def numbers(expression, *policy):
            return run("packets", self.capture, *policy, "-Y", expression, "-T", "fields", "-e", "frame.number",
                       "-e", "roce.marking.violation")[1]
        nvidia = ("--policy", "nvidia")
        self.assertEqual(numbers("roce.marking.violation", *nvidia),
                         "4\tclass.data.dscp\n5\tclass.data.dscp\n6\tclass.data.ecn\n7\tclass.ack.dscp\n"
                         "8\tclass.cnp.dscp\n")
        self.assertEqual(numbers("roce.marking.violation"), "")
        self.assertEqual(numbers('roce.marking.violation == "class.data.ecn"', *nvidia), "6\tclass.data.ecn\n")
        tree = run("packets", self.capture, *nvidia, "-V", "-Y", "frame.number == 6")[1]
        self.assertIn("[Marking violation: class.data.ecn: ECN ECT(1), ECT(0) or CE expected, ECN Not-ECT found]", tree)
        lines = run("packets", self.capture, *nvidia, "-T", "json", "-Y", "roce.marking.violation")[1].splitlines()
        self.assertEqual(len(lines), 5)
        self.assertIn('"roce.marking.violation"', lines[0])
        report = json.loads(run("report", self.capture, *nvidia, "--json", "-Y", "roce.marking.violation")[1])
        self.assertEqual(report["roce"]["packets"], 5)

    def test_commands_of_findings_show_the_packets(self):
        files = [(self.capture, p) for p in PROFILES] + [(f, "nvidia") for f in captures()]

        def look(item):
            capture, policy = item
            for finding in json.loads(run("report", "--json", capture, "--policy", policy)[1])["findings"]:
                if not finding["id"].startswith("policy_"):
                    continue
                command = re.search(r"roceanalyze (packets FILE.*? -Y) '([^']*)'", finding["advice"])
                words = [capture if w == "FILE" else w for w in command.group(1).split()]
                out = run(*words, command.group(2), "-T", "fields", "-e", "frame.number")[1].split()
                self.assertEqual(len(out), finding["count"], (item, finding["advice"]))
                self.assertLessEqual(set(finding["packets"]), set(map(int, out)), item)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(look, files))

    def test_traffic_class_file(self):
        rules = self.path("traffic_class", "tclass=96,src_ip=10.0.0.1,dst_ip=10.0.0.0/24\ntclass=0,src_ip=10.0.0.2\n")
        self.assertEqual(self.violations(self.capture, "--policy", rules), {
            ("policy_dscp", "traffic_class[src_ip=10.0.0.1,dst_ip=10.0.0.0/24].dscp"): (5, [1, 3, 4, 6])})
        self.path("traffic_class", "tclass=106\n")
        inside = self.path("inside.toml", "traffic_class_file = \"traffic_class\"\n")
        self.assertEqual(self.violations(self.capture, "--policy", inside), {
            ("policy_dscp", "traffic_class.global.dscp"): (3, [4, 5, 7]),
            ("policy_ecn", "traffic_class.global.ecn"): (1, [6])})

    def test_learned_policies_hold_for_their_captures(self):
        def learn(item):
            index, capture = item
            status, text, err = run("policy", "learn", capture)
            if json.loads(run("report", "--json", capture)[1])["roce"]["packets"] == 0:
                self.assertEqual(status, 3)
                return 0
            self.assertEqual(status, 0, (capture, err))
            self.assertEqual(run("policy", "learn", capture, "--jobs", "1")[1], text, capture)
            policy = self.path(f"learned{index}.toml", text)
            self.assertEqual(self.violations(capture, "--policy", policy), {}, (capture, text))
            return 1

        with ThreadPoolExecutor(2) as pool:
            self.assertGreater(sum(pool.map(learn, enumerate(captures() + [self.capture]))), 10)

    def test_begins_with_the_worst_diagnosis(self):
        """In the lines, and in JUnit XML as a property and in the message of what fails for it."""
        for name in ("04_write_loss1.cb.pcap.zst", "06_badrkey_write.pcap", "03_rping.pcap"):
            capture = os.path.join(SAMPLES, name)
            status, out, _ = run("check", capture, "--policy", self.path("anything.toml", ""))
            report = json.loads(run("report", "--json", capture)[1])
            diagnoses = report["diagnoses"]
            self.assertEqual(status, 1 if diagnoses else 0)
            lines = out.splitlines()
            suite = xml.fromstring(run("check", capture, "--policy", "nvidia", "--junit", "-")[1]).find("testsuite")
            said = [p.get("value") for p in suite.iter("property") if p.get("name") == "diagnosis"]
            messages = {case.get("name"): case.find("failure").get("message") for case in suite.iter("testcase")
                        if case.find("failure") is not None}
            if not diagnoses:
                self.assertNotRegex(lines[0], "^(ODD|DEGRADED|FATAL)")
                continue
            worst = diagnoses[0]
            self.assertEqual(lines[0], f"{worst['severity'].upper()}: {worst['sentence']}")
            self.assertEqual(said[0].partition(": ")[0], worst["severity"])
            rule = worst["findings"][0]["id"]
            self.assertTrue(messages[rule].startswith(worst["sentence"] + ". "), messages)

    def test_junit_says_what_was_not_judged(self):
        one_way = os.path.join(self.folder.name, "one_way.pcap")
        both = os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst")
        subprocess.run([PROGRAM, "packets", both, "-Y", "ip.src == 10.77.0.1", "-w", one_way], check=True, timeout=60,
                       stdout=subprocess.DEVNULL)
        suite = xml.fromstring(run("check", one_way, "--policy", "nvidia", "--junit", "-")[1]).find("testsuite")
        skipped = {case.get("name") for case in suite.iter("testcase") if case.find("skipped") is not None}
        self.assertLessEqual({"loss_before_capture", "timeouts", "retries_exhausted"}, skipped)
        self.assertEqual(int(suite.get("skipped")), len(skipped))

    def test_junit(self):
        status, out, _ = run("check", self.capture, "--policy", "nvidia", "--junit", "-")
        self.assertEqual(status, 1)
        root = xml.fromstring(out)
        suite = root.find("testsuite")
        cases = {case.get("name"): case for case in suite.iter("testcase")}
        self.assertEqual(int(suite.get("tests")), len(cases))
        failed = {name for name, case in cases.items() if case.find("failure") is not None}
        self.assertEqual(int(suite.get("failures")), len(failed))
        self.assertLessEqual({"policy_dscp", "policy_ecn"}, failed)
        self.assertNotIn("policy_pcp", failed)
        self.assertIn("class.cnp.dscp", cases["policy_dscp"].find("failure").text)
        # What is hostile in names stays text: quotes, markup, control characters, what is no UTF-8.
        odd = os.fsencode(self.folder.name) + b"/a&<b>\"'\x01\xff]]>.toml"
        with open(odd, "w", encoding="utf-8") as file:
            file.write("")
        done = subprocess.run([PROGRAM, "check", self.capture, "--policy", odd, "--junit", "-"], check=False,
                              timeout=60, capture_output=True)
        value = next(p.get("value") for p in xml.fromstring(done.stdout).iter("property") if p.get("name") == "policy")
        self.assertTrue(value.endswith("/a&<b>\"'??]]>.toml"), value)
        written = os.path.join(self.folder.name, "junit.xml")
        self.assertEqual(run("check", self.capture, "--policy", "nvidia", "--junit", written, "--json")[0], 1)
        xml.parse(written)


if __name__ == "__main__":
    unittest.main()
