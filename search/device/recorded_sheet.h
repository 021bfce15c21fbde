/*
 * recorded_sheet: rows as they come out of a file, before it is known which parameters vary and
 * which values there are; private to recorded*.c. Values are texts, numbered as they appear.
 *
 *     struct sheet *sheet = sheet_new();
 *     sheet_add_column(sheet, "block_size_x", &error);
 *     sheet_begin_row(sheet);
 *     sheet_set(sheet, 0, "128", JSON_NUMBER, &error);
 *     sheet->verdict = VERDICT_OK; sheet->time_us = 12.5;
 *     if (sheet_end_row(sheet, &error) < 0) ...
 *     struct recorded *recorded = sheet_finish(sheet, &error);     // owns nothing of the sheet
 *     sheet_free(sheet);
 */
#ifndef EVOTILE_DEVICE_RECORDED_SHEET_H
#define EVOTILE_DEVICE_RECORDED_SHEET_H

#include "base/json_stream.h"
#include "device/recorded.h"

enum { COLUMNS_MAX = 64 };

struct column {
    char name[NAME_SIZE];
    int count, last; /* of its values; and the one found last */
    bool integers, numbers;
    char values[DOMAIN_MAX][NAME_SIZE];
};

struct sheet {
    char device_name[128], kernel_name[128], default_genome[GENOME_TEXT_SIZE];
    int column_count;
    struct column columns[COLUMNS_MAX];
    /* The row that is being read. */
    uint64_t given; /* a bit a column */
    uint8_t cells[COLUMNS_MAX];
    enum verdict verdict;
    double time_us;
    /* The rows that are: with the first the columns are known. */
    size_t count, room;
    uint8_t *rows; /* column_count cells each */
    uint8_t *verdicts;
    double *times_us;
};

struct sheet *sheet_new(void);
void sheet_free(struct sheet *sheet);

int sheet_add_column(struct sheet *sheet, const char *name, struct error *error);
/* The column of that name, looked for from `hint` on; -1: there is none. */
int sheet_find_column(const struct sheet *sheet, const char *name, int hint);

void sheet_begin_row(struct sheet *sheet);
int sheet_set(struct sheet *sheet, int column, const char *value, enum json_scalar kind,
              struct error *error);
/* Refuses a row that lacks a column. */
int sheet_end_row(struct sheet *sheet, struct error *error);

struct recorded *sheet_finish(const struct sheet *sheet, struct error *error);

#endif
