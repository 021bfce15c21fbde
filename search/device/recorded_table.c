#include "device/recorded_table.h"

#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct recorded_table *recorded_table_new(void) {
    return xcalloc(1, sizeof(struct recorded_table));
}

void recorded_table_free(struct recorded_table *table) {
    if (table == NULL)
        return;
    free(table->rows);
    free(table->verdicts);
    free(table->times_us);
    free(table);
}

/* ---- adding rows ---- */

int recorded_table_add_column(struct recorded_table *table, const char *name, struct error *error) {
    if (table->count > 0)
        return error_input(error, "parameter '%.60s' comes after rows", name);
    if (table->column_count == COLUMNS_MAX)
        return error_input(error, "more than %d parameters", COLUMNS_MAX);
    if (strlen(name) >= NAME_SIZE)
        return error_input(error, "parameter '%.60s...' has more than %d characters", name,
                           NAME_SIZE - 1);
    if (recorded_table_find_column(table, name, 0) >= 0)
        return error_input(error, "parameter %s occurs twice", name);
    struct recorded_column *column = &table->columns[table->column_count++];
    strcpy(column->name, name);
    column->integers = column->numbers = true;
    return 0;
}

int recorded_table_find_column(const struct recorded_table *table, const char *name, int hint) {
    for (int i = 0; i < table->column_count; i++) {
        int column = (hint + i) % table->column_count;
        if (strcmp(table->columns[column].name, name) == 0)
            return column;
    }
    return -1;
}

void recorded_table_begin_row(struct recorded_table *table) {
    table->given = 0;
}

/* Searches from the last value found: most rows repeat it or have the next one. */
static int find_value(struct recorded_column *column, const char *value) {
    for (int i = 0; i < column->count; i++) {
        int at = (column->last + i) % column->count;
        if (strcmp(column->values[at], value) == 0)
            return column->last = at;
    }
    return -1;
}

static bool is_integer(const char *text) {
    char *end;
    errno = 0;
    strtoll(text, &end, 10);
    return errno == 0 && *end == '\0' && strcmp(text, "-0") != 0;
}

int recorded_table_set(struct recorded_table *table, int column, const char *value,
                       enum json_scalar kind, struct error *error) {
    struct recorded_column *target = &table->columns[column];
    if (table->given >> column & 1)
        return error_input(error, "parameter %s is given twice", target->name);
    table->given |= UINT64_C(1) << column;
    int index = find_value(target, value);
    if (index < 0) {
        if (target->count == DOMAIN_MAX)
            return error_input(error, "parameter %s has more than %d values", target->name,
                               DOMAIN_MAX);
        if (strlen(value) >= NAME_SIZE || *value == '\0')
            return error_input(error,
                               "parameter %s has a value of %zu characters: it must have 1 to %d",
                               target->name, strlen(value), NAME_SIZE - 1);
        target->numbers = target->numbers && kind == JSON_NUMBER && isfinite(strtod(value, NULL));
        target->integers = target->integers && target->numbers && is_integer(value);
        index = target->last = target->count++;
        strcpy(target->values[index], value);
    }
    table->cells[column] = (uint8_t)index;
    return 0;
}

int recorded_table_end_row(struct recorded_table *table, struct error *error) {
    for (int i = 0; i < table->column_count; i++)
        if (!(table->given >> i & 1))
            return error_input(error, "the configuration lacks parameter %s",
                               table->columns[i].name);
    if (table->count == UINT32_MAX)
        return error_input(error, "more than %u rows", UINT32_MAX);
    table->rows = xgrow(table->rows, table->count, (size_t)table->column_count);
    table->verdicts = xgrow(table->verdicts, table->count, sizeof *table->verdicts);
    table->times_us = xgrow(table->times_us, table->count, sizeof *table->times_us);
    /* A time that is not positive and finite means that nothing was measured. */
    if (table->verdict == VERDICT_OK && !(table->time_us > 0 && isfinite(table->time_us)))
        table->verdict = VERDICT_LAUNCH_FAILED;
    size_t columns = (size_t)table->column_count;
    memcpy(table->rows + table->count * columns, table->cells, columns);
    table->verdicts[table->count] = (uint8_t)table->verdict;
    table->times_us[table->count++] = table->verdict == VERDICT_OK ? table->time_us : INFINITY;
    return 0;
}

/* ---- building the space ---- */

static bool value_precedes(const struct recorded_column *column, const char *a, const char *b) {
    if (column->integers)
        return strtoll(a, NULL, 10) < strtoll(b, NULL, 10);
    if (column->numbers && strtod(a, NULL) != strtod(b, NULL))
        return strtod(a, NULL) < strtod(b, NULL);
    return strcmp(a, b) < 0;
}

