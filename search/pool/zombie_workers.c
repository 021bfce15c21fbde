#include "pool/zombie_workers.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"

#include <string.h>

static const double give_up_s = 600;

void zombie_workers_add(struct zombie_workers *zombie_workers, const char *role, int device,
                        pid_t pid) {
    if (pid == 0)
        return;
    log_warn("the %s worker, process %ld, was killed and has not exited yet", role, (long)pid);
    if (zombie_workers->count == ZOMBIE_WORKERS_MAX)
        memmove(zombie_workers->items, zombie_workers->items + 1,
                (size_t)--zombie_workers->count * sizeof *zombie_workers->items);
    zombie_workers->items[zombie_workers->count++] =
        (struct zombie_worker){role, device, pid, clock_seconds()};
}

void zombie_workers_remove_exited(struct zombie_workers *zombie_workers) {
    for (int g = zombie_workers->count - 1; g >= 0; g--) {
        const struct zombie_worker *zombie_worker = &zombie_workers->items[g];
        if (!process_try_reap(zombie_worker->pid))
            continue;
        log_info("process %ld exited %.0f s after it was killed", (long)zombie_worker->pid,
                 clock_seconds() - zombie_worker->killed_at_s);
        zombie_workers->items[g] = zombie_workers->items[--zombie_workers->count];
    }
}

bool zombie_workers_on_device(const struct zombie_workers *zombie_workers, int device) {
    for (int g = 0; g < zombie_workers->count; g++)
        if (zombie_workers->items[g].device == device)
            return true;
    return false;
}

int zombie_workers_check(const struct zombie_workers *zombie_workers, int device,
                         struct error *error) {
    for (int g = 0; g < zombie_workers->count; g++) {
        const struct zombie_worker *zombie_worker = &zombie_workers->items[g];
        double age_s = clock_seconds() - zombie_worker->killed_at_s;
        if (zombie_worker->device == device && age_s > give_up_s)
            return error_set(
                error,
                "the %s worker, process %ld, was killed %.0f s ago and has not exited: "
                "the GPU hangs; see nvidia-smi, reset the GPU or reboot the machine, "
                "then `evotile resume`",
                zombie_worker->role, (long)zombie_worker->pid, age_s);
    }
    return 0;
}
