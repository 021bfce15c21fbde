/*
 * recorded_table: the rows of a file before it is known which parameters vary and over which
 * values. Values are texts, numbered in order of appearance. Private to recorded*.c.
 *
 *     struct recorded_table *table = recorded_table_new();
 *     recorded_table_add_column(table, "block_size_x", &error);
 *     recorded_table_begin_row(table);
 *     recorded_table_set(table, 0, "128", JSON_NUMBER, &error);
 *     table->verdict = VERDICT_OK;
 *     table->time_us = 12.5;
 *     if (recorded_table_end_row(table, &error) < 0)
 *         return -1;
 *     struct recorded *recorded = recorded_table_build(table, &error);     // a copy of the data
 *     recorded_table_free(table);
 */
#ifndef EVOTILE_DEVICE_RECORDED_TABLE_H
#define EVOTILE_DEVICE_RECORDED_TABLE_H

#include "base/json_stream.h"
#include "device/recorded.h"

enum { COLUMNS_MAX = 64 };

struct recorded_column {
    char name[NAME_SIZE];
    int count, last; /* number of values; index of the last one found */
    bool integers, numbers;
    char values[DOMAIN_MAX][NAME_SIZE];
};

struct recorded_table {
    char device_name[128], kernel_name[128], default_genome[GENOME_TEXT_SIZE];
    int column_count;
    struct recorded_column columns[COLUMNS_MAX];
    /* The row being read. */
    uint64_t given; /* a bit for each column that has a value */
    uint8_t cells[COLUMNS_MAX];
    enum verdict verdict;
    double time_us;
    /* The complete rows; after the first one the columns are fixed. */
    size_t count;
    uint8_t *rows; /* column_count cells a row */
    uint8_t *verdicts;
    double *times_us;
};

struct recorded_table *recorded_table_new(void);
void recorded_table_free(struct recorded_table *table);

int recorded_table_add_column(struct recorded_table *table, const char *name, struct error *error);
/* Returns the column of that name, searched from `hint` on; -1 if there is none. */
int recorded_table_find_column(const struct recorded_table *table, const char *name, int hint);

void recorded_table_begin_row(struct recorded_table *table);
int recorded_table_set(struct recorded_table *table, int column, const char *value,
                       enum json_scalar kind, struct error *error);
/* Rejects a row in which a column has no value. */
int recorded_table_end_row(struct recorded_table *table, struct error *error);

struct recorded *recorded_table_build(const struct recorded_table *table, struct error *error);

#endif
