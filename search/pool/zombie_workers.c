#include "pool/zombie_workers.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"

#include <string.h>

static const double give_up_s = 600;

void zombie_workers_add(struct zombie_workers *zombies, const char *role, int device, pid_t pid) {
    if (pid == 0)
        return;
    log_warn("the %s worker, process %ld, was killed and has not exited yet", role, (long)pid);
    if (zombies->count == ZOMBIE_WORKERS_MAX)
        memmove(zombies->items, zombies->items + 1,
                (size_t)--zombies->count * sizeof *zombies->items);
    zombies->items[zombies->count++] = (struct zombie_worker){role, device, pid, clock_seconds()};
}

void zombie_workers_remove_exited(struct zombie_workers *zombies) {
    for (int g = zombies->count - 1; g >= 0; g--) {
        const struct zombie_worker *zombie = &zombies->items[g];
        if (!process_try_reap(zombie->pid))
            continue;
        log_info("process %ld exited %.0f s after it was killed", (long)zombie->pid,
                 clock_seconds() - zombie->killed_at_s);
        zombies->items[g] = zombies->items[--zombies->count];
    }
}

bool zombie_workers_on_device(const struct zombie_workers *zombies, int device) {
    for (int g = 0; g < zombies->count; g++)
        if (zombies->items[g].device == device)
            return true;
    return false;
}

int zombie_workers_check(const struct zombie_workers *zombies, int device, struct error *error) {
    for (int g = 0; g < zombies->count; g++) {
        const struct zombie_worker *zombie = &zombies->items[g];
        double age_s = clock_seconds() - zombie->killed_at_s;
        if (zombie->device == device && age_s > give_up_s)
            return error_set(
                error,
                "the %s worker, process %ld, was killed %.0f s ago and has not exited: "
                "the GPU hangs; see nvidia-smi, reset the GPU or reboot the machine, "
                "then `evotile resume`",
                zombie->role, (long)zombie->pid, age_s);
    }
    return 0;
}
