# SPDX-License-Identifier: Apache-2.0
"""libroceanalyze.so by ctypes: the functions of roceanalyze.h with their types, and errors as exceptions. Nothing else."""

import ctypes
import operator
import os
import threading

OK, NONE, MISUSE, INPUT, NO_MEMORY, DEFECT = range(6)
INT64, UINT64, DOUBLE, TEXT = range(1, 5)
NOWHERE = ctypes.c_size_t(-1).value
NO_TIME = -1 << 63

_handle, _text, _size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
_handle_out, _size_out = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t)
_texts = ctypes.POINTER(ctypes.c_char_p)


class ColumnOut(ctypes.Structure):
    """roce_column"""
    _fields_ = [("size", _size), ("name", _text), ("help", _text), ("type", ctypes.c_int), ("rows", _size),
                ("values", _handle), ("text", _handle), ("known", _handle)]


class FieldOut(ctypes.Structure):
    """roce_field"""
    _fields_ = [("size", _size), ("name", _text), ("label", _text), ("type", ctypes.c_int)]


_SIGNATURES = {
    "version": (_text,),
    "free": (None, _handle),
    "error_status": (ctypes.c_int, _handle),
    "error_message": (_text, _handle),
    "error_path": (_text, _handle),
    "error_offset": (ctypes.c_int64, _handle),
    "error_text": (_text, _handle),
    "error_free": (None, _handle),
    "options_new": (ctypes.c_int, _handle_out, _handle_out),
    "options_set": (ctypes.c_int, _handle, _text, _text, _handle_out),
    "options_free": (None, _handle),
    "options_set_stop": (ctypes.c_int, _handle, _handle, _handle_out),
    "stop_new": (ctypes.c_int, _handle_out, _handle_out),
    "stop_request": (None, _handle),
    "stop_free": (None, _handle),
    "table_name": (_text, _handle),
    "table_rows": (_size, _handle),
    "table_columns": (_size, _handle),
    "table_find": (_size, _handle, _text),
    "table_column": (ctypes.c_int, _handle, _size, ctypes.POINTER(ColumnOut)),
    "table_free": (None, _handle),
    "report_open": (ctypes.c_int, _texts, _size, _handle, _handle_out, _handle_out),
    "report_incomplete": (_text, _handle),
    "report_tables": (_size, _handle),
    "report_table_at": (_handle, _handle, _size),
    "report_table": (_handle, _handle, _text),
    "report_json": (ctypes.c_int, _handle, ctypes.c_int, _handle_out, _size_out, _handle_out),
    "report_free": (None, _handle),
    "field_count": (_size,),
    "field_at": (ctypes.c_int, _size, ctypes.POINTER(FieldOut)),
    "field_find": (_size, _text),
    "frame_dissect": (ctypes.c_int, _text, _size, _size, ctypes.c_uint, _handle, _handle_out, _handle_out),
    "dissector_new": (ctypes.c_int, _handle, _handle_out, _handle_out),
    "dissector_next": (ctypes.c_int, _handle, _text, _size, _size, ctypes.c_uint, ctypes.c_int64, _handle_out, _handle_out),
    "dissector_free": (None, _handle),
    "frame_json": (ctypes.c_int, _handle, _handle_out, _size_out, _handle_out),
    "frame_free": (None, _handle),
    "packets_open": (ctypes.c_int, _texts, _size, _texts, _size, _handle, _handle_out, _handle_out),
    "packets_set_stop": (ctypes.c_int, _handle, _handle, _handle_out),
    "packets_next": (ctypes.c_int, _handle, _size, _handle_out, _handle_out),
    "packets_free": (None, _handle),
}


class Error(Exception):
    """What failed and where: `message`, `path` ("" without one), `offset` (byte in the uncompressed capture, or None)."""

    def __init__(self, text, message="", path="", offset=None):
        super().__init__(text)
        self.message, self.path, self.offset = message, path, offset


class InputError(Error, OSError):
    """A capture or policy cannot be read."""

    def __init__(self, *words):
        Error.__init__(self, *words)

    def __str__(self):
        return str(self.args[0])


