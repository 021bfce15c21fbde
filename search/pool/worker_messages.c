#include "pool/local_pool_internal.h"

#include "base/clock.h"
#include "pool/compile_guard.h"
#include "pool/protocol.h"

#include <math.h>

enum { EXIT_GRACE_S = 2 }; /* for a worker that exits by itself */

static void become_idle(struct worker *worker) {
    worker->deadline = INFINITY;
    worker->since_s = clock_seconds();
}

/* Keeps the machine code of a job that becomes its goal's champion: the next jobs have duels
   against it. */
static void keep_champion(struct local_pool *local, struct job *job) {
    const struct outcome *outcome = &job->result.outcome;
    const struct trial_request *request = &job->request;
    if (job->images < 0 || request->template_folder != NULL || outcome->verdict != VERDICT_OK ||
        outcome->predicted ||
        (request->champion_us > 0 && outcome->score_us >= request->champion_us))
        return;
    champion_images_add(&local->champions, request->goal, &request->genome, job->images);
    job->images = -1;
}

static void take_compiled(struct local_pool *local, struct job *job, struct trial_result *result) {
    trial_result_move(&job->result, result);
    job->is_compiled = true;
    bool compiles = job->result.outcome.verdict == VERDICT_OK;
    job_list_add(compiles ? &local->waiting[STAGE_DEVICE] : &local->finished, job);
}

/* The device worker's result replaces the compile worker's, but keeps its compile time. */
static void take_evaluated(struct local_pool *local, struct job *job, struct trial_result *result) {
    if (job->is_compiled) {
        result->outcome.compile_s = job->result.outcome.compile_s;
        diagnostics_keep_log(result->diagnostics, job->result.diagnostics);
        trial_result_release(&job->result);
    }
    trial_result_move(&job->result, result);
    keep_champion(local, job);
    job_list_add(&local->finished, job);
}

static void take_result(struct local_pool *local, struct worker *worker,
                        struct trial_result *result) {
    struct job *job = worker->job;
    enum verdict verdict = result->outcome.verdict;
    double seconds = clock_seconds() - worker->since_s;
    worker->job = NULL;
    worker->trials_done++;
    become_idle(worker);
    worker->is_exiting = compile_guard_ended_worker(result) ||
                         (worker->stage == STAGE_DEVICE && !local->pool.device.predicts &&
                          (verdict == VERDICT_CRASHED || verdict == VERDICT_TIMEOUT));
    if (worker->is_exiting)
        worker->deadline = worker->since_s + EXIT_GRACE_S;
    if (worker->stage == STAGE_COMPILE) {
        concurrency_record(&local->concurrency.compile, seconds);
        take_compiled(local, job, result);
        return;
    }
    concurrency_record(&local->concurrency.evaluate, seconds);
    take_evaluated(local, job, result);
    local_pool_record_trial(local, worker->slot, verdict);
}

static int take_device(struct local_pool *local, struct worker *worker,
                       const struct device_info *info, struct error *error) {
    bool first = device_slots_first_active(&local->slots) < 0;
    worker->ready = true;
    become_idle(worker);
    if (worker->stage == STAGE_COMPILE) {
        local->compile_failed_starts = 0;
        return 0;
    }
    if (device_slots_describe(&local->slots, worker->slot, info, error) < 0)
        return -1;
    if (first)
        local->pool.device = *info;
    return 0;
}

static int take_message(struct local_pool *local, struct worker *worker, const char *line,
                        struct error *error) {
    struct protocol_message message;
    if (protocol_read(line, &message, error) < 0)
        return -1;
    switch (message.kind) {
    case PROTOCOL_DEVICE:
        return take_device(local, worker, &message.device, error);
    case PROTOCOL_RESULT:
        if (worker->job != NULL && worker->job->request.number == message.result.number)
            take_result(local, worker, &message.result);
        else
            protocol_message_release(&message);
        return 0;
    case PROTOCOL_FAILURE:
        *error = message.failure;
        return worker->stage == STAGE_DEVICE && error->kind != ERROR_INPUT
                   ? local_pool_quarantine(local, worker->slot, error)
                   : -1;
    default:
        protocol_message_release(&message);
        return error_set(error, "a worker sent a message that only the parent sends");
    }
}

int worker_read(struct local_pool *local, struct worker *worker, struct error *error) {
    char *line;
    process_read_output(&worker->process);
    while (!worker_is_quarantined(local, worker) &&
           (line = process_next_line(&worker->process)) != NULL)
        if (take_message(local, worker, line, error) < 0)
            return -1;
    if (!worker->process.ended || worker_is_quarantined(local, worker))
        return 0;
    /* A device worker exits by itself after a hang or a lost context; that trial already has its
       result. */
    local->pool.restarts++;
    return worker_replace(local, worker, VERDICT_CRASHED, NULL, 1.0, error);
}
