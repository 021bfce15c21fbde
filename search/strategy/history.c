#include "strategy/history.h"

#include "base/error.h"
#include "base/memory.h"

void history_release(struct history *history) {
    free(history->entries);
    free(history->table);
    *history = (struct history){0};
}

/* The cell of the hash table that holds this genome, or the free cell where it belongs. */
static uint32_t *find_cell(const struct history *history, const struct genome *genome) {
    size_t at = genome_hash(genome).low & (history->table_size - 1);
    while (history->table[at] &&
           !genome_equal(&history->entries[history->table[at] - 1].genome, genome))
        at = (at + 1) & (history->table_size - 1);
    return &history->table[at];
}

struct history_entry *history_find(const struct history *history, const struct genome *genome) {
    if (history->count == 0)
        return NULL;
    uint32_t index = *find_cell(history, genome);
    return index ? &history->entries[index - 1] : NULL;
}

/* Doubles the capacity. The table has two cells per entry, which keeps probe sequences short. */
static void grow_history(struct history *history) {
    history->capacity = history->capacity ? 2 * history->capacity : 256;
    history->table_size = 2 * history->capacity;
    history->entries = xrealloc(history->entries, history->capacity * sizeof *history->entries);
    free(history->table);
    history->table = xcalloc(history->table_size, sizeof *history->table);
    for (size_t i = 0; i < history->count; i++)
        *find_cell(history, &history->entries[i].genome) = (uint32_t)i + 1;
}

struct history_entry *history_add(struct history *history, const struct genome *genome,
                                  enum operator_kind made_by) {
    if (history_find(history, genome) != NULL)
        BUG("a genome was added twice");
    if (history->count == history->capacity)
        grow_history(history);
    struct history_entry *entry = &history->entries[history->count++];
    *entry = (struct history_entry){.genome = *genome, .made_by = (uint8_t)made_by};
    *find_cell(history, genome) = (uint32_t)history->count;
    return entry;
}
