/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libroceanalyze: dissects single packets, analyses captures, and gives packets with the verdict on each.
 *
 * What holds for all functions:
 *
 *  - Errors. Functions that may fail return a roce_status. Where they take `roce_error **error`, it may be NULL; else
 *    *error is set to NULL, or on failure to an error that says what failed and where, which the caller frees by
 *    roce_error_free(). Results are set on ROCE_OK only; else they are NULL or 0. Nothing is printed, nothing exits, no C++
 *    exception leaves the library, and no capture, however damaged, is a reason to crash.
 *  - Null. A null handle is ROCE_MISUSE, or the stated empty result; the functions that free take NULL and do nothing.
 *  - Lifetime. A handle lives until it is freed. What a function returns as const belongs to the handle it was asked of.
 *  - Threads. Different handles may be used by different threads at the same time. A report, a table, a frame and an
 *    error may be read by several threads at once; options, packets and dissectors only by one at a time. None may be used
 *    while it is freed.
 *  - Text is UTF-8 and ends with NUL. Bytes that are none, on the wire or in names of files, are escaped as in C or become U+FFFD.
 *  - Times are nanoseconds since 1970-01-01 UTC, durations nanoseconds, unless the name or help of a column says otherwise.
 *  - Names of tables, columns, fields and options are those of the program: `roceanalyze export`, `roceanalyze packets
 *    --list-fields` and `--help`. Ask by name: positions may change from version to version, names do not.
 *
 * The interface grows: functions, names and values of enumerations are added, none is changed or taken away while the name of
 * the library (libroceanalyze.so.1) stays. Structures begin with their size, which the caller sets.
 */
#ifndef ROCEANALYZE_H
#define ROCEANALYZE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ROCE_API __attribute__((visibility("default")))
#else
#define ROCE_API
#endif

/** Not a position: there is no column, table or field of that name. */
#define ROCE_NOWHERE SIZE_MAX

typedef enum roce_status {
  ROCE_OK = 0,
  ROCE_NONE = 1,      /**< no error: there is no such value, or no more */
  ROCE_MISUSE = 2,    /**< a wrong argument: null, an unknown name, a filter that does not compile */
  ROCE_INPUT = 3,     /**< a capture or policy cannot be read, or not to its end */
  ROCE_NO_MEMORY = 4, /**< or no room for temporary files */
  ROCE_DEFECT = 5     /**< a defect of the library */
} roce_status;

/** The version of the library, "0.1.0". Static. */
ROCE_API const char *roce_version(void);

/** Frees text that a function gave to the caller. */
ROCE_API void roce_free(char *text);

/* ---- errors ---- */

typedef struct roce_error roce_error;

/** ROCE_OK for NULL. */
ROCE_API roce_status roce_error_status(const roce_error *error);
/** One sentence without place; "" for NULL. A filter with its mistake marked is several lines. */
ROCE_API const char *roce_error_message(const roce_error *error);
/** The file or option that it is about; "" if it is about none. */
ROCE_API const char *roce_error_path(const roce_error *error);
/** The byte in the uncompressed capture, from 0; -1 if there is none. */
ROCE_API int64_t roce_error_offset(const roce_error *error);
/** Place and message together: "x.pcap: at byte 4711: ..."; "" for NULL. */
ROCE_API const char *roce_error_text(const roce_error *error);
ROCE_API void roce_error_free(roce_error *error);

/* ---- options ---- */

/** Options of an analysis. All functions that take options take NULL for the defaults, and keep nothing of them. */
typedef struct roce_options roce_options;

