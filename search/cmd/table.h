/*
 * table: rows of cells under named columns, printed in any of five ways from the same cells: text
 * for people, Markdown, HTML, CSV and JSON. Every verb that prints a table prints this one.
 *
 *     static const struct table_column columns[] = {
 *         {.name = "rank", .heading = "rank", .right = true},
 *         {.name = "latency_p50_us", .heading = "p50\nus", .right = true},
 *         {.name = "genome", .heading = "genome", .wrap = true},
 *     };
 *     struct table *table = table_new(columns, 3);
 *     table_integer(table, 1);
 *     table_number(table, 6.7243, 2);
 *     table_text(table, "BLOCK_M=64");
 *     table_print(table, TABLE_TEXT, stdout);
 *     table_free(table);
 *
 * Cells are added from left to right, row by row. Text shows numbers rounded, as asked; CSV and
 * JSON have all their digits. What is not there (NaN, table_none) is "-" in text and Markdown,
 * a dash in HTML, nothing in CSV and null in JSON. HTML is what text shows, in a <table>; a cell
 * whose number is rounded has more of it, for a page to sort by, in data-value.
 */
#ifndef EVOTILE_CMD_TABLE_H
#define EVOTILE_CMD_TABLE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum table_format { TABLE_TEXT, TABLE_MARKDOWN, TABLE_HTML, TABLE_CSV };

struct table_column {
    const char *name;    /* in CSV and JSON, with its unit: smem_bytes. NULL: not shown there */
    const char *heading; /* in text and Markdown, lines parted by \n; NULL: not shown there. Text
                            leaves out a line of headings that are all empty */
    bool right;          /* aligned to the right, as numbers are */
    bool wrap;           /* the last column may be: long cells continue on further lines */
};

struct table;

/* `columns` is copied; its texts must outlive the table. */
struct table *table_new(const struct table_column *columns, int count);
void table_free(struct table *table);

/* Each adds the next cell; texts are copied. `decimals` are those of the text. */
void table_text(struct table *table, const char *text);
void table_integer(struct table *table, int64_t number);
void table_number(struct table *table, double number, int decimals);
void table_none(struct table *table);
/* A cell that people read in other words than programs: `value` becomes the table's. */
void table_cell(struct table *table, cJSON *value, const char *text);

/* Gives a column another heading, or none: for what is known only when the rows are. */
void table_heading(struct table *table, int column, const char *heading);

int table_row_count(const struct table *table);

/* Text is fitted to $COLUMNS, else to the terminal's width; a file gets each row on one line. */
void table_print(const struct table *table, enum table_format format, FILE *out);
/* Text for `width` columns; 0: as wide as it gets. */
void table_print_text(const struct table *table, int width, FILE *out);

/* One field of CSV, quoted where it must be: for a table with too many rows to hold. */
void table_print_csv_text(const char *text, FILE *out);

/* An array with an object a row, which the caller owns. */
cJSON *table_json(const struct table *table);
/* Prints any JSON value, indented, with a final newline; and frees it. */
void table_print_json(cJSON *value, FILE *out);

#endif
