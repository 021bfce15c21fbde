#include "trial/ghosts.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"

#include <string.h>

static const double patience_s = 600;

void ghosts_add(struct ghosts *ghosts, const char *role, int device, pid_t process) {
    if (process == 0)
        return;
    log_warn("the %s worker, process %ld, was killed and has not exited yet", role, (long)process);
    if (ghosts->count == GHOSTS_MAX)
        memmove(ghosts->items, ghosts->items + 1, (size_t)--ghosts->count * sizeof *ghosts->items);
    ghosts->items[ghosts->count++] = (struct ghost){role, device, process, clock_seconds()};
}

void ghosts_look(struct ghosts *ghosts) {
    for (int g = ghosts->count - 1; g >= 0; g--) {
        const struct ghost *ghost = &ghosts->items[g];
        if (!process_is_gone(ghost->process))
            continue;
        log_info("process %ld exited %.0f s after it was killed", (long)ghost->process,
                 clock_seconds() - ghost->since);
        ghosts->items[g] = ghosts->items[--ghosts->count];
    }
}

bool ghosts_at(const struct ghosts *ghosts, int device) {
    for (int g = 0; g < ghosts->count; g++)
        if (ghosts->items[g].device == device)
            return true;
    return false;
}

int ghosts_check(const struct ghosts *ghosts, int device, struct error *error) {
    for (int g = 0; g < ghosts->count; g++) {
        const struct ghost *ghost = &ghosts->items[g];
        double age_s = clock_seconds() - ghost->since;
        if (ghost->device == device && age_s > patience_s)
            return error_set(
                error,
                "the %s worker, process %ld, was killed %.0f s ago and has not exited: "
                "the GPU hangs; see nvidia-smi, reset the GPU or reboot the machine, "
                "then `evotile resume`",
                ghost->role, (long)ghost->process, age_s);
    }
    return 0;
}
