#include "pool/local_pool_internal.h"

#include "base/clock.h"
#include "base/log.h"

#include <math.h>

enum { FAILED_STARTS_MAX = 3 }; /* in a row, without a worker that became ready */

/* ---- devices ---- */

struct device_slot *worker_slot(struct local_pool *local, const struct worker *worker) {
    return worker->stage == STAGE_DEVICE ? &local->slots.items[worker->slot] : NULL;
}

bool worker_is_quarantined(const struct local_pool *local, const struct worker *worker) {
    return worker->stage == STAGE_DEVICE && local->slots.items[worker->slot].quarantined;
}

bool worker_is_blocked(const struct local_pool *local, const struct worker *worker) {
    return worker->stage == STAGE_DEVICE && zombie_workers_on_device(&local->zombies, worker->slot);
}

int local_pool_quarantine(struct local_pool *local, int slot, const struct error *error) {
    if (device_slots_active_count(&local->slots) == 1)
        return -1;
    local->slots.items[slot].quarantined = true;
    log_warn("%s is quarantined, and the search continues on the %d remaining: %s",
             local->slots.items[slot].info.spec, device_slots_active_count(&local->slots),
             error->text);
    for (int w = 0; w < local->worker_count; w++) {
        struct worker *worker = &local->workers[w];
        if (worker->slot != slot)
            continue;
        worker_stop(local, worker, 0, NULL);
        if (worker->job != NULL)
            job_list_add(&local->waiting[STAGE_DEVICE], worker->job);
        worker->job = NULL;
        worker->ready = false;
        worker->deadline = INFINITY;
    }
    return 0;
}

int local_pool_check_zombies(struct local_pool *local, struct error *error) {
    zombie_workers_remove_exited(&local->zombies);
    for (int p = 0; p < local->slots.count; p++)
        if (!local->slots.items[p].quarantined &&
            zombie_workers_check(&local->zombies, p, error) < 0 &&
            local_pool_quarantine(local, p, error) < 0)
            return -1;
    return 0;
}

void local_pool_record_trial(struct local_pool *local, int slot, enum verdict verdict) {
    struct error error = {0};
    if (!local->slots.items[slot].quarantined &&
        device_slots_record_trial(&local->slots, slot, verdict, &error) < 0 &&
        local_pool_quarantine(local, slot, &error) < 0)
        BUG("the last device was quarantined for its crash rate");
}

/* ---- workers ---- */

/* Ends the job of a worker that died or was killed. */
static void end_job(struct local_pool *local, struct worker *worker, enum verdict verdict,
                    const char *how) {
    char reason[REASON_SIZE];
    struct job *job = worker->job;
    struct trial_result *result = &job->result;
    snprintf(reason, sizeof reason, "the %s worker was %s", stage_names[worker->stage], how);
    if (!job->is_compiled)
        trial_result_init(result, &job->request);
    trial_add_gate(result, "worker", false, 0, "%.150s", reason);
    trial_set_verdict(result, verdict, reason);
    job_list_add(&local->finished, job);
    worker->job = NULL;
    if (worker->stage == STAGE_DEVICE)
        local_pool_record_trial(local, worker->slot, verdict);
}

/* A worker that was killed from outside says nothing of its candidate: when memory runs out, Linux
   kills the largest process, whatever it works on. The trial runs once more. */
static void repeat_or_lose_job(struct local_pool *local, struct worker *worker, const char *how) {
    char how_again[160];
    struct job *job = worker->job;
    if (job->losses++ > 0) {
        snprintf(how_again, sizeof how_again, "%s from outside, as one before it", how);
        end_job(local, worker, VERDICT_LOST, how_again);
        return;
    }
    log_warn("the %s worker of trial %lld was %s from outside: the trial runs again; if memory ran "
             "out (see dmesg), use fewer workers",
             stage_names[worker->stage], (long long)job->request.number, how);
    job_list_add_first(&local->waiting[worker->stage], job);
    worker->job = NULL;
}

int worker_replace(struct local_pool *local, struct worker *worker, enum verdict verdict,
                   const char *how, double grace_s, struct error *error) {
    struct process_end end = {0};
    struct device_slot *slot = worker_slot(local, worker);
    int *failed_starts = slot != NULL ? &slot->failed_starts : &local->compile_failed_starts;
    *failed_starts = worker->ready ? 0 : *failed_starts + 1;
    worker_stop(local, worker, grace_s, &end);
    if (worker->job != NULL && how == NULL && end.is_by_outside)
        repeat_or_lose_job(local, worker, end.text);
    else if (worker->job != NULL)
        end_job(local, worker, verdict, how != NULL ? how : end.text);
    if (worker_is_quarantined(local, worker))
        return 0;
    if (*failed_starts < FAILED_STARTS_MAX)
        return worker_spawn(local, worker, error);
    error_set(error, "the %s worker does not start (%s): try `evotile doctor`",
              stage_names[worker->stage], end.text);
    return slot != NULL ? local_pool_quarantine(local, worker->slot, error) : -1;
}

int worker_enforce_deadline(struct local_pool *local, struct worker *worker, struct error *error) {
    char how[64];
    if (clock_seconds() < worker->deadline)
        return 0;
    if (!worker->ready && worker_is_blocked(local, worker)) { /* it waits for the driver, too */
        worker->deadline = clock_seconds() + START_LIMIT_S;
        return 0;
    }
    local->pool.restarts++;
    snprintf(how, sizeof how, "killed after %g s", worker_job_limit_s(local, worker));
    return worker_replace(local, worker, VERDICT_TIMEOUT, how, 0, error);
}
