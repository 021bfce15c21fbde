#include "ptx/sectors.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SECTORS_OF_LINE = LINE_BYTES / SECTOR_BYTES, CAPACITY_LEAST = 1024 };
_Static_assert(SECTORS_OF_LINE == 4, "an entry has four bits for them");

/* The lines that one warp instruction touches: a lane's bytes, at most 32, lie in one or two. */
struct touched_lines {
    uint64_t entries[64];
    int count;
};

static struct line_entry *find_entry(const struct sector_set *set, uint64_t line) {
    size_t at = (size_t)(line * 0x9e3779b97f4a7c15ull >> 20) & (set->capacity - 1);
    while (set->entries[at].sectors != 0 && set->entries[at].sectors >> SECTORS_OF_LINE != line)
        at = (at + 1) & (set->capacity - 1);
    return &set->entries[at];
}

/* Keeps the table at most half full. */
static void make_room(struct sector_set *set) {
    struct sector_set grown = *set;
    if (2 * (set->lines + 1) <= set->capacity)
        return;
    grown.capacity = set->capacity > 0 ? 2 * set->capacity : CAPACITY_LEAST;
    grown.entries = xcalloc(grown.capacity, sizeof *grown.entries);
    for (size_t i = 0; i < set->capacity; i++)
        if (set->entries[i].sectors != 0)
            *find_entry(&grown, set->entries[i].sectors >> SECTORS_OF_LINE) = set->entries[i];
    free(set->entries);
    *set = grown;
}

/* Lanes mostly follow one another, so the line is one of the last. */
static void touch(struct touched_lines *touched, uint64_t sector) {
    const uint64_t line = sector / SECTORS_OF_LINE, bit = 1u << sector % SECTORS_OF_LINE;
    for (int i = touched->count - 1; i >= 0; i--)
        if (touched->entries[i] >> SECTORS_OF_LINE == line) {
            touched->entries[i] |= bit;
            return;
        }
    touched->entries[touched->count++] = line << SECTORS_OF_LINE | bit;
}

/* Adds sectors of a line, a bit for each. */
static void add_sectors(struct sector_set *set, uint64_t line, uint64_t bits,
                        struct sector_access *access) {
    make_room(set);
    struct line_entry *entry = find_entry(set, line);
    const int sectors = __builtin_popcountll(bits),
              known = __builtin_popcountll(entry->sectors & bits);
    if (known > 0 && set->clock > entry->touched_at + access->age)
        access->age = set->clock - entry->touched_at;
    set->lines += entry->sectors == 0;
    *entry = (struct line_entry){line << SECTORS_OF_LINE |
                                     (entry->sectors & ((1u << SECTORS_OF_LINE) - 1)) | bits,
                                 set->clock};
    set->sectors += (uint64_t)(sectors - known);
    access->sectors += sectors;
    access->known += known;
}

void sectors_access(struct sector_set *set, const uint64_t addresses[], uint32_t mask, int bytes,
                    struct sector_access *access) {
    struct touched_lines touched = {.count = 0};
    *access = (struct sector_access){0};
    for (int lane = 0; lane < 32; lane++) {
        if (!(mask >> lane & 1))
            continue;
        touch(&touched, addresses[lane] / SECTOR_BYTES);
        touch(&touched, (addresses[lane] + (uint64_t)bytes - 1) / SECTOR_BYTES);
    }
    for (int i = 0; i < touched.count; i++)
        add_sectors(set, touched.entries[i] >> SECTORS_OF_LINE,
                    touched.entries[i] & ((1u << SECTORS_OF_LINE) - 1), access);
}

void sectors_range(struct sector_set *set, uint64_t address, uint64_t bytes,
                   struct sector_access *access) {
    *access = (struct sector_access){0};
    if (bytes == 0)
        return;
    const uint64_t first = address / SECTOR_BYTES, last = (address + bytes - 1) / SECTOR_BYTES;
    for (uint64_t line = first / SECTORS_OF_LINE; line <= last / SECTORS_OF_LINE; line++) {
        uint64_t bits = (1u << SECTORS_OF_LINE) - 1;
        if (line == first / SECTORS_OF_LINE)
            bits &= bits << first % SECTORS_OF_LINE;
        if (line == last / SECTORS_OF_LINE)
            bits &= (2u << last % SECTORS_OF_LINE) - 1;
        add_sectors(set, line, bits, access);
    }
}

void sectors_clear(struct sector_set *set) {
    if (set->lines > 0)
        memset(set->entries, 0, set->capacity * sizeof *set->entries);
    set->lines = 0;
    set->sectors = set->clock = 0;
}

void sectors_release(struct sector_set *set) {
    free(set->entries);
    *set = (struct sector_set){0};
}
