/*
 * key: the provenance of a measurement. A latency without its key cannot be compared: the key names
 * the genome, the template's bytes, the compile options, the cases, and the device, driver,
 * compiler and measuring method that produced the number. `replay` compares two keys and reports
 * the parts that differ.
 *
 *     struct key key = {0};
 *     key_set(&key, KEY_GENOME, "BLOCK_M=64,BLOCK_N=32");
 *     ...;                                         // every part
 *     struct hash hash = key_hash(&key);
 *     key_release(&key);
 *
 * A key owns its strings. Callers read and write it as JSON or SQL by part number and name.
 */
#ifndef EVOTILE_OUTCOME_KEY_H
#define EVOTILE_OUTCOME_KEY_H

#include "base/hash.h"

enum key_part {
    KEY_GENOME,   /* canonical text */
    KEY_TEMPLATE, /* the template's name and the hash of all its bytes, including its library */
    KEY_OPTIONS,  /* the compile options, including the architecture */
    KEY_CASES,    /* the measured cases, in order */
    KEY_DEVICE,   /* the driver's name of the device, or the emulated architecture */
    KEY_DRIVER,   /* version; "none" on a device without a driver */
    KEY_NVRTC,    /* version */
    KEY_METHOD,   /* version of the measuring (or prediction) method */
    KEY_PART_COUNT
};

struct key {
    char *parts[KEY_PART_COUNT]; /* NULL: not set yet */
};

/* "genome", "template" ... */
const char *key_part_name(enum key_part part);

/* Replaces one part by a copy of `text`. */
void key_set(struct key *key, enum key_part part, const char *text);
/* `copy` must be empty or released: its previous strings are not freed. */
void key_copy(struct key *copy, const struct key *key);
void key_release(struct key *key);

/* The hash of every part, in the order above. BUG if a part was not set. */
struct hash key_hash(const struct key *key);

/* A part in which two keys differ. The keys own both values; NULL: not set. */
struct key_difference {
    enum key_part part;
    const char *name;
    const char *a, *b;
};

/* Fills `differences` in the order of the parts; returns their number. */
int key_compare(const struct key *a, const struct key *b,
                struct key_difference differences[KEY_PART_COUNT]);

#endif
