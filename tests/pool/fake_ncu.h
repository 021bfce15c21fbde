/* A stand-in for ncu, first on PATH: a script that runs the worker behind its own arguments on the
   emulated device, and writes a recorded report. Included by tests of what runs ncu.

       fake_ncu_open(FAKE_NCU_TOOL);  // needs the environment of tests/run
       fake_ncu_write("run/config.json", "{ ... }");
       fake_ncu_close();
*/
#ifndef EVOTILE_TESTS_POOL_FAKE_NCU_H
#define EVOTILE_TESTS_POOL_FAKE_NCU_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"

/* Copies $FAKE_REPORT, if it is set, to where --log-file says, and runs the worker. */
#define FAKE_NCU_TOOL                                                                              \
    "#!/bin/sh\n"                                                                                  \
    "while [ \"$1\" != --log-file ]; do shift; done\n"                                             \
    "[ -z \"$FAKE_REPORT\" ] || cp \"$FAKE_REPORT\" \"$2\"\n"                                      \
    "shift 3\n" /* --log-file FILE --force-overwrite */                                            \
    "exec \"$@\"\n"

/* A report in ncu's form, with a duration and how long multiprocessors were active:
   FAKE_NCU_HEAD FAKE_NCU_KERNEL("0", "axpy", "1", "100", "80") */
#define FAKE_NCU_HEAD                                                                              \
    "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Metric Name\",\"Metric Unit\","         \
    "\"Metric Value\"\n"
#define FAKE_NCU_ROW(id, kernel, grid, metric, value)                                              \
    "\"" id "\",\"" kernel "\",\"(64, 1, 1)\",\"(" grid ", 1, 1)\",\"" metric "\",\"\",\"" value   \
    "\"\n"
#define FAKE_NCU_KERNEL(id, kernel, grid, ns, active)                                              \
    FAKE_NCU_ROW(id, kernel, grid, "gpu__time_duration.sum", ns)                                   \
    FAKE_NCU_ROW(id, kernel, grid, "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", active)

static char fake_ncu_folder[] = "/tmp/fake_ncu.XXXXXX";

/* The file `name` in the test's folder. */
static inline const char *fake_ncu_path(const char *name, char path[PATH_SIZE]) {
    struct error error = {0};
    assert_int_equal(path_join(path, fake_ncu_folder, name, &error), 0);
    return path;
}

static inline void fake_ncu_write(const char *name, const char *text) {
    char path[PATH_SIZE], parent[PATH_SIZE];
    struct error error = {0};
    fake_ncu_path(name, path);
    assert_int_equal(path_parent(parent, path, &error), 0);
    assert_int_equal(path_make_folder(parent, &error), 0);
    assert_int_equal(path_write_file(path, text, strlen(text), &error), 0);
}

static inline void fake_ncu_open(const char *tool) {
    char path[PATH_SIZE], paths[2 * PATH_SIZE];
    assert_non_null(mkdtemp(fake_ncu_folder));
    fake_ncu_write("bin/ncu", tool);
    assert_int_equal(chmod(fake_ncu_path("bin/ncu", path), 0755), 0);
    snprintf(paths, sizeof paths, "%s:%s", fake_ncu_path("bin", path), getenv("PATH"));
    setenv("PATH", paths, 1);
}

static inline int fake_ncu_close(void) {
    struct error error = {0};
    return path_remove_tree(fake_ncu_folder, &error);
}

#endif
