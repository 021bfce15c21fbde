/*
 * key: what a number holds for. A latency without its key is worth nothing: the key names the
 * genome, the bytes of the template, how it was compiled, the cases, and the device, driver,
 * compiler and measuring method that gave the number. Replay compares two keys and says which part
 * differs.
 *
 *     struct key key = {0};
 *     key_set(&key, KEY_GENOME, "BLOCK_M=64,BLOCK_N=32");
 *     ...                                          // every part
 *     struct hash hash = key_hash(&key);
 *     key_release(&key);
 *
 * A key owns its texts. Reading and writing it as JSON or SQL is the callers' business: they go
 * through the parts by number and name.
 */
#ifndef EVOTILE_OUTCOME_KEY_H
#define EVOTILE_OUTCOME_KEY_H

#include "base/hash.h"

enum key_part {
    KEY_GENOME,   /* its canonical text */
    KEY_TEMPLATE, /* the template's name and the hash of all its bytes, those of its library
                     included */
    KEY_OPTIONS,  /* the compile options, the architecture among them */
    KEY_CASES,    /* the cases that the number is over, in their order */
    KEY_DEVICE,   /* its name as the driver gives it, or the emulated architecture */
    KEY_DRIVER,   /* its version; "none" on a device without one */
    KEY_NVRTC,    /* its version */
    KEY_METHOD,   /* the version of our way of measuring, or of predicting */
    KEY_PART_COUNT
};

struct key {
    char *parts[KEY_PART_COUNT]; /* NULL: not set yet */
};

/* "genome", "template" ... */
const char *key_part_name(enum key_part part);
/* The part of that name, or -1. */
int key_part_parse(const char *name);

/* Replaces one part by a copy of `text`. */
void key_set(struct key *key, enum key_part part, const char *text);
/* `copy` must be empty or released. */
void key_copy(struct key *copy, const struct key *key);
void key_release(struct key *key);

/* Over every part, in the order above. A part that was never set is our own mistake: BUG. */
struct hash key_hash(const struct key *key);

/* Where two keys differ: the part's name and both values, which stay theirs; NULL where not set. */
struct key_difference {
    enum key_part part;
    const char *name;
    const char *a, *b;
};

/* Fills `differences` in the order of the parts; returns how many there are. */
int key_compare(const struct key *a, const struct key *b,
                struct key_difference differences[KEY_PART_COUNT]);

#endif
