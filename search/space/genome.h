/*
 * genome: one point of a space, as indices into the domains of its genes. It is meaningful only
 * together with its space (space/space.h). In *canonical* form every inactive gene has its default
 * value and every byte past the last gene is zero, so genomes that give the same kernel are equal
 * and hash equal. All functions here produce canonical genomes, and expect them unless they say
 * otherwise.
 *
 *     struct genome genome;
 *     if (genome_parse(&genome, space, "BLOCK_M=64,SWIZZLE=xor", &error) < 0)
 *         return -1;
 *     char text[GENOME_TEXT_SIZE];
 *     genome_print(&genome, space, text);
 */
#ifndef EVOTILE_SPACE_GENOME_H
#define EVOTILE_SPACE_GENOME_H

#include "base/hash.h"

#include <stdbool.h>
#include <stdint.h>

struct error;
struct space;

enum {
    GENES_MAX = 32,
    GENOME_TEXT_SIZE = GENES_MAX * 96, /* a name, '=', a value and ',' for each gene */
};

struct genome {
    uint8_t value[GENES_MAX];
};

bool genome_equal(const struct genome *a, const struct genome *b);

/* A hash of the genome's bytes, the same on every machine. Genomes of different spaces may
   collide, so a key must include the template. */
struct hash genome_hash(const struct genome *genome);

/* The genome of all defaults, which may be invalid. */
struct genome genome_default(const struct space *space);

/* Sets each inactive gene to its default. Accepts any genome whose values are in their domains. */
void genome_canonicalise(struct genome *genome, const struct space *space);

/* Prints "BLOCK_M=64,WARPS=4,SWIZZLE=xor": every gene, in the order of the space. */
void genome_print(const struct genome *genome, const struct space *space,
                  char text[GENOME_TEXT_SIZE]);

/* A gene of such a text: the words around its '=', without the spaces around them. */
struct gene_word {
    const char *text; /* not NUL-terminated */
    int length;
};
struct gene_words {
    struct gene_word name, value;
};

bool gene_word_equal(struct gene_word a, struct gene_word b);

/* Reads the next gene of a text, whatever its space, and moves `*at` past it. Returns 1; 0 at the
   end of the text; -1 if it is not NAME=VALUE, with `name` the text up to the next comma. */
int genome_read_gene(const char **at, struct gene_words *gene);

/* Finds the value of a gene in a text that genome_print wrote. */
bool genome_find_value(const char *text, struct gene_word name, struct gene_word *value);

/* The index of a gene's value by its text, or -1. A real number may have any spelling. */
int genome_find_index(const struct space *space, int gene, const char *text);

/* Parses such a text and makes the genome canonical. Genes may be in any order, spaces are
   allowed around names and values, and a missing gene gets its default. An unknown gene, a
   repeated gene or a value outside its domain is an error that names the nearest gene or lists
   the domain; `genome` is then unchanged. Validity is not checked: use space_check. */
int genome_parse(struct genome *genome, const struct space *space, const char *text,
                 struct error *error);

#endif
