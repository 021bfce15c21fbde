/*
 * genes: genomes as rows of value indices. Genes and values are learnt from the genomes' texts
 * ("BLOCK_M=64,SWIZZLE=xor"), so that a run can be reported without its template.
 *
 *     struct genes genes = {0};
 *     uint8_t row[GENES_MAX];
 *     genes_add(&genes, text, row, &error);               // for every genome
 *     uint8_t positions[GENES_MAX][DOMAIN_MAX];
 *     genes_sort(&genes, positions);                      // row[g] becomes positions[g][row[g]]
 *     puts(genes.columns[0].values[row[0]]);
 *     genes_release(&genes);
 */
#ifndef EVOTILE_ANALYSIS_GENE_COLUMNS_H
#define EVOTILE_ANALYSIS_GENE_COLUMNS_H

#include "space/space.h"

struct gene_column {
    char *name;
    int count; /* number of values that occurred */
    char *values[DOMAIN_MAX];
};

/* The value of a gene in a genome of a solution that has no such gene. */
#define GENE_ABSENT "-"

struct genes {
    bool several; /* solutions, each with genes of its own; set by the caller */
    int rows;     /* genomes that were added */
    int count;
    struct gene_column columns[GENES_MAX];
};

/* Parses one genome into `row` and adds its new values. It is an error if its genes or their
   order differ from those of the first, unless they are of several solutions. */
int genes_add(struct genes *genes, const char *text, uint8_t row[GENES_MAX], struct error *error);

/* Sorts each gene's values, numbers by size and labels alphabetically; gives each old index its
   new one. */
void genes_sort(struct genes *genes, uint8_t positions[GENES_MAX][DOMAIN_MAX]);

/* Prints a genome, without the genes that it has not. */
void genes_print(const struct genes *genes, const uint8_t row[GENES_MAX],
                 char text[GENOME_TEXT_SIZE]);

void genes_release(struct genes *genes);

#endif