class MisuseError(Error, ValueError):
    """A wrong argument: an unknown option or field, a filter that does not compile."""


class DefectError(Error, RuntimeError):
    """A defect of the library."""


_ERRORS = {MISUSE: MisuseError, INPUT: InputError, DEFECT: DefectError}


def _load():
    # ROCEANALYZE_LIBRARY: another library than the installed one, for tests.
    library = ctypes.CDLL(os.environ.get("ROCEANALYZE_LIBRARY") or "libroceanalyze.so.1")
    for name, (result, *arguments) in _SIGNATURES.items():
        function = getattr(library, "roce_" + name)
        function.restype, function.argtypes = result, arguments
    return library


library = _load()


def words(text):
    return text.decode("utf-8", "replace")


def call(name, *arguments):
    """Calls roce_NAME with a place for the error behind its arguments. Returns OK or NONE; raises what else it says."""
    error = ctypes.c_void_p()
    status = getattr(library, "roce_" + name)(*arguments, ctypes.byref(error))
    if status in (OK, NONE):
        return status
    try:
        if status == NO_MEMORY:
            raise MemoryError(words(library.roce_error_text(error)))
        offset = library.roce_error_offset(error)
        raise _ERRORS.get(status, DefectError)(
            words(library.roce_error_text(error)), words(library.roce_error_message(error)),
            words(library.roce_error_path(error)), None if offset < 0 else offset)
    finally:
        library.roce_error_free(error)


def text(value):
    """Bytes for the library, of a str or bytes. It would end at a NUL, so there must be none."""
    encoded = value if isinstance(value, bytes) else value.encode()
    if b"\0" in encoded:
        raise ValueError("embedded null byte")
    return encoded


def number(name, value, most):
    """A number for the library, which ctypes would cut to its width."""
    value = operator.index(value)
    if not 0 <= value <= most:
        raise ValueError(f"{name}: not a number from 0 to {most}: {value}")
    return value


def texts(values):
    return (ctypes.c_char_p * len(values))(*values)


class Handle:
    """A handle of the library, freed with the last reference to it."""

    def __init__(self, kind, value):
        self._free, self.value = getattr(library, f"roce_{kind}_free"), value

    @property
    def _as_parameter_(self):
        return self.value

    def __del__(self):
        if getattr(self, "value", None):
            self._free(self.value)
            self.value = None


def made(kind, name, *arguments):
    """The handle that roce_NAME makes; None if it says NONE."""
    out = ctypes.c_void_p()
    if call(name, *arguments, ctypes.byref(out)) == NONE:
        return None
    return Handle(kind, ctypes.c_void_p(out.value))


def made_with_stop(kind, name, *arguments, options):
    """As made_unless_interrupted(), of calls that are ended by the stop of their options."""
    stop = made("stop", "stop_new")
    call("options_set_stop", options, stop)
    return made_unless_interrupted(stop, kind, name, *arguments, options)


def made_unless_interrupted(stop, kind, name, *arguments):
    """As made(), for calls that take long: what a signal raises in the main thread, such as KeyboardInterrupt, ends them by `stop`."""
    if threading.current_thread() is not threading.main_thread():
        return made(kind, name, *arguments)  # signals come to the main thread alone
    results = []

    def work():
        try:
            results.append(made(kind, name, *arguments))
        except BaseException as error:  # pylint: disable=broad-except
            results.append(error.with_traceback(None))  # which refers to this list, and to what the call was given

    # It refers to all that the call needs, also if nobody waits for its end any more.
    thread = threading.Thread(target=work, daemon=True)
    thread.keeps = stop, arguments
    try:
        thread.start()
        thread.join()
    except BaseException:
        library.roce_stop_request(stop)
        if thread.ident is not None:  # it was started
            thread.join()
        raise
    if isinstance(results[0], BaseException):
        raise results.pop()
    return results[0]


def given(name, handle, *arguments):
    """The text that roce_NAME gives to its caller, as bytes."""
    out, length = ctypes.c_void_p(), ctypes.c_size_t()
    call(name, handle, *arguments, ctypes.byref(out), ctypes.byref(length))
    try:
        return ctypes.string_at(out, length.value)
    finally:
        library.roce_free(out)
