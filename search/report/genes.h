/*
 * genes: genomes as rows of small numbers, learnt from their texts alone
 * ("BLOCK_M=64,SWIZZLE=xor"), so that a run can be reported on without its template.
 *
 *     struct genes genes = {0};
 *     uint8_t row[GENES_MAX];
 *     genes_learn(&genes, text, row, &error);          // for every genome
 *     uint8_t places[GENES_MAX][DOMAIN_MAX];
 *     genes_sort(&genes, places);                      // now row[g] is to become places[g][row[g]]
 *     puts(genes.columns[0].values[row[0]]);
 *     genes_release(&genes);
 */
#ifndef EVOTILE_REPORT_GENES_H
#define EVOTILE_REPORT_GENES_H

#include "genome/space.h"

struct gene_column {
    char *name;
    int count; /* of the values that genomes had */
    char *values[DOMAIN_MAX];
};

struct genes {
    int count;
    struct gene_column columns[GENES_MAX];
};

/* Takes in one genome. All have the same genes in the same order, or it is an error. */
int genes_learn(struct genes *genes, const char *text, uint8_t row[GENES_MAX], struct error *error);

/* Puts each gene's values in order, numbers by size and labels by their letters, and says where
   each went. */
void genes_sort(struct genes *genes, uint8_t places[GENES_MAX][DOMAIN_MAX]);

/* The text of a genome. */
void genes_print(const struct genes *genes, const uint8_t row[GENES_MAX],
                 char text[GENOME_TEXT_SIZE]);

void genes_release(struct genes *genes);

#endif
