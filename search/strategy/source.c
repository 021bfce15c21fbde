#include "strategy/source.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads the genes that the space has too. Returns their bits, or 0 if a value is not in its
   domain. */
static uint32_t read_genes(const struct space *space, const char *text, struct genome *genome) {
    struct gene_words words;
    uint32_t genes = 0;
    while (genome_read_gene(&text, &words) == 1) {
        char name[NAME_SIZE], value[NAME_SIZE];
        if (words.name.length >= NAME_SIZE || words.value.length >= NAME_SIZE)
            return 0;
        snprintf(name, sizeof name, "%.*s", words.name.length, words.name.text);
        snprintf(value, sizeof value, "%.*s", words.value.length, words.value.text);
        int gene = space_find_gene(space, name);
        int index = gene >= 0 ? genome_find_index(space, gene, value) : 0;
        if (index < 0)
            return 0;
        if (gene < 0)
            continue;
        genome->value[gene] = (uint8_t)index;
        genes |= UINT32_C(1) << gene;
    }
    return genes;
}

static void add_row(struct source *source, const struct genome *genome, uint32_t genes, double us) {
    source->genes = source->row_count == 0 ? genes : source->genes & genes;
    source->rows = xgrow(source->rows, source->row_count, sizeof *source->rows);
    source->rows[source->row_count++] = (struct source_row){*genome, us};
}

void source_add(struct source *source, const struct space *space, const char *text, double us) {
    struct genome genome = genome_default(space);
    uint32_t genes = read_genes(space, text, &genome);
    if (genes == 0) {
        source->left_out++;
        return;
    }
    genome_canonicalise(&genome, space);
    add_row(source, &genome, genes, us);
}

void source_add_genome(struct source *source, const struct space *space,
                       const struct genome *genome, double us) {
    add_row(source, genome, (uint32_t)((UINT64_C(1) << space->gene_count) - 1), us);
}

static int compare_rows(const void *left, const void *right) {
    const struct source_row *a = left, *b = right;
    if (a->us != b->us)
        return a->us < b->us ? -1 : 1;
    return memcmp(&a->genome, &b->genome, sizeof a->genome);
}

void source_seal(struct source *source) {
    if (source->row_count > 0)
        qsort(source->rows, (size_t)source->row_count, sizeof *source->rows, compare_rows);
}

void source_release(struct source *source) {
    free(source->rows);
    *source = (struct source){0};
}

bool source_is_usable(const struct source *source) {
    return source->row_count > 0 && source->genes != 0 && isfinite(source->rows[0].us);
}
