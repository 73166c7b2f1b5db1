# SPDX-License-Identifier: Apache-2.0
"""Whether flows, connections, incidents, series and packets of one report tell the same numbers of repeats and losses."""

import collections

PLACES = ("before_capture", "after_capture", "by_capture", "trimmed")
# Of packets that `roce.analysis.retransmission` shows: which incident, and whether they count there.
FIELDS = ("roce.incident", "roce.icrc.status", "frame.len")

Repeat = collections.namedtuple("Repeat", ("incident", "damaged", "size"))


def repeat(cells):
    """Of a packet that was sent again, its FIELDS."""
    incident, icrc, size = cells
    return Repeat(incident, icrc == "mismatch", int(size))


def total(entries, *keys):
    found = 0
    for entry in entries:
        for key in keys:
            entry = entry[key]
        found += entry
    return found


def of_incidents(report, repeats):
    """A damaged repeat witnesses nothing but its damage: no incident counts it."""
    flows, incidents = report["flows"], report["incidents"]
    whole = [found.size for found in repeats if not found.damaged]
    yield "repeats that no incident has", sum(not found.incident for found in repeats if not found.damaged), 0
    yield "repeats of packets and incidents", len(whole), total(incidents, "repeated", "packets")
    yield "repeated bytes of packets and incidents", sum(whole), total(incidents, "repeated", "bytes")
    for place in PLACES[:2]:
        lost, told = total(flows, "lost", place), total(incidents, "lost", place)
        lost += total(flows, "lost", "trimmed") if place == "before_capture" else 0
        # A second capture point, or interface, shows more than one can tell: what only it settles is of no incident.
        several = len(report["capture"]["interfaces"]) > 1 or any(flow["points"] for flow in flows)
        more = several and lost > told
        yield f"lost {place} of flows and incidents", lost, lost if more else told


def of_bytes(report):
    """What a connection moved, and what crossed the capture point."""
    flows, connections, series = report["flows"], report["connections"], report["series"]
    causes = ("nak", "timeout", "rnr", "read_retry", "unknown")
    yield ("retransmitted of flows and by cause", total(flows, "retransmitted", "packets"),
           sum(total(flows, "retransmitted", cause) for cause in causes))
    for connection in connections:
        who = f"connection {connection['id']}: "
        moved = total(connection["sides"], "goodput_bytes")
        yield who + "goodput of connection and sides", connection["goodput_bytes"], moved
        operations = connection["operations"]
        for name, operation in operations.items():
            of_sides = sum(side["operations"].get(name, {"count": 0})["count"] for side in connection["sides"])
            yield who + f"{name} operations of connection and sides", operation["count"], of_sides
    # The series has message bytes when they are sent: later their responder may refuse them.
    sent = sum(total(connection["sides"], key) for connection in connections for key in ("goodput_bytes", "refused_bytes"))
    yield "message bytes of connections and series", sent, sum(series["goodput_bytes"])
    yield "CE of flows and series", total(flows, "ecn", "ce"), sum(series["ce"])
    if not report["flows_evicted"]:
        for what in ("packets", "bytes"):
            yield f"{what} of flows and series", total(flows, what), sum(series[what])


def pairs(report, repeats):
    """(what, one number, the other one)"""
    flows, connections, series = report["flows"], report["connections"], report["series"]
    paired = [flow for flow in flows if flow["connection"] is not None]
    for what in ("packets", "bytes"):
        yield (f"retransmitted {what} of flows and connections", total(paired, "retransmitted", what),
               total(connections, "retransmitted", what))
    for place in PLACES:
        yield f"lost {place} of flows and connections", total(paired, "lost", place), total(connections, "lost", place)
    again = total(flows, "retransmitted", "packets")
    yield "retransmitted of flows and packets", again, len(repeats)
    yield "retransmitted of flows and series", again, sum(series["retransmitted"])
    if report["capture"]["completeness"]["judges_losses"]:  # else the series has none
        yield "lost of flows and series", sum(total(flows, "lost", place) for place in PLACES), sum(series["lost"])
    yield from of_bytes(report)
    if not report["incidents_dropped"]:
        yield from of_incidents(report, repeats)


def differences(report, repeats):
    """Sentences; none where all sums hold."""
    return [f"{what}: {one} and {other}" for what, one, other in pairs(report, repeats) if one != other]