ROCE_API roce_status roce_options_new(roce_options **options, roce_error **error);
/**
 * Sets an option by the name that it has in the program, to a value as it is typed there.
 *
 *   "filter"            display filter, as -Y: a report counts only packets that match, roce_packets_next() gives only those
 *   "policy"            file or profile that markings are validated against
 *   "jobs"              threads, 1 to 256; default: one per core. Never changes a result
 *   "max-packets"       reads that many packets at most, 1 or more; a report of which more is left unread is incomplete
 *   "no-icrc"           "true" or "false" (default): whether ICRCs are left unchecked
 *   "trimmed-dscp"      "11" or "11,21": DSCPs that switches give to packets which they trim
 *   "mrc-port"          UDP port of MRC besides 4791, 0 to 65535
 *   "decode-as"         "falcon=7777,...": numbers that nobody assigned
 *   "roce-ip-protocol"  IP protocol of RoCE directly over IP, 1 to 255
 *
 * ROCE_MISUSE: no such option, or not a valid value (policies are read when they are used). The empty value is the default.
 */
ROCE_API roce_status roce_options_set(roce_options *options, const char *name, const char *value, roce_error **error);
ROCE_API void roce_options_free(roce_options *options);

/** Ends analyses from another thread or from a signal handler. */
typedef struct roce_stop roce_stop;

ROCE_API roce_status roce_stop_new(roce_stop **stop, roce_error **error);
/**
 * Ends the analyses that have it, at the latest some ten thousand packets later, but not while a pipe has none; those that begin
 * later end at once. The report is incomplete then and says so; roce_packets_open() is ROCE_INPUT; roce_packets_next():
 * roce_packets_set_stop(). Any thread, and signal handlers.
 */
ROCE_API void roce_stop_request(roce_stop *stop);
/**
 * Analyses with these options are ended by `stop`; NULL: by nothing, the default. `stop` must not be freed before these options
 * and the functions that were called with them have ended.
 */
ROCE_API roce_status roce_options_set_stop(roce_options *options, const roce_stop *stop, roce_error **error);
ROCE_API void roce_stop_free(roce_stop *stop);

/* ---- tables: results by column ---- */

/** Rows and columns: results of a report, or packets. */
typedef struct roce_table roce_table;

typedef enum roce_type {
  ROCE_INT64 = 1,
  ROCE_UINT64 = 2,
  ROCE_DOUBLE = 3,
  ROCE_TEXT = 4
} roce_type;

/** One column, as arrays of one entry a row. The arrays belong to the table. */
typedef struct roce_column {
  size_t size;      /**< set by the caller before the call: sizeof(roce_column) */
  const char *name; /**< stable */
  const char *help; /**< what it says, with its unit where it has one */
  int type;         /**< of the values, a roce_type */
  size_t rows;
  /** int64_t, uint64_t or double each. Of ROCE_TEXT: uint64_t, where each text begins in `text`; rows + 1 of them. */
  const void *values;
  const char *text; /**< ROCE_TEXT: all texts, each with its NUL; else NULL */
  /**
   * How many values there are, at most 255. 0: none, which is not the number 0 but "cannot be told from this capture", or that
   * the packet does not have the field; `values` has 0 or an empty text there. Above 1, for fields of packets only: the
   * header occurs more than once; numbers are the first, outermost one, texts are all of them with commas between.
   */
  const uint8_t *known;
} roce_column;

/** "connections", "flows" ...; "packets" of roce_packets_next(). "" for NULL. */
ROCE_API const char *roce_table_name(const roce_table *table);
ROCE_API size_t roce_table_rows(const roce_table *table);    /**< 0 for NULL */
ROCE_API size_t roce_table_columns(const roce_table *table); /**< 0 for NULL */
/** The position of the column of that name, or ROCE_NOWHERE. */
ROCE_API size_t roce_table_find(const roce_table *table, const char *name);
/** ROCE_MISUSE: no such position, or column->size is smaller than that of the first version. */
ROCE_API roce_status roce_table_column(const roce_table *table, size_t position, roce_column *column);
/** Frees a table of roce_packets_next(). Does nothing to those of a report, which live as long as it. */
ROCE_API void roce_table_free(roce_table *table);

/* ---- reports ---- */

/** The analysis of one or several captures. Immutable. */
typedef struct roce_report roce_report;

