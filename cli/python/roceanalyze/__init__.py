# SPDX-License-Identifier: Apache-2.0
"""Dissects and analyses RoCE packets and captures.

    import roceanalyze
    r = roceanalyze.report("x.pcap")
    r.connections["lost"].tolist()
    r.connections.to_pandas()
    for batch in roceanalyze.packets("x.pcap", ["frame.number", "infiniband.bth.psn", "roce.analysis.lost"]):
        ...

Names of tables, columns, fields and options are those of the program `roceanalyze`. What can be read of a damaged capture is
read; that the rest is missing is an IncompleteWarning. Everything may be used by several threads, each with objects of its own."""

import collections.abc
import json as _json
import os as _os
import threading
import warnings as _warnings

from . import _library as lib
from ._library import DefectError, Error, InputError, MisuseError
from ._tables import Column, Table

__all__ = ["report", "packets", "dissect", "Dissector", "fields", "Report", "Packets", "Table", "Column", "Error", "InputError",
           "MisuseError", "DefectError", "IncompleteWarning", "__version__"]
__version__ = lib.words(lib.library.roce_version())

#: Fields that packets() gives if none are asked for.
USUAL_FIELDS = ("frame.number", "frame.time_epoch", "frame.len", "roce.src", "roce.dst", "infiniband.bth.opcode",
                "infiniband.bth.destqp", "infiniband.bth.psn", "roce.connection", "roce.direction",
                "roce.analysis.retransmission", "roce.analysis.lost", "roce.analysis.lost.packets")


class IncompleteWarning(UserWarning):
    """Part of a capture could not be read or judged: results speak for the rest only."""


def _options(options):
    handle = lib.made("options", "options_new")
    for name, value in options.items():
        if value is None:
            continue
        if name == "policy":
            text = _os.fsencode(value)
        else:
            text = {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
        lib.call("options_set", handle, lib.text(name.replace("_", "-")), lib.text(text))
    return handle


def _paths(paths):
    if isinstance(paths, (str, bytes, _os.PathLike)):
        paths = [paths]
    encoded = [lib.text(_os.fsencode(path)) for path in paths]
    return lib.texts(encoded), len(encoded)


class Report(collections.abc.Mapping):
    """The analysis of captures: tables by name, also as attributes (`r.connections`, `r.incidents`, `r.diagnoses` ...)."""

    def __init__(self, handle):
        self._handle = handle
        #: What the report does not cover, in words; "" if it is complete.
        self.incomplete = lib.words(lib.library.roce_report_incomplete(handle))
        self._names = [lib.words(lib.library.roce_table_name(lib.library.roce_report_table_at(handle, i)))
                       for i in range(lib.library.roce_report_tables(handle))]
        self._tables = {}

    def __getitem__(self, name):
        if name not in self._names:
            raise KeyError(name)
        if name not in self._tables:
            self._tables[name] = Table(lib.library.roce_report_table(self._handle, name.encode()), self._handle)
        return self._tables[name]

    def __getattr__(self, name):
        if not name.startswith("_") and name in self._names:
            return self[name]
        raise AttributeError(f"a report has no table {name!r}")

    def __dir__(self):
        return [*super().__dir__(), *self._names]

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def json(self, pretty=False):
        """The document of `roceanalyze report --json`, as text."""
        return lib.given("report_json", self._handle, 1 if pretty else 0).decode()

    def document(self):
        """The same as dictionaries and lists."""
        return _json.loads(self.json())

    def __repr__(self):
        return f"<roceanalyze.Report: {', '.join(f'{self[name].rows} {name}' for name in self._names if self[name].rows)}>"


class Packets:
    """Iterates over batches of packets: a Table of the fields each. tuples() iterates over single packets."""

    def __init__(self, handle, fields_of_rows, batch):
        self._handle, self._batch = handle, batch
        self._stop = lib.made("stop", "stop_new")
        lib.call("packets_set_stop", handle, self._stop)
        self._one_at_a_time = threading.Lock()  # a call of the library lets other threads run
        self.fields = tuple(fields_of_rows)

    def __iter__(self):
        return self

    def __next__(self):
        try:
            with self._one_at_a_time:
                table = lib.made_unless_interrupted(self._stop, "table", "packets_next", self._handle, self._batch)
        except InputError as error:
            _warnings.warn(f"incomplete: {error}", IncompleteWarning, stacklevel=2)
            table = None
        if table is None:
            raise StopIteration
        return Table(table, table)

    def tuples(self):
        """One tuple a packet, in the order of `fields`."""
        for batch in self:
            yield from zip(*(batch[name].tolist() for name in self.fields))

    rows = tuples  # its first name; `rows` of a Table is their number


def report(paths, **options):
    """Analyses captures: a path or several, which are merged in time order. Options as of `roceanalyze report`, with _ for -:
    filter, policy, jobs, max_packets, no_icrc, trimmed_dscp, mrc_port, decode_as, roce_ip_protocol."""
    result = Report(lib.made_with_stop("report", "report_open", *_paths(paths), options=_options(options)))
    if result.incomplete:
        _warnings.warn(f"incomplete: {result.incomplete}", IncompleteWarning, stacklevel=2)
    return result


def packets(paths, fields=USUAL_FIELDS, batch=0, **options):
    """The packets of captures, with the fields named. If one of them is of the analysis (roce.connection, roce.analysis.*), the
    captures are analysed first. `batch`: packets at a time, up to 1048576; 0: the library's choice. Options as of report();
    filter selects packets; with max_packets only so many are read, which is no IncompleteWarning."""
    names = list(fields)
    rows = lib.number("batch", batch, 1 << 20)
    encoded = lib.texts([lib.text(name) for name in names])
    handle = lib.made_with_stop("packets", "packets_open", *_paths(paths), encoded, len(names), options=_options(options))
    return Packets(handle, names, rows)


def dissect(frame, wire=0, link_type=1, **options):
    """The fields of one frame (bytes) as a dictionary; `wire`: its length on the wire, 0: it is whole; `link_type`: of the
    tcpdump.org registry, 1 = Ethernet. Options that say how packets are read, as of report()."""
    return Dissector(**options).next(frame, wire, link_type)


class Dissector:
    """Dissects frames one after the other, in the order of their capture: what earlier ones tell of later ones is known, such as
    the templates of IPFIX and NetFlow. Options as of dissect()."""

    def __init__(self, **options):
        self._handle = lib.made("dissector", "dissector_new", _options(options))

    def next(self, frame, wire=0, link_type=1, time_ns=None):
        """The fields of the next frame, as dissect(); `time_ns`: since the epoch, None: it has no time."""
        data = bytes(frame)
        time = lib.NO_TIME if time_ns is None else lib.number("time_ns", time_ns, (1 << 63) - 1)
        return _json.loads(lib.given("frame_json", lib.made(
            "frame", "dissector_next", self._handle, data, len(data), lib.number("wire", wire, 0xffffffff),
            lib.number("link_type", link_type, 0xffff), time)))


def fields():
    """All fields of packets: {name: label}."""
    import ctypes  # pylint: disable=import-outside-toplevel
    found = {}
    for position in range(lib.library.roce_field_count()):
        out = lib.FieldOut(size=ctypes.sizeof(lib.FieldOut))
        if lib.library.roce_field_at(position, ctypes.byref(out)) == lib.OK:
            found[lib.words(out.name)] = lib.words(out.label)
    return found
