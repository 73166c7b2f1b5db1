# SPDX-License-Identifier: Apache-2.0
"""Traffic of the project's generators on several veth pairs, at a pace, and what of it arrived."""

import array
import os
import subprocess
import threading
import time
import zlib

import namespace
from frames import read_capture

PRESETS = ("clean", "reorder", "selective_repeat", "duplicate", "congestion", "corrupt", "rnr", "slow", "blackout")


class Loads:
    """Captures of the generators, each with connections of its own: hosts and queue pairs come and go."""

    def __init__(self, build, folder, draw):
        self.tools = os.path.join(build, "tests/support")
        self.path = os.path.join(folder, "load.pcap")
        self.draw = draw
        self.made = 0
        self.connections = 0

    def next(self):
        draw, seed = self.draw, str(self.draw.randrange(1 << 31))
        qps = draw.choice((1, 4, 16, 64))
        common = ["--seed", seed, "--qps", str(qps), "--hosts", str(draw.choice((2, 4, 16, 64))), "--packets", str(draw.choice((500, 2000, 5000)))]
        if draw.random() < 0.25:
            common.append("--ipv6")
        if draw.random() < 0.4:
            words = ["roce_generate", "--operation", draw.choice(("write", "send", "read")), "--message-bytes",
                     str(draw.choice((64, 1024, 16384))), *common]
        else:
            words = ["roce_fault_generate", "--faults", draw.choice(PRESETS), "--loss-before", str(draw.choice((0, 0, 0.01))), *common]
            if "congestion" not in words:  # its marks are not those of the CM
                words.append("--cm")
        subprocess.run([os.path.join(self.tools, words[0]), *words[1:], self.path], check=True, stdout=subprocess.DEVNULL)
        self.made += 1
        self.connections += qps
        return [data for data, _, _ in read_capture(self.path)]


class Traffic(threading.Thread):
    """Sends the same frames into the left side of each pair. Sums and times of what was sent stay until they are forgotten."""

    def __init__(self, loads, sides, rate):
        super().__init__(daemon=True)
        self.loads, self.rate = loads, rate
        self.senders = [namespace.Sender(side) for side in sides]
        self.sums, self.times = array.array("I"), array.array("d")
        self.count = 0
        self.lock, self.may, self.ended = threading.Lock(), False, False  # whoever has the lock knows that no frame is being sent
        self.hurry = 0  # frames to be sent as fast as it goes
        self.failed = None

    def send(self, frame):
        self.sums.append(zlib.crc32(frame))
        self.times.append(time.monotonic())
        self.count += 1
        for sender in self.senders:
            try:
                sender.send(frame)
            except OSError as error:
                if error.errno not in (100, 19, 6):  # the interface is down or away: the frame is not on the wire
                    raise

    def run(self):
        try:
            while not self.ended:
                self.play(self.loads.next())
        except Exception as error:  # told by quiet()
            self.failed = error

    def play(self, frames):
        due = time.monotonic()
        for i, frame in enumerate(frames):
            while not self.ended:
                with self.lock:
                    if self.may:
                        self.send(frame)
                        break
                time.sleep(0.02)
            if self.hurry > 0:
                self.hurry -= 1
            elif i % 20 == 0:
                due = max(due + 20 / self.rate, time.monotonic() - 0.5)
                time.sleep(max(0, due - time.monotonic()))

    def resume(self):
        self.may = True

    def quiet(self):
        """From now on no frame is sent, and all have arrived."""
        with self.lock:
            self.may = False
        if self.failed:
            raise RuntimeError(f"the sender failed: {self.failed}")
        time.sleep(0.05)

    def forget(self):
        """Only while it is quiet."""
        del self.sums[:], self.times[:]

    def end(self):
        self.ended = True
        self.join(60)


def arrived(side):
    """Frames that the kernel delivered to this side of a pair since it was made."""
    return namespace.statistics(side)["rx"]["packets"]