/* Sorts the values into domain order: `order` lists value indices, `places` is the inverse. */
static void order_values(const struct recorded_column *column, int *order, uint8_t *places) {
    for (int i = 0; i < column->count; i++) {
        int at = i;
        for (; at > 0 && value_precedes(column, column->values[i], column->values[order[at - 1]]);
             at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int at = 0; at < column->count; at++)
        places[order[at]] = (uint8_t)at;
}

static int add_gene(struct space *space, const struct recorded_column *column, const int *order,
                    struct error *error) {
    int64_t numbers[DOMAIN_MAX];
    double reals[DOMAIN_MAX];
    bool rising = true; /* else two texts are the same number */
    const char *labels[DOMAIN_MAX];
    for (int i = 0; i < column->count; i++) {
        labels[i] = column->values[order[i]];
        numbers[i] = column->integers ? strtoll(labels[i], NULL, 10) : 0;
        reals[i] = column->numbers ? strtod(labels[i], NULL) : 0;
        rising = rising && (i == 0 || reals[i] > reals[i - 1]);
    }
    if (column->numbers && !column->integers && rising)
        return space_add_reals(space, column->name, "", reals, column->count, 0, NULL, error);
    return column->integers
               ? space_add_integers(space, column->name, "", numbers, column->count, 0, NULL, error)
               : space_add_labels(space, column->name, "", labels, column->count, 0, NULL, error);
}

static const uint8_t *row_cell(const struct recorded_table *table, size_t row, int column) {
    return table->rows + row * (size_t)table->column_count + (size_t)column;
}

/* Adds a gene for each column that varies, and turns every row into a genome. */
static int build_space(const struct recorded_table *table, struct recorded *recorded,
                       struct error *error) {
    for (int c = 0; c < table->column_count; c++) {
        const struct recorded_column *column = &table->columns[c];
        int order[DOMAIN_MAX];
        uint8_t places[DOMAIN_MAX];
        if (column->count < 2)
            continue;
        order_values(column, order, places);
        int gene = add_gene(recorded->space, column, order, error);
        if (gene < 0)
            return -1;
        for (size_t row = 0; row < table->count; row++)
            recorded->genomes[row].value[gene] = places[*row_cell(table, row, c)];
    }
    if (recorded->space->gene_count == 0)
        return error_input(error, "no parameter has two values: there is nothing to search");
    return space_seal_rows(recorded->space, recorded->genomes, table->count, error);
}

static int index_rows(struct recorded *recorded, struct error *error) {
    uint64_t rank;
    memset(recorded->row_of_rank, 0xff,
           (size_t)recorded->row_count * sizeof *recorded->row_of_rank);
    for (int64_t row = 0; row < recorded->row_count; row++) {
        if (!space_rank(recorded->space, &recorded->genomes[row], &rank))
            BUG("row %lld is not in its space", (long long)row);
        if (recorded->row_of_rank[rank] != UINT32_MAX) {
            char text[GENOME_TEXT_SIZE];
            genome_print(&recorded->genomes[row], recorded->space, text);
            return error_input(error, "two rows have the same configuration: %.400s", text);
        }
        recorded->row_of_rank[rank] = (uint32_t)row;
    }
    return 0;
}

struct recorded *recorded_table_build(const struct recorded_table *table, struct error *error) {
    struct recorded *recorded = xcalloc(1, sizeof *recorded);
    size_t count = table->count;
    memcpy(recorded->device_name, table->device_name, sizeof recorded->device_name);
    memcpy(recorded->default_genome, table->default_genome, sizeof recorded->default_genome);
    memcpy(recorded->kernel_name, table->kernel_name, sizeof recorded->kernel_name);
    recorded->space = space_new();
    recorded->row_count = (int64_t)count;
    recorded->genomes = xcalloc(count + 1, sizeof *recorded->genomes);
    recorded->verdicts = xcalloc(count + 1, 1);
    recorded->times_us = xcalloc(count + 1, sizeof *recorded->times_us);
    recorded->row_of_rank = xcalloc(count + 1, sizeof *recorded->row_of_rank);
    recorded->best_us = INFINITY;
    for (size_t row = 0; row < count; row++) {
        recorded->verdicts[row] = table->verdicts[row];
        recorded->times_us[row] = table->times_us[row];
        recorded->best_us = fmin(recorded->best_us, table->times_us[row]);
        recorded->ok_count += table->verdicts[row] == VERDICT_OK;
    }
    int result = 0;
    if (recorded->ok_count == 0)
        result = error_input(error, "none of the %zu rows has a time", count);
    if (result < 0 || build_space(table, recorded, error) < 0 || index_rows(recorded, error) < 0) {
        recorded_free(recorded);
        return NULL;
    }
    return recorded;
}

struct recorded *recorded_retain(struct recorded *recorded) {
    recorded->references++;
    return recorded;
}

void recorded_free(struct recorded *recorded) {
    if (recorded == NULL || recorded->references-- > 0)
        return;
    space_free(recorded->space);
    free(recorded->genomes);
    free(recorded->verdicts);
    free(recorded->times_us);
    free(recorded->row_of_rank);
    free(recorded);
}

int64_t recorded_find(const struct recorded *recorded, const struct genome *genome) {
    uint64_t rank;
    return space_rank(recorded->space, genome, &rank) ? (int64_t)recorded->row_of_rank[rank] : -1;
}
