/*
 * sectors: which sectors of 32 bytes of global memory a block has touched, by lines of 128 bytes,
 * and how long ago. An access moves whole sectors, whatever share of them its lanes use; a sector
 * that the block touched before may still be in a cache. For predictions; a launch without
 * latencies has no such set.
 *
 *     struct sector_set set = {0};
 *     struct sector_access access;
 *     sectors_access(&set, addresses, mask, 16, &access);  // access.sectors, access.known
 *     sectors_range(&set, address, 256, &access);          // the same of consecutive bytes
 *     sectors_clear(&set);                                 // the next block begins
 *     sectors_release(&set);
 */
#ifndef EVOTILE_PTX_SECTORS_H
#define EVOTILE_PTX_SECTORS_H

#include <stddef.h>
#include <stdint.h>

enum { SECTOR_BYTES = 32, LINE_BYTES = 128 };

/* Of a line: its number, times 16, plus a bit for each of its sectors (0: a free entry), and the
   set's clock when it was last touched. */
struct line_entry {
    uint64_t sectors;
    uint64_t touched_at;
};

/* A hash table with linear probing. */
struct sector_set {
    struct line_entry *entries;
    size_t capacity, lines;
    uint64_t sectors; /* in the set */
    uint64_t clock;   /* the caller's, in any unit */
};

struct sector_access {
    int sectors;  /* that the access moves */
    int known;    /* of these: touched before */
    uint64_t age; /* by the clock, since that of the known lines which was touched longest ago; 0
                     unless the clock has gone forward */
};

/* Adds what the lanes of `mask` access: `bytes` bytes from each address. */
void sectors_access(struct sector_set *set, const uint64_t addresses[], uint32_t mask, int bytes,
                    struct sector_access *access);
void sectors_range(struct sector_set *set, uint64_t address, uint64_t bytes,
                   struct sector_access *access);
void sectors_clear(struct sector_set *set);
void sectors_release(struct sector_set *set);

#endif
