#include "evolve/seen.h"

#include "base/error.h"

void seen_release(struct seen *seen) {
    free(seen->entries);
    free(seen->table);
    *seen = (struct seen){0};
}

/* The cell of the hash table that holds this genome, or the free cell where it belongs. */
static uint32_t *cell_of(const struct seen *seen, const struct genome *genome) {
    size_t at = genome_hash(genome).low & (seen->table_size - 1);
    while (seen->table[at] && !genome_equal(&seen->entries[seen->table[at] - 1].genome, genome))
        at = (at + 1) & (seen->table_size - 1);
    return &seen->table[at];
}

struct seen_entry *seen_find(const struct seen *seen, const struct genome *genome) {
    if (seen->count == 0)
        return NULL;
    uint32_t index = *cell_of(seen, genome);
    return index ? &seen->entries[index - 1] : NULL;
}

/* Doubles the capacity. The table has two cells per entry, which keeps probe sequences short. */
static void grow(struct seen *seen) {
    seen->room = seen->room ? 2 * seen->room : 256;
    seen->table_size = 2 * seen->room;
    seen->entries = realloc(seen->entries, seen->room * sizeof *seen->entries);
    free(seen->table);
    seen->table = calloc(seen->table_size, sizeof *seen->table);
    if (seen->entries == NULL || seen->table == NULL)
        BUG("out of memory");
    for (size_t i = 0; i < seen->count; i++)
        *cell_of(seen, &seen->entries[i].genome) = (uint32_t)i + 1;
}

struct seen_entry *seen_add(struct seen *seen, const struct genome *genome,
                            enum operator_kind made_by) {
    if (seen_find(seen, genome) != NULL)
        BUG("a genome was added twice");
    if (seen->count == seen->room)
        grow(seen);
    struct seen_entry *entry = &seen->entries[seen->count++];
    *entry = (struct seen_entry){.genome = *genome, .made_by = (uint8_t)made_by};
    *cell_of(seen, genome) = (uint32_t)seen->count;
    return entry;
}
