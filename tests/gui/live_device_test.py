#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The window's Live page on a network interface that there is: LivePage.CapturesFromANetworkInterface, in a network namespace,
while a sample is sent into the other side of a veth pair.
Usage: live_device_test.py GUI_TESTS ROCEANALYZE SAMPLES"""

import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import namespace
from frames import read_capture

PATIENCE = 120  # seconds until something is taken for hanging
SAMPLE = "03_rping.pcap"


def recorded(folder):
    """Whether a recording has begun there, which it does when the device is open."""
    paths = (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)
    return any(os.path.getsize(path) > 0 for path in paths)


def main():
    tests, program, samples = (os.path.abspath(path) for path in sys.argv[1:])
    namespace.enter_namespace()
    namespace.make_pair()
    frames = read_capture(os.path.join(samples, SAMPLE))
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"ROCE_LIVE_PROGRAM": program, "ROCE_LIVE_INTERFACE": "right",
                                    "ROCE_LIVE_SAMPLE": SAMPLE, "QT_QPA_PLATFORM": "offscreen", "TMPDIR": folder}
        with subprocess.Popen([tests, "--gtest_filter=LivePage.CapturesFromANetworkInterface"], env=environment) as window:
            until = time.monotonic() + PATIENCE
            while not recorded(folder):
                if window.poll() is not None or time.monotonic() > until:
                    window.kill()
                    sys.exit("nothing captures")
                time.sleep(0.05)
            with namespace.Sender() as sender:
                for data, _, _ in frames:
                    sender.send(data)
            try:
                return window.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                window.kill()
                sys.exit("the window does not end")


if __name__ == "__main__":
    sys.exit(main())
