#include "analysis/gene_columns.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/strbuf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool equals_text(const char *known, struct gene_word word) {
    return strlen(known) == (size_t)word.length &&
           memcmp(known, word.text, (size_t)word.length) == 0;
}

/* The index of a value, which is added if it is new; -1 if there are too many. */
static int find_or_add_value(struct gene_column *column, struct gene_word value) {
    for (int i = 0; i < column->count; i++)
        if (equals_text(column->values[i], value))
            return i;
    if (column->count == DOMAIN_MAX || value.length >= NAME_SIZE)
        return -1;
    column->values[column->count] = xstrndup(value.text, (size_t)value.length);
    return column->count++;
}

/* The index of a gene's column, which is added if it is new; -1 if there are too many. The rows
   before have the first value of a new column: none. */
static int find_or_add_column(struct genes *genes, struct gene_word name) {
    for (int g = 0; g < genes->count; g++)
        if (equals_text(genes->columns[g].name, name))
            return g;
    if (genes->count == GENES_MAX)
        return -1;
    struct gene_column *column = &genes->columns[genes->count];
    column->name = xstrndup(name.text, (size_t)name.length);
    if (genes->rows > 0)
        find_or_add_value(column, (struct gene_word){GENE_ABSENT, strlen(GENE_ABSENT)});
    return genes->count++;
}

/* Of several solutions: by the names of the genes. */
static int add_by_name(struct genes *genes, const char *text, uint8_t row[GENES_MAX],
                       struct error *error) {
    bool present[GENES_MAX] = {false};
    struct gene_words words;
    const char *at = text;
    int found, value = 0;
    memset(row, 0, GENES_MAX);
    while (value >= 0 && (found = genome_read_gene(&at, &words)) == 1) {
        int gene = find_or_add_column(genes, words.name);
        value =
            gene < 0 || present[gene] ? -1 : find_or_add_value(&genes->columns[gene], words.value);
        if (value < 0)
            break;
        present[gene] = true;
        row[gene] = (uint8_t)value;
    }
    for (int g = 0; g < genes->count && value >= 0; g++) {
        if (present[g])
            continue;
        value = find_or_add_value(&genes->columns[g],
                                  (struct gene_word){GENE_ABSENT, strlen(GENE_ABSENT)});
        row[g] = value < 0 ? 0 : (uint8_t)value;
    }
    genes->rows++;
    return value >= 0 && found == 0
               ? 0
               : error_set(error, "the genome \"%.200s\" cannot be read: the run is damaged", text);
}

int genes_add(struct genes *genes, const char *text, uint8_t row[GENES_MAX], struct error *error) {
    if (genes->several)
        return add_by_name(genes, text, row, error);
    const char *at = text;
    bool first = genes->count == 0;
    int gene = 0, found;
    struct gene_words words;
    memset(row, 0, GENES_MAX);
    while ((found = genome_read_gene(&at, &words)) == 1) {
        struct gene_column *column = &genes->columns[gene];
        if (gene == (first ? GENES_MAX : genes->count))
            break;
        if (first) {
            column->name = xstrndup(words.name.text, (size_t)words.name.length);
            genes->count++;
        }
        int value =
            equals_text(column->name, words.name) ? find_or_add_value(column, words.value) : -1;
        if (value < 0)
            break;
        row[gene++] = (uint8_t)value;
    }
    return found == 0 && gene > 0 && gene == genes->count
               ? 0
               : error_set(error,
                           "the genome \"%.200s\" has other genes than the first: the run is "
                           "damaged",
                           text);
}

/* Numbers sort before labels. */
static int compare_values(const void *a, const void *b) {
    const char *const *texts[2] = {a, b};
    long double numbers[2]; /* which has every 64-bit integer */
    bool number[2];
    for (int i = 0; i < 2; i++) {
        char *end;
        numbers[i] = strtold(*texts[i], &end);
        number[i] = end != *texts[i] && *end == '\0' && isfinite(numbers[i]);
    }
    if (number[0] != number[1])
        return number[0] ? -1 : 1;
    if (number[0] && numbers[0] != numbers[1])
        return numbers[0] < numbers[1] ? -1 : 1;
    return strcmp(*texts[0], *texts[1]);
}

void genes_sort(struct genes *genes, uint8_t positions[GENES_MAX][DOMAIN_MAX]) {
    for (int g = 0; g < genes->count; g++) {
        struct gene_column *column = &genes->columns[g];
        char *before[DOMAIN_MAX];
        memcpy(before, column->values, sizeof before);
        qsort(column->values, (size_t)column->count, sizeof *column->values, compare_values);
        for (int i = 0; i < column->count; i++)
            for (int k = 0; k < column->count; k++)
                if (before[i] == column->values[k])
                    positions[g][i] = (uint8_t)k;
    }
}

void genes_print(const struct genes *genes, const uint8_t row[GENES_MAX],
                 char text[GENOME_TEXT_SIZE]) {
    text[0] = '\0';
    for (int g = 0; g < genes->count; g++) {
        const char *value = genes->columns[g].values[row[g]];
        if (!genes->several || strcmp(value, GENE_ABSENT) != 0)
            text_append(text, GENOME_TEXT_SIZE, "%s%s=%s", *text != '\0' ? "," : "",
                        genes->columns[g].name, value);
    }
}

void genes_release(struct genes *genes) {
    for (int g = 0; g < genes->count; g++) {
        free(genes->columns[g].name);
        for (int i = 0; i < genes->columns[g].count; i++)
            free(genes->columns[g].values[i]);
    }
    *genes = (struct genes){0};
}