/**
 * Analyses captures to their end, as `roceanalyze report`: pcap or pcapng, plain, gzip, zstd or lz4; several are merged in
 * time order. `paths`: `count` of them, 1 or more; each a file, a pattern (*.pcap), or "-" for standard input.
 * Fails with ROCE_INPUT if no input can be read. If only some can, or not to their end, the report speaks for the
 * rest and roce_report_incomplete() says so.
 */
ROCE_API roce_status roce_report_open(const char *const *paths, size_t count, const roce_options *options,
                                      roce_report **report, roce_error **error);
/** What the report does not cover, one or more sentences; "" if it is complete, or NULL. Look at it before all else. */
ROCE_API const char *roce_report_incomplete(const roce_report *report);
/** The number of tables. 0 for NULL. */
ROCE_API size_t roce_report_tables(const roce_report *report);
/** The table at a position, or NULL. */
ROCE_API const roce_table *roce_report_table_at(const roce_report *report, size_t position);
/** The table of that name ("connections", "incidents", "diagnoses" ...), or NULL. */
ROCE_API const roce_table *roce_report_table(const roce_report *report, const char *name);
/**
 * The document of `roceanalyze report --json`. `pretty`: 0, or with line breaks. *text has *length bytes and a NUL behind them,
 * and is the caller's, to free by roce_free(). `length` may be NULL.
 */
ROCE_API roce_status roce_report_json(const roce_report *report, int pretty, char **text, size_t *length,
                                      roce_error **error);
ROCE_API void roce_report_free(roce_report *report);

/* ---- fields of packets ---- */

typedef struct roce_field {
  size_t size;       /**< set by the caller before the call: sizeof(roce_field) */
  const char *name;  /**< Wireshark's: "infiniband.bth.psn"; ours begin with "roce." */
  const char *label; /**< for people */
  int type;          /**< of a column of it, a roce_type: ROCE_INT64, ROCE_UINT64 or ROCE_TEXT */
} roce_field;

ROCE_API size_t roce_field_count(void);
/** Fields by name, in alphabetical order. Static. ROCE_MISUSE as in roce_table_column(). */
ROCE_API roce_status roce_field_at(size_t position, roce_field *field);
/** The position of a field, or ROCE_NOWHERE. */
ROCE_API size_t roce_field_find(const char *name);

/* ---- one frame ---- */

/** One dissected frame, with a copy of its bytes. Immutable. */
typedef struct roce_frame roce_frame;

/** Longest frame that is dissected, bytes. */
#define ROCE_FRAME_MAX 262144

/**
 * Dissects one frame by itself, and checks its ICRC. `bytes`: `captured` of them, at most ROCE_FRAME_MAX; `wire`: its length on
 * the wire, not below `captured`; 0: all of it was captured. `link_type`: number of the tcpdump.org registry, 1 = Ethernet,
 * 247 = InfiniBand; others give a frame without fields of headers. Of `options` those count that say how packets are
 * read, and "no-icrc". What only other packets tell (roce.flow, roce.analysis.*, the upper layer by a CM exchange before it,
 * records of IPFIX and NetFlow whose template another frame has) a single frame does not have. A frame that contradicts
 * itself is no error: the field roce.stop says why its dissection ended.
 */
ROCE_API roce_status roce_frame_dissect(const void *bytes, size_t captured, size_t wire, unsigned link_type,
                                        const roce_options *options, roce_frame **frame, roce_error **error);
/**
 * Frames one after the other, in the order of their capture: what earlier ones tell of later ones is known (templates of IPFIX
 * and NetFlow, upper layers by CM exchanges). Bounded: it may go on for ever. Since 1.2.
 */
