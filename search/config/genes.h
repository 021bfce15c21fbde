/*
 * genes: reads the section "genes" of a config: the values that a search may use. Private to
 * config/.
 *
 *     if (config_read_genes(config, &root, &error) < 0)
 *         return -1;
 */
#ifndef EVOTILE_CONFIG_GENES_H
#define EVOTILE_CONFIG_GENES_H

#include "config/config.h"

/* Reads the allowed values of genes; of several solutions, by solution. `root` is the config, whose
   solutions are known. */
int config_read_genes(struct config *config, const struct json *root, struct error *error);

#endif
