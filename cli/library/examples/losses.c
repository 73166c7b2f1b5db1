/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses FILE...: what is wrong in captures, the connections that lost packets, and the packets that prove the losses.
 *
 *     cc losses.c $(pkg-config --cflags --libs roceanalyze) -o losses
 *     ./losses 04_write_loss1.cb.pcap.zst
 */
#include <inttypes.h>
#include <roceanalyze.h>
#include <stdio.h>

static int failed(roce_error *error) {
  fprintf(stderr, "losses: %s\n", roce_error_text(error));
  roce_error_free(error);
  return 1;
}

/* The column of that name; ends with known == NULL if this version of the library has none. */
static roce_column column_of(const roce_table *table, const char *name) {
  roce_column column = {.size = sizeof column};
  if (roce_table_column(table, roce_table_find(table, name), &column) != ROCE_OK) column.known = NULL;
  return column;
}

static const char *text_at(const roce_column *column, size_t row) {
  const uint64_t *begins = column->values;
  return column->text + begins[row];
}

static int64_t number_at(const roce_column *column, size_t row) {
  const int64_t *numbers = column->values;
  return numbers[row];
}

static int show_report(const char *const *paths, size_t count) {
  roce_error *error = NULL;
  roce_report *report = NULL;
  if (roce_report_open(paths, count, NULL, &report, &error) != ROCE_OK) return failed(error);
  if (*roce_report_incomplete(report) != '\0') printf("incomplete: %s\n", roce_report_incomplete(report));

  const roce_table *diagnoses = roce_report_table(report, "diagnoses");
  const roce_column what = column_of(diagnoses, "sentence");
  for (size_t row = 0; what.known != NULL && row < what.rows; ++row) printf("%s\n", text_at(&what, row));

  const roce_table *connections = roce_report_table(report, "connections");
  const roce_column a = column_of(connections, "a"), b = column_of(connections, "b");
  const roce_column packets = column_of(connections, "packets"), lost = column_of(connections, "lost");
  if (a.known == NULL || b.known == NULL || packets.known == NULL || lost.known == NULL) {
    fprintf(stderr, "losses: this version of the library has other columns\n");
    roce_report_free(report);
    return 1;
  }
  for (size_t row = 0; row < a.rows; ++row) {
    printf("%s - %s: %" PRId64 " packets, ", text_at(&a, row), text_at(&b, row), number_at(&packets, row));
    if (lost.known[row] == 0) {
      printf("losses cannot be told\n");
    } else {
      printf("%" PRId64 " lost\n", number_at(&lost, row));
    }
  }
  roce_report_free(report);
  return 0;
}

static int show_packets(const char *const *paths, size_t count) {
  static const char *const fields[] = {"frame.number", "roce.analysis.lost", "roce.analysis.lost.packets"};
  roce_error *error = NULL;
  roce_options *options = NULL;
  roce_packets *packets = NULL;
  roce_status status = roce_options_new(&options, &error);
  if (status == ROCE_OK) status = roce_options_set(options, "filter", "roce.analysis.lost", &error);
  if (status == ROCE_OK) status = roce_packets_open(paths, count, fields, 3, options, &packets, &error);
  roce_options_free(options);
  if (status != ROCE_OK) return failed(error);
  roce_table *batch = NULL;
  while ((status = roce_packets_next(packets, 0, &batch, &error)) == ROCE_OK) {
    const roce_column number = column_of(batch, fields[0]), where = column_of(batch, fields[1]);
    const roce_column of = column_of(batch, fields[2]);
    for (size_t row = 0; row < number.rows; ++row) {
      printf("packet %" PRId64 ": %" PRId64 " lost, %s%s\n", number_at(&number, row), number_at(&of, row),
             text_at(&where, row), of.known[row] > 1 ? " (and more)" : "");
    }
    roce_table_free(batch);
  }
  roce_packets_free(packets);
  return status == ROCE_NONE ? 0 : failed(error);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: losses FILE...\n");
    return 2;
  }
  const char *const *paths = (const char *const *)(argv + 1);
  const int status = show_report(paths, (size_t)argc - 1);
  return status != 0 ? status : show_packets(paths, (size_t)argc - 1);
}
