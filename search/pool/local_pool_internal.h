/* local_pool_internal: what the files of the local pool share. Private to them: local_pool.c
   queues jobs and hands them out, the other files each do one thing with a worker. Functions return
   0, or -1 with `error` if the pool cannot go on. */
#ifndef EVOTILE_POOL_LOCAL_POOL_INTERNAL_H
#define EVOTILE_POOL_LOCAL_POOL_INTERNAL_H

#include "base/process.h"
#include "pool/champion_images.h"
#include "pool/concurrency.h"
#include "pool/device_slots.h"
#include "pool/job_list.h"
#include "pool/local_pool.h"
#include "pool/zombie_workers.h"

enum { START_LIMIT_S = 120 }; /* for a worker to become ready */

enum stage { STAGE_COMPILE, STAGE_DEVICE, STAGE_COUNT };
extern const char *const stage_names[STAGE_COUNT];

struct worker {
    enum stage stage;
    int slot; /* index of its device slot; ZOMBIE_NO_DEVICE: a compile worker */
    struct process process;
    bool ready;
    bool is_exiting; /* it lost its CUDA context, or its compiler died, in its last trial, and it
                        exits by itself */
    struct job *job; /* NULL: idle */
    double deadline; /* for the job, or for becoming ready; INFINITY: none */
    double since_s;  /* when it was started, became idle or got its job */
    int trials_done;
};

struct local_pool {
    struct pool pool; /* must be first; pool.device describes the first device that was ready */
    struct local_pool_settings settings;
    struct device_slots slots;
    int compile_failed_starts; /* as device_slot.failed_starts */
    int worker_count;
    struct worker workers[LOCAL_POOL_WORKERS_MAX];
    struct job_list waiting[STAGE_COUNT];
    struct job_list finished; /* jobs with their final result */
    struct zombie_workers zombies;
    struct champion_images champions;
    struct concurrency concurrency;
};

/* ---- worker_process.c: the parent's end of a worker ---- */

int worker_spawn(struct local_pool *local, struct worker *worker, struct error *error);
void worker_start_job(struct local_pool *local, struct worker *worker, struct job *job);
/* Stops it, after `grace_s` by force; `end`, which may be NULL, gets how it ended. */
void worker_stop(struct local_pool *local, struct worker *worker, double grace_s,
                 struct process_end *end);
/* How long a job of the worker's stage may take. */
double worker_job_limit_s(const struct local_pool *local, const struct worker *worker);

/* ---- worker_messages.c: what a worker sends ---- */

/* Reads what has arrived, and replaces a worker that has exited. */
int worker_read(struct local_pool *local, struct worker *worker, struct error *error);

/* ---- worker_failures.c: workers that die or hang, and their devices ---- */

/* The slot of its device; NULL: a compile worker. */
struct device_slot *worker_slot(struct local_pool *local, const struct worker *worker);
bool worker_is_quarantined(const struct local_pool *local, const struct worker *worker);
/* The kernel of a killed device worker that has not exited may still run: nothing is timed beside
   it. */
bool worker_is_blocked(const struct local_pool *local, const struct worker *worker);
/* Replaces a worker that exited or must exit. Its job, if any, ends with `verdict`, because the
   worker was `how`; NULL: as it exited, and if it was killed from outside the job is queued again,
   the second time it ends as lost. */
int worker_replace(struct local_pool *local, struct worker *worker, enum verdict verdict,
                   const char *how, double grace_s, struct error *error);
int worker_enforce_deadline(struct local_pool *local, struct worker *worker, struct error *error);

/* Takes a device out of service for the reason in `error` and queues its workers' jobs again. -1:
   it is the last active device. */
int local_pool_quarantine(struct local_pool *local, int slot, const struct error *error);
/* Quarantines the devices whose killed workers do not exit. */
int local_pool_check_zombies(struct local_pool *local, struct error *error);
/* Records a trial's verdict for its device, and quarantines the device if it lost too many trials
   in a row. */
void local_pool_record_trial(struct local_pool *local, int slot, enum verdict verdict);

#endif
