# SPDX-License-Identifier: Apache-2.0
"""One life of a capture: how it begins, what it takes, how it ends, and whether its files and figures are those of what arrived."""

import array
import glob
import json
import logging
import os
import re
import subprocess
import time
import urllib.request
import zlib

from frames import read_capture
from traffic import arrived

logging.getLogger("scapy.runtime").setLevel(logging.ERROR)  # it warns of comments of packets in one line
PATIENCE = 60
HANDED_OVER = 0.55  # seconds that a killed capture may lack (docs/capture.md), besides what a busy machine adds
BUSY = 1.5
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def status_of(pid, *names):
    """Values of /proc/PID/status, 0 where the process is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            lines = dict(line.split(":", 1) for line in file)
    except OSError:
        lines = {}
    return [int(lines.get(name, "0").split()[0]) for name in names]


def children_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def sockets_of(device):
    """Packet sockets that capture on a device."""
    with open(f"/sys/class/net/{device}/ifindex", encoding="ascii") as file:
        index = file.read().strip()
    with open("/proc/net/packet", encoding="ascii") as file:
        rows = [line.split() for line in file][1:]
    return sum(1 for row in rows if row[4] == index and row[5] == "1")


class Life:
    def __init__(self, program, name, device, folder, options, store, logs=None):
        self.program, self.name, self.device, self.folder, self.store = program, name, device, folder, store
        self.path = os.path.join(folder, name + ".pcapng")
        self.words = [program, "capture", "-i", device, "-w", self.path, *options]
        if "--capture-only" not in options:
            self.words += ["--json", "--metrics", "0", "--store", store, "--host", name]
        logs = logs or folder  # not on a disk that gets full
        self.output, self.messages = os.path.join(logs, name + ".out"), os.path.join(logs, name + ".err")
        self.resident, self.shipper_resident, self.descriptors, self.scraped, self.disconnected, self.flows = [], [], 0, 0, 0, 0
        self.wrong = []

    def begin(self):
        """While nothing is sent."""
        before = sockets_of(self.device)
        self.arrived_before = arrived(self.device)
        with open(self.output, "wb") as output, open(self.messages, "wb") as messages:
            self.process = subprocess.Popen(self.words, stdout=output, stderr=messages)
        end = time.monotonic() + PATIENCE
        while not (sockets_of(self.device) > before and (self.metrics() or "--capture-only" in self.words and glob.glob(self.pattern()))):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{' '.join(self.words)}: does not begin: {self.said()}")
            time.sleep(0.02)
        time.sleep(0.1)

    def pattern(self):
        return self.path[: -len(".pcapng")] + "*.pcapng"

    def said(self):
        with open(self.messages, encoding="utf-8", errors="replace") as file:
            return file.read()

    def metrics(self):
        found = re.search(r"metrics at (http://\S+)", self.said())
        return found and found[1]

    def note(self, what):
        self.wrong.append(f"{self.name}: {what}")

    def demand(self, held, what):
        if not held:
            self.note(what)

    def scrape(self):
        """Frames that it counts: analysed and dropped."""
        with DIRECT.open(self.metrics(), timeout=PATIENCE) as answer:
            text = answer.read().decode()
        self.flows = int(re.search(r"^roceanalyze_flows\{[^}]*\} (\d+)", text, re.MULTILINE)[1])
        return sum(int(float(value)) for value in re.findall(r"^roceanalyze_(?:dropped_)?packets_total\{[^}]*\} (\S+)$", text, re.MULTILINE))

    def sample(self, scrape):
        """Memory, descriptors, and counters that never go back."""
        resident, = status_of(self.process.pid, "VmRSS")
        if resident:
            self.resident.append((time.monotonic(), resident, self.flows))
        for child in children_of(self.process.pid):
            self.shipper_resident.append((time.monotonic(), status_of(child, "VmRSS")[0], 0))
        try:
            self.descriptors = max(self.descriptors, len(os.listdir(f"/proc/{self.process.pid}/fd")))
        except OSError:
            pass
        if scrape and self.metrics() and self.process.poll() is None:
            try:
                counted = self.scrape()
            except OSError:  # whoever sends nothing for two seconds is disconnected, which happens to us on a busy machine
                self.disconnected += 1
                try:
                    counted = self.scrape()
                except OSError as error:
                    if self.process.poll() is None:
                        self.note(f"no metrics: {error}")
                    return
            self.demand(counted >= self.scraped, f"its metrics went back from {self.scraped} to {counted}")
            self.scraped = counted

    def settled(self):
        """While it is quiet: the metrics have what arrived."""
        wanted, end = arrived(self.device) - self.arrived_before, time.monotonic() + PATIENCE
        if not self.metrics():
            time.sleep(HANDED_OVER + BUSY)
            return
        while self.scrape() != wanted:
            if time.monotonic() > end:
                self.note(f"its metrics have {self.scrape()} frames, {wanted} arrived")
                return
            time.sleep(0.05)

    def finish(self, how, status):
        """It ends with a signal, or by itself; what it says then."""
        if how is not None and self.process.poll() is None:
            self.process.send_signal(how)
        try:
            self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.note("hangs")
            self.process.kill()
            self.process.wait()
        self.demand(self.process.returncode == status, f"status {self.process.returncode} and not {status}: {self.said()[-600:]}")

    def report(self):
        with open(self.output, encoding="utf-8") as file:
            lines = file.read().splitlines()
        return json.loads(lines[-1]) if lines else {}

    def counted(self):
        """(frames taken, frames dropped and counted), of one that ended in order."""
        if "--capture-only" in self.words:
            taken, dropped = (re.search(rf"(\d+) {words}", self.said()) for words in ("packets captured", "dropped by the kernel"))
            return int(taken[1]) if taken else 0, int(dropped[1]) if dropped else 0
        capture = self.report().get("capture", {})
        return capture.get("packets", 0), capture.get("dropped", 0)

    def complete(self):
        """All that arrived was taken or is counted."""
        taken, dropped = self.counted()
        came = arrived(self.device) - self.arrived_before
        self.demand(taken + dropped == came, f"{came} frames arrived, {taken} taken and {dropped} dropped: {came - taken - dropped} not counted")
        return taken, dropped

    def files(self):
        return sorted(glob.glob(self.pattern()))

    def frames(self):
        """CRCs of the frames in its files, in order, as another reader has them."""
        sums = array.array("I")
        for path in self.files():
            sums.extend(zlib.crc32(data) for data, _, _ in read_capture(path))
        return sums

    def readable(self, may_be_cut):
        """Our own reader has nothing to say against the files, but that a kill cut the last one."""
        for path in self.files():
            done = subprocess.run([self.program, "report", "--json", "--no-icrc", path], capture_output=True, text=True, check=False, timeout=PATIENCE)
            found = [each["id"] for each in json.loads(done.stdout)["diagnostics"] if each["severity"] == "error" or each["id"] == "cut_short"] \
                if done.stdout else [done.stderr]
            self.demand(not found or (found == ["cut_short"] and may_be_cut and path == self.files()[-1]), f"{os.path.basename(path)}: {found}")

    def tidy(self):
        for path in [*self.files(), self.output, self.messages]:
            os.unlink(path)


def place_of(part, whole):
    """Where the frames of `part` lie in `whole` in one piece, -1 if they do not."""
    text, searched, at = part.tobytes(), whole.tobytes(), -1
    while True:
        at = searched.find(text, at + 1)
        if at < 0 or at % whole.itemsize == 0:
            return at // whole.itemsize if at >= 0 else -1
