# SPDX-License-Identifier: Apache-2.0
"""A network of its own for a test: a veth pair in a namespace that ends with the process."""

import ctypes
import ctypes.util
import json
import os
import socket
import subprocess
import sys

SKIPPED = 77
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
MS_REC, MS_SLAVE = 0x4000, 1 << 19
ETH_P_ALL = 3


def skip(why):
    print("skipped:", why)
    sys.exit(SKIPPED)


def command(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def enter_namespace():
    """Moves this process and its children into a network of their own, with a /sys that shows it."""
    libc = ctypes.CDLL(ctypes.util.find_library("c"), use_errno=True)
    user, group = os.getuid(), os.getgid()
    flags = CLONE_NEWNET | CLONE_NEWNS
    if libc.unshare(flags if user == 0 else flags | CLONE_NEWUSER) != 0:
        skip("no network namespace can be made here: " + os.strerror(ctypes.get_errno()))
    if user != 0:
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
            with open("/proc/self/" + name, "w", encoding="ascii") as file:
                file.write(text)
    libc.mount(None, b"/", None, MS_REC | MS_SLAVE, None)
    libc.mount(b"none", b"/sys", b"sysfs", 0, None)


def make_pair(left="left", right="right", mtu=9216):
    """A veth pair, up and quiet: what is sent on one side is all that arrives on the other."""
    try:
        command("ip", "link", "add", "name", left, "mtu", str(mtu), "type", "veth", "peer", "name", right, "mtu", str(mtu))
    except (OSError, subprocess.CalledProcessError) as error:
        skip(f"no veth pair can be made here: {getattr(error, 'stderr', None) or error}")
    for side in (left, right):
        with open(f"/proc/sys/net/ipv6/conf/{side}/disable_ipv6", "w", encoding="ascii") as file:
            file.write("1")
        command("ip", "link", "set", "dev", side, "arp", "off", "multicast", "off", "up")


def statistics(side):
    shown = subprocess.run(["ip", "-s", "-j", "link", "show", "dev", side], check=True, capture_output=True).stdout
    return json.loads(shown)[0]["stats64"]


class Sender:
    """Sends whole frames into one side of a pair, from one processor: they arrive in order."""

    def __init__(self, side="left"):
        self.side = side
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.bind((side, 0))
        self.sent = 0

    def __enter__(self):
        self.processors = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(self.processors)})
        self.lost_before = statistics(self.side)["tx"]["dropped"]
        return self

    def __exit__(self, *_):
        os.sched_setaffinity(0, self.processors)
        self.socket.close()

    def send(self, frame):
        while True:
            try:
                self.socket.send(frame)
                break
            except OSError as error:
                if error.errno != 105:  # ENOBUFS: again
                    raise
        self.sent += 1

    def arrived(self):
        """Sent, but for what the kernel had to drop on the way (its backlog of 1000 packets)."""
        return self.sent - (statistics(self.side)["tx"]["dropped"] - self.lost_before)
