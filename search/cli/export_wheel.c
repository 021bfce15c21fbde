#include "cli/export_wheel.h"

#include "base/process.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_S = 60, WHEEL_NAME_SIZE = 256 };

/* Reads to the end; the last line that the builder prints is the wheel's name. */
static void read_name(struct process *child, char name[WHEEL_NAME_SIZE]) {
    name[0] = '\0';
    while (!child->ended) {
        struct pollfd ready = {.fd = child->from, .events = POLLIN};
        poll(&ready, 1, -1);
        process_read_output(child);
        for (const char *line; (line = process_next_line(child)) != NULL;)
            snprintf(name, WHEEL_NAME_SIZE, "%s", line);
    }
}

int export_build_wheel(const char *folder, char wheel[PATH_SIZE], struct error *error) {
    char make[PATH_SIZE], python[PATH_SIZE + 8], name[WHEEL_NAME_SIZE];
    const char *given = getenv("PYTHON");
    struct process child;
    struct process_end end;
    if (!process_find("make", make))
        return error_set(error, "--wheel needs make, which is not on PATH: install it");
    snprintf(python, sizeof python, "PYTHON=%s",
             given != NULL && *given != '\0' ? given : "python3");
    const char *const argv[] = {make, "-s", "-C", folder, "wheel", python, NULL};
    if (process_start(&child, argv, error) < 0)
        return -1;
    read_name(&child, name);
    process_stop(&child, EXIT_S, &end);
    if (end.status != 0 || name[0] == '\0')
        return error_set(error,
                         "%s was exported, but its wheel was not built: make %s; try `make -C %s "
                         "wheel`, which needs nvcc and Python",
                         folder, end.text, folder);
    return path_join(wheel, folder, "dist", error) < 0 ? -1 : path_join(wheel, wheel, name, error);
}
