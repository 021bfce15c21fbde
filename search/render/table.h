/* table: rows of cells under named columns, printed as text, Markdown, HTML, CSV or JSON.
 *
 *     static const struct table_column columns[] = {
 *         {.name = "rank", .heading = "rank", .right = true},
 *         {.name = "latency_p50_us", .heading = "p50\nus", .right = true},
 *         {.name = "genome", .heading = "genome", .wrap = true},
 *     };
 *     struct table *table = table_new(columns, 3);
 *     table_add(table, "%d %.2f %s", 1, 6.7243, "BLOCK_M=64");
 *     table_print(table, TABLE_TEXT, stdout);
 *     table_free(table);
 *
 * All tables of the program are printed by this module. Cells are added from left to right, row by
 * row. Text, Markdown and HTML show rounded numbers; CSV and JSON have all digits. A missing value
 * (NaN, NULL) is "-" in text and Markdown, a dash in HTML, empty in CSV and null in JSON. A
 * rounded number in HTML has the attribute data-value with more digits, for sorting.
 */
#ifndef EVOTILE_RENDER_TABLE_H
#define EVOTILE_RENDER_TABLE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum table_format { TABLE_TEXT, TABLE_MARKDOWN, TABLE_HTML, TABLE_CSV };

struct table_column {
    const char *name;    /* in CSV and JSON, with its unit: smem_bytes. NULL: not shown there */
    const char *heading; /* in text, Markdown and HTML; lines separated by \n. NULL: not shown
                            there. Text omits the headings if all are empty */
    bool right;          /* right-aligned, as numbers are */
    bool wrap;           /* only for the last column: long cells continue on further lines */
};

struct table;

/* Copies `columns`; the texts that they point to must outlive the table. */
struct table *table_new(const struct table_column *columns, int count);
void table_free(struct table *table);

/* Adds the next cells: one for each conversion of `format`, which are separated by spaces. They are
   %s, %d, %ld, and those of a double, which say how text shows it. NULL and a number that is not
   finite are missing values, as is the word "-" in the format. "%.0f%%" shows a share in percent.
   Texts are copied. */
void table_add(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A cell whose text differs from its value in CSV and JSON. Takes ownership of `value`. */
void table_cell(struct table *table, cJSON *value, const char *text);

/* Replaces the heading of the column with that name; NULL hides the column. For headings that
   depend on the rows. */
void table_heading(struct table *table, const char *column, const char *heading);

int table_row_count(const struct table *table);

/* Text is wrapped to $COLUMNS, else to the terminal's width; in a file each row is one line. */
void table_print(const struct table *table, enum table_format format, FILE *out);
/* $COLUMNS, else the width of the terminal; 0 if `out` is none. */
int table_terminal_width(FILE *out);
/* Prints text for a terminal of `width` columns; 0: unlimited. */
void table_print_text(const struct table *table, int width, FILE *out);

/* Prints one CSV field, quoted if necessary: for tables that are too large to hold in memory. */
void table_print_csv_text(const char *text, FILE *out);

/* An array with one object per row; the caller owns it. */
cJSON *table_json(const struct table *table);
/* Prints any JSON value, indented, with a final newline. Frees the value. */
void table_print_json(cJSON *value, FILE *out);

#endif
