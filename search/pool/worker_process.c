#include "pool/local_pool_internal.h"

#include "base/clock.h"
#include "base/resource_limits.h"
#include "pool/image_file.h"
#include "pool/protocol.h"
#include "pool/worker_main.h"

#include <stdlib.h>

enum { COMPILE_LIMIT_S = 120, DEVICE_LIMIT_S = 300 };

const char *const stage_names[STAGE_COUNT] = {"compile", "device"};

/* The device that a worker opens, or that it compiles for. */
static const struct device_info *worker_device(const struct local_pool *local,
                                               const struct worker *worker) {
    return worker->stage == STAGE_DEVICE ? &local->slots.items[worker->slot].info
                                         : &local->pool.device;
}

/* Takes ownership of the line. A dead worker shows as end of file on its pipe. */
static void send_message(struct worker *worker, char *line) {
    process_send(&worker->process, line);
    free(line);
}

static void send_start(const struct local_pool *local, struct worker *worker) {
    const struct local_pool_settings *settings = &local->settings;
    bool is_device = worker->stage == STAGE_DEVICE;
    const struct worker_start start = {
        .has_device = is_device,
        .threads = is_device && settings->device_workers == 1 ? resource_limits_read("").cores : 1,
        .device = *worker_device(local, worker),
        .config_path = (char *)settings->config_path,
        .template_folder = (char *)settings->template_folder,
    };
    send_message(worker, protocol_print_start(&start));
}

int worker_spawn(struct local_pool *local, struct worker *worker, struct error *error) {
    const char *const argv[] = {local->settings.program, POOL_WORKER, stage_names[worker->stage],
                                worker_device(local, worker)->spec, NULL};
    if (process_start_relayed(&worker->process, argv, error) < 0)
        return -1;
    worker->ready = worker->is_exiting = false;
    worker->trials_done = 0;
    worker->since_s = clock_seconds();
    worker->deadline = worker->since_s + START_LIMIT_S;
    send_start(local, worker);
    return 0;
}

/* Names the files of machine code: a compile worker fills the job's; a device worker uses it. */
static void send_images(struct local_pool *local, struct worker *worker) {
    struct job *job = worker->job;
    const struct trial_opponent *opponent = &job->request.opponent;
    struct worker_images images = {.candidate = ""};
    int champion = -1;
    if (worker->stage == STAGE_COMPILE && job->images < 0)
        job->images = image_file_new();
    if (worker->stage == STAGE_DEVICE && opponent->present && opponent->config == NULL)
        champion = champion_images_find(&local->champions, opponent->goal, &opponent->genome);
    if (job->images >= 0)
        image_file_path(job->images, images.candidate);
    if (champion >= 0)
        image_file_path(champion, images.champion);
    if (job->images >= 0 || champion >= 0)
        send_message(worker, protocol_print_images(&images));
}

void worker_start_job(struct local_pool *local, struct worker *worker, struct job *job) {
    worker->job = job;
    relay_reset(&worker->process.errors);
    worker->since_s = clock_seconds();
    worker->deadline = worker->since_s + worker_job_limit_s(local, worker);
    send_images(local, worker);
    send_message(worker, protocol_print_request(&job->request));
}

void worker_stop(struct local_pool *local, struct worker *worker, double grace_s,
                 struct process_end *end) {
    pid_t left_behind = process_stop(&worker->process, grace_s, end);
    zombie_workers_add(&local->zombies, stage_names[worker->stage], worker->slot, left_behind);
}

double worker_job_limit_s(const struct local_pool *local, const struct worker *worker) {
    if (local->settings.deadline_s > 0)
        return local->settings.deadline_s;
    return worker->stage == STAGE_COMPILE ? COMPILE_LIMIT_S : DEVICE_LIMIT_S;
}
