/* space_export: writes a run's trials as a recorded space; for `export --format` and `record`.
 *
 *     int64_t rows = space_export_write("results/night", "t4", 0, "space.json.gz", &error);
 */
#ifndef EVOTILE_RUN_SPACE_EXPORT_H
#define EVOTILE_RUN_SPACE_EXPORT_H

#include "base/error.h"

#include <stdint.h>

/* `format` is the name of a format in space_file.h; an unknown one is an error that lists them.
   Returns the number of rows, or -1. */
int64_t space_export_write(const char *run_dir, const char *format, int goal, const char *path,
                           struct error *error);

#endif
