# SPDX-License-Identifier: Apache-2.0
"""Tables and columns: the arrays of the library, without a copy."""

import collections.abc
import ctypes

from . import _library as lib

_ELEMENTS = {lib.INT64: (ctypes.c_int64, "q"), lib.UINT64: (ctypes.c_uint64, "Q"), lib.DOUBLE: (ctypes.c_double, "d")}


def _view(owner, element, code, address, count):
    """The memory at an address as a read-only memoryview, which keeps `owner` alive."""
    if count == 0:
        return memoryview(b"").cast(code) if code != "B" else memoryview(b"")
    array = (element * count).from_address(address)
    array.owner = owner
    return memoryview(array).cast("B").cast(code).toreadonly()


class Column(collections.abc.Sequence):
    """One column of a table. A sequence of int, float or str; None where there is no value, which is not 0 but "cannot be told
    from this capture", or that a packet does not have the field.

    `data` and `known` are views of the library's memory, for numpy.frombuffer() and the like; they stay valid as long as
    they are referred to."""

    def __init__(self, owner, out):
        self.name, self.help = lib.words(out.name), lib.words(out.help)
        self._rows, self._values, self._kind = out.rows, None, out.type
        #: Values there are by row, 0: none; of fields of packets also more than one.
        self.known = _view(owner, ctypes.c_uint8, "B", out.known, out.rows)
        if out.type == lib.TEXT:
            #: int64, uint64 or float64 by row, 0 where there is none; of texts: where each begins in `text`, one more.
            self.data = _view(owner, ctypes.c_uint64, "Q", out.values, out.rows + 1)
            #: All texts, each with its NUL; None for numbers.
            self.text = _view(owner, ctypes.c_uint8, "B", out.text, self.data[out.rows])
        else:
            element, code = _ELEMENTS[out.type]
            self.data = _view(owner, element, code, out.values, out.rows)
            self.text = None

    @property
    def dtype(self):
        """The type of the values: "int64", "uint64", "float64" or "str"."""
        return {lib.INT64: "int64", lib.UINT64: "uint64", lib.DOUBLE: "float64", lib.TEXT: "str"}[self._kind]

    def tolist(self):
        """All values at once."""
        if self._values is None:
            if self._kind == lib.TEXT:
                # A NUL ends each text, so what stands between them are the texts.
                values = bytes(self.text).decode("utf-8", "replace").split("\0")
                values.pop()
            else:
                values = self.data.tolist()
            if 0 in self.known.tobytes():
                values = [value if known else None for value, known in zip(values, self.known)]
            self._values = values
        return self._values.copy()

    def __len__(self):
        return self._rows

    def __getitem__(self, row):
        if isinstance(row, slice):
            return self.tolist()[row]
        row = range(self._rows)[row]  # its IndexError, and rows from the end
        if self.known[row] == 0:
            return None
        if self._kind != lib.TEXT:
            return self.data[row]
        return bytes(self.text[self.data[row]:self.data[row + 1] - 1]).decode("utf-8", "replace")

    def __iter__(self):
        return iter(self.tolist())

    def __repr__(self):
        return f"<roceanalyze.Column {self.name}: {self.dtype}, {self._rows} rows>"


class Table(collections.abc.Mapping):
    """Columns by name: len() is their number; `rows` that of the rows. False without rows."""

    def __init__(self, handle, owner):
        self._handle, self._owner, self._columns = handle, owner, {}
        self.name = lib.words(lib.library.roce_table_name(handle))
        self.rows = lib.library.roce_table_rows(handle)

    def _at(self, position):
        out = lib.ColumnOut(size=ctypes.sizeof(lib.ColumnOut))
        if lib.library.roce_table_column(self._handle, position, ctypes.byref(out)) != lib.OK:
            raise MemoryError("the columns of a table could not be made")
        return Column(self._owner, out)

    @property
    def columns(self):
        """The names of the columns, in their order."""
        if len(self._columns) != lib.library.roce_table_columns(self._handle):
            columns = [self._at(i) for i in range(lib.library.roce_table_columns(self._handle))]
            self._columns = {column.name: self._columns.get(column.name, column) for column in columns}
        return list(self._columns)

    def __getitem__(self, name):
        if name not in self._columns:
            position = lib.library.roce_table_find(self._handle, lib.text(name))
            if position == lib.NOWHERE:
                raise KeyError(name)
            self._columns[name] = self._at(position)
        return self._columns[name]

    def __iter__(self):
        return iter(self.columns)

    def __len__(self):
        return lib.library.roce_table_columns(self._handle)

    def __bool__(self):
        return self.rows != 0

    def tuples(self):
        """The rows as tuples, in the order of `columns`."""
        return zip(*(self[name].tolist() for name in self.columns))

    def dicts(self):
        """The rows as dictionaries by column."""
        names = self.columns
        return (dict(zip(names, row)) for row in self.tuples())

    def to_pandas(self):
        """A pandas.DataFrame. Columns that have no value somewhere are Int64, UInt64 or Float64 with NA there. Needs pandas."""
        import pandas  # pylint: disable=import-outside-toplevel
        nullable = {"int64": "Int64", "uint64": "UInt64", "float64": "Float64"}
        series = {}
        for name in self.columns:
            column = self[name]
            kind = column.dtype
            if kind != "str" and 0 in column.known.tobytes():
                kind = nullable[kind]
            series[name] = pandas.Series(column.tolist(), dtype="object" if kind == "str" else kind)
        return pandas.DataFrame(series)

    def __repr__(self):
        return f"<roceanalyze.Table {self.name}: {self.rows} rows, {len(self)} columns>"
