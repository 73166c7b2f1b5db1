# SPDX-License-Identifier: Apache-2.0
"""The rooms of the house: which folder may include which. structure_test.py holds this table against every #include.

A row is a room and the rooms it may include: those named, and what these may include in turn. A room includes its own
files always, and what lies in a folder below it. Every arrow points one way: a row names only rooms above it. Folders that
are one room as a whole (dissect) stand here like any other."""

ROOMS = {
    # What one packet says.
    "dissect": "",

    # Where frames come from.
    "capture/core": "",  # frame, source, error: what all others are made of
    "capture/compression": "capture/core",
    "capture/files": "capture/compression",  # reading captures
    "capture/write": "capture/compression",
    "capture/host": "capture/core",  # what a host says of its devices
    "capture/confine": "capture/core",  # giving up rights before packets of strangers are read
    "capture/live": "capture/core",  # what kinds of devices share: thread, queue, drops
    "capture/network": "capture/live capture/host",  # libpcap
    "capture/sniffer": "capture/live capture/host",  # libibverbs
    "capture/listen": "capture/live",  # datagrams of switches, from UDP sockets
    "capture/devices": "capture/network capture/sniffer capture/listen",  # which kind a name is

    # What many packets say.
    "analyze/base": "dissect capture/core",  # containers, statistics, text of numbers and addresses
    "analyze/record": "analyze/base",  # frame -> PacketRecord
    "analyze/errors": "analyze/base",  # what applications and drivers logged
    "analyze/packet": "analyze/record",  # one packet with all that is known of it
    "analyze/cm": "analyze/record",
    "analyze/link": "analyze/record",  # PAUSE, PFC, LLDP
    "analyze/mrc": "analyze/record",  # streams of MRC
    "analyze/numbered": "analyze/record",  # shells and mirrors, which number their packets
    "analyze/exports": "analyze/record",  # what switches say of packets that were not captured here
    "analyze/flow": "analyze/packet",
    "analyze/connection": "analyze/cm analyze/flow",  # result values of a connection
    "analyze/episode": "analyze/connection",  # what happened while something was wrong
    "analyze/transport": "analyze/connection analyze/episode",  # requester and responder
    "analyze/tracker": "analyze/transport",  # packet -> connection
    "analyze/policy": "analyze/flow analyze/link",
    "analyze/results": "analyze/episode analyze/policy analyze/exports analyze/mrc analyze/numbered",  # the Snapshot and its tables
    "analyze/findings": "analyze/results",
    "analyze/diagnosis": "analyze/findings",  # what is wrong, said once
    "analyze/filter": "analyze/episode analyze/policy",
    "analyze/show": "analyze/filter analyze/link",  # one packet as line, tree, JSON
    "analyze/report": "analyze/results analyze/findings analyze/packet",  # whole reports as JSON and HTML
    "analyze/story": "analyze/report analyze/errors",  # one queue pair in order of time, and its logged errors
    "analyze/compare": "analyze/findings analyze/filter",
    "analyze/host": "analyze/policy analyze/results capture/host",
    "analyze/trace": "analyze/connection analyze/link",  # one connection packet by packet
    "analyze/store": "analyze/results",  # rows of many captures in one place
    "analyze/pipeline": "analyze/tracker analyze/diagnosis analyze/filter",  # batches -> Snapshot

    # The program. What it shows comes from analyze's results; it never includes the inside of following packets.
    "cli/core": "analyze/pipeline analyze/report capture/files capture/write capture/confine",
    "cli/config": "cli/core",
    "cli/library": "analyze/pipeline analyze/report analyze/show capture/files",  # libroceanalyze.so
    "cli/manual": "cli/core analyze/filter",  # a program of its own, for packages
    "cli/completion": "cli/core analyze/filter capture/devices",
    "cli/report": "cli/core",
    "cli/why": "cli/report analyze/story",
    "cli/check": "cli/report capture/write",
    "cli/packets": "cli/core analyze/show capture/write",
    "cli/compare": "cli/report analyze/compare",
    "cli/store": "cli/report analyze/store capture/write",
    "cli/export": "cli/store",
    "cli/host": "cli/report analyze/host capture/devices capture/write",
    "cli/live": "cli/report",  # what watches a live capture
    "cli/capture": "cli/live cli/store capture/devices capture/write capture/confine",
    "cli/schema": "cli/why cli/packets cli/compare cli/host cli/export cli/live",  # what commands write as JSON
    "cli": "cli/schema cli/config cli/completion cli/check cli/why cli/packets cli/compare cli/export cli/store cli/host cli/capture",

    # The window.
    "gui/models": "analyze/pipeline analyze/report analyze/compare analyze/show analyze/host analyze/trace capture/devices"
                  " capture/files capture/write capture/confine",
    "gui/charts": "gui/models",
    "gui/pages": "gui/charts",
    "gui": "gui/pages",
}

# Rooms that nobody but these may include: the inside of following packets changes without anybody else compiling anew.
INSIDE = {
    "analyze/transport": {"analyze/tracker", "analyze/pipeline"},
    "analyze/tracker": {"analyze/pipeline", "cli/packets"},  # `packets` follows a pipe in one reading
}

def room_of(path):
    """The room of a file: the longest folder of the table that it lies in; None where there is none."""
    folder = path.rpartition("/")[0]
    while folder and folder not in ROOMS:
        folder = folder.rpartition("/")[0]
    return folder or None

def reach(room, rooms=None):
    """All rooms that `room` may include."""
    rooms = ROOMS if rooms is None else rooms
    seen, todo = {room}, [room]
    while todo:
        for below in rooms[todo.pop()].split():
            if below not in seen:
                seen.add(below)
                todo.append(below)
    return seen

def violations(includes, rooms=None, inside=None):
    """What in {file: [included file]} is against the table, a sentence each."""
    rooms = ROOMS if rooms is None else rooms
    inside = INSIDE if inside is None else inside
    wrong = []
    for name, targets in includes.items():
        own = room_of(name)
        if own is None:
            continue
        allowed = reach(own, rooms)
        for target in targets:
            room = room_of(target)
            if room is None:
                wrong.append(f"{name} includes {target}, which lies in no room")
            elif room not in allowed:
                wrong.append(f"{name} includes {target}: {own} may not include {room}")
            elif room != own and own not in inside.get(room, {own}):
                wrong.append(f"{name} includes {target}: {room} is for {', '.join(sorted(inside[room]))} alone")
    return wrong
