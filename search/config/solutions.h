/*
 * solutions: which solutions of its template a config searches. Private to config/.
 *
 *     if (config_read_solutions(config, &root, folder, name, &error) < 0)
 *         return -1;
 */
#ifndef EVOTILE_CONFIG_SOLUTIONS_H
#define EVOTILE_CONFIG_SOLUTIONS_H

#include "config/config.h"

/* Reads the config's "solutions", and loads the dimensions of the template in `folder`. `name` is
   the config's "template": it chooses a solution if it is the path of one, or a former name. Fills
   template_folder, the solutions and `shapes`. */
int config_read_solutions(struct config *config, const struct json *root, const char *folder,
                          const char *name, struct error *error);

#endif
