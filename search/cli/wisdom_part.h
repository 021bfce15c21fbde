/*
 * wisdom_part: entries of a wisdom store or file that one set of workers can try: of one template
 * and solution, one limit of shared memory, and at most as many shapes as a config has cases. A
 * part because workers take seconds to start on a GPU. The devices share its entries.
 *
 *     struct wisdom_part *part = wisdom_part_new(path, &source, template_folder);
 *     for (int i = 0; i < count && wisdom_part_add(part, &source.figures.items[i], i); i++)
 *         ;
 *     int status = wisdom_part_try(part, &devices, INFINITY, report, context, &error);
 *     wisdom_part_free(part);
 */
#ifndef EVOTILE_CLI_WISDOM_PART_H
#define EVOTILE_CLI_WISDOM_PART_H

#include "device/device.h"
#include "wisdom/wisdom.h"

struct wisdom_part;

/* `path` is that of the source, for messages. Both outlive the part. */
struct wisdom_part *wisdom_part_new(const char *path, const struct wisdom_source *source,
                                    const char *template_folder);
void wisdom_part_free(struct wisdom_part *part);

/* Returns false if the entry does not belong to the part, or the part is full. `index` is the
   caller's. The figure outlives the part. */
bool wisdom_part_add(struct wisdom_part *part, const struct wisdom_figure *figure, int index);

/* Called for each entry as it ends: with its trial's outcome, or with NULL and the reason why it
   cannot be tried. Returns -1 with `error` to stop. */
typedef int wisdom_part_report(void *context, int index, const struct outcome *outcome,
                               const char *refused, struct error *error);

/* Verifies each entry as a new champion is, and times it. None but the first starts after `end`,
   by clock_seconds. */
int wisdom_part_try(struct wisdom_part *part, const struct device_list *devices, double end,
                    wisdom_part_report *report, void *context, struct error *error);

#endif