typedef struct roce_dissector roce_dissector;
/** `options` as of roce_frame_dissect(); they may be freed afterwards. */
ROCE_API roce_status roce_dissector_new(const roce_options *options, roce_dissector **dissector, roce_error **error);
/** No time: a frame has none then, and no trailers of switches, which are known by theirs. */
#define ROCE_NO_TIME INT64_MIN
/** The next frame, as roce_frame_dissect(); `time_ns` or ROCE_NO_TIME. It outlives the dissector. One thread at a time. */
ROCE_API roce_status roce_dissector_next(roce_dissector *dissector, const void *bytes, size_t captured, size_t wire,
                                         unsigned link_type, int64_t time_ns, roce_frame **frame, roce_error **error);
ROCE_API void roce_dissector_free(roce_dissector *dissector);
/** How often a field occurs, outermost first. 0 also for NULL and unknown names. */
ROCE_API size_t roce_frame_count(const roce_frame *frame, const char *field);
/**
 * The number of an occurrence, from 0: numbers, booleans (0, 1), headers (1). ROCE_NONE: the frame does not have it.
 * ROCE_MISUSE: null, no such field, or one of ROCE_TEXT.
 */
ROCE_API roce_status roce_frame_number(const roce_frame *frame, const char *field, size_t occurrence, uint64_t *number);
/**
 * An occurrence as text, as in `tshark -T fields`. Writes at most `size` bytes with the NUL to `buffer` (which may be NULL if
 * `size` is 0), and the length of the whole text without NUL to *length, which may be NULL: not below `size`: it was cut.
 * ROCE_NONE and ROCE_MISUSE as above.
 */
ROCE_API roce_status roce_frame_text(const roce_frame *frame, const char *field, size_t occurrence, char *buffer,
                                     size_t size, size_t *length);
/** All fields as one JSON object, as `roceanalyze packets -T json`. Result as of roce_report_json(). */
ROCE_API roce_status roce_frame_json(const roce_frame *frame, char **text, size_t *length, roce_error **error);
ROCE_API void roce_frame_free(roce_frame *frame);

/* ---- packets ---- */

/** The packets of captures, one after the other, with chosen fields. */
typedef struct roce_packets roce_packets;

/**
 * Opens captures as roce_report_open() does. `fields`: names of the `field_count` columns wanted, 1 or more. If one of them or
 * the filter needs the analysis (roce.connection, roce.flow, roce.analysis.*, roce.incident), the captures are analysed first,
 * which takes as long as a report, and read a second time for roce_packets_next(): they must be files then, not pipes. Files
 * that are replaced meanwhile are ROCE_INPUT; packets that are appended meanwhile are left out.
 * ROCE_MISUSE: an unknown field, named in the message with similar ones.
 */
ROCE_API roce_status roce_packets_open(const char *const *paths, size_t count, const char *const *fields,
                                       size_t field_count, const roce_options *options, roce_packets **packets,
                                       roce_error **error);
/**
 * The next packets, one row each, as a table of the fields in the order asked for; the caller frees it by roce_table_free(), and
 * it does not depend on `packets`. `most`: rows at most, 1 to 1048576; 0: 65536. ROCE_NONE: there are no more, and all were
 * read, or as many as "max-packets" says. ROCE_INPUT: there are no more, but some could not be read, once; ROCE_NONE afterwards.
 * ROCE_NO_MEMORY: rows were lost, and there are no more; said again by each further call.
 */
ROCE_API roce_status roce_packets_next(roce_packets *packets, size_t most, roce_table **table, roce_error **error);
/**
 * roce_packets_next() is ended by `stop`, also one that runs already: it gives the rows that it has, at the latest some thousand
 * packets later, but not while a pipe has none; then it is ROCE_INPUT, once, with the number of packets that were read, and
 * ROCE_NONE afterwards. NULL: it is ended by nothing, the default, whatever the options of roce_packets_open() say. Not while
 * roce_packets_next() runs. `stop` must not be freed before `packets`, or before another one takes its place. Since 1.1.
 */
ROCE_API roce_status roce_packets_set_stop(roce_packets *packets, const roce_stop *stop, roce_error **error);
ROCE_API void roce_packets_free(roce_packets *packets);

#ifdef __cplusplus
}
#endif

#endif
