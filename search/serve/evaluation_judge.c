#include "serve/evaluation_judge_internal.h"

#include "base/json.h"
#include "base/memory.h"
#include "serve/definitions.h"
#include "serve/solution_store.h"
#include "session/session.h"
#include "session/single_trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The compilers of the emulated device beside a GPU's. They are apart from what runs kernels: only
   they are kept from reading other files (pool/worker_main.c). */
enum { EMULATED_COMPILE_WORKERS = 2, STORED_SOLUTIONS_MAX = 4096 };

static struct evaluation_judge *judge_of(const struct judge *judge) {
    return (struct evaluation_judge *)judge;
}

/* As many trials as keep a pool's workers busy, and a few that wait. A profile waits until nothing
   else runs on the device, and is alone then. */
static bool has_room(const struct evaluation_judge *judge) {
    if (running_find_step(&judge->running, RUNNING_COUNTERS) != NULL)
        return false;
    int limit = pool_capacity(judge->pool), running = pool_in_flight(judge->pool);
    if (judge->emulated != judge->pool) {
        limit += pool_capacity(judge->emulated);
        running += pool_in_flight(judge->emulated);
    }
    return running < 2 * limit;
}

static int take_results(struct evaluation_judge *judge, struct tasks *tasks, struct pool *pool,
                        struct error *error) {
    struct trial_result result;
    int got;
    while ((got = pool_wait(pool, 0, &result, error)) == 1)
        evaluation_take_result(judge, tasks, &result);
    return got;
}

static int evaluation_step(struct judge *base, struct tasks *tasks, struct error *error) {
    struct evaluation_judge *judge = judge_of(base);
    const struct task *task;
    if (take_results(judge, tasks, judge->pool, error) < 0 ||
        (judge->emulated != judge->pool && take_results(judge, tasks, judge->emulated, error) < 0))
        return -1;
    evaluation_profile_step(judge, tasks);
    while (has_room(judge) && (task = tasks_take(tasks)) != NULL) {
        const cJSON *type = cJSON_GetObjectItemCaseSensitive(task->request, "type");
        if (cJSON_IsString(type) && strcmp(type->valuestring, "evaluate") == 0)
            evaluation_start(judge, tasks, task);
        else
            evaluation_answer_proposal(judge, tasks, task);
    }
    /* What was submitted starts at once. */
    return pool_poll(judge->pool, error) < 0 ||
                   (judge->emulated != judge->pool && pool_poll(judge->emulated, error) < 0)
               ? -1
               : 0;
}

static int evaluation_descriptors(const struct judge *base, struct pollfd *polled, int limit) {
    const struct evaluation_judge *judge = judge_of(base);
    int count = pool_descriptors(judge->pool, polled, limit);
    if (judge->profile != NULL && count < limit)
        polled[count++] =
            (struct pollfd){.fd = profile_process_descriptor(judge->profile), .events = POLLIN};
    return judge->emulated == judge->pool
               ? count
               : count + pool_descriptors(judge->emulated, polled + count, limit - count);
}

static cJSON *evaluation_definitions(const struct judge *base) {
    const struct evaluation_judge *judge = judge_of(base);
    return definitions_new(judge->config, pool_device(judge->pool));
}

static void evaluation_metrics(const struct judge *base, cJSON *metrics) {
    const struct evaluation_judge *judge = judge_of(base);
    json_add(metrics, "answers_total=%ld answers_cached_total=%ld", judge->answers, judge->cached);
    json_add(metrics, "trials_in_flight=%d worker_restarts_total=%d",
             pool_in_flight(judge->pool) +
                 (judge->emulated != judge->pool ? pool_in_flight(judge->emulated) : 0),
             pool_restarts(judge->pool) +
                 (judge->emulated != judge->pool ? pool_restarts(judge->emulated) : 0));
    json_add(metrics, "devices=%d", pool_device_count(judge->pool));
    cJSON *verdicts = cJSON_AddObjectToObject(metrics, "verdicts_total");
    for (int v = 0; v < VERDICT_COUNT; v++)
        cJSON_AddNumberToObject(verdicts, verdict_name((enum verdict)v),
                                (double)judge->verdicts[v]);
}

static void evaluation_free(struct judge *base) {
    struct evaluation_judge *judge = judge_of(base);
    struct error ignored = {0};
    if (judge->emulated != judge->pool)
        pool_free(judge->emulated);
    pool_free(judge->pool);
    profile_process_free(judge->profile);
    running_list_release(&judge->running);
    proposals_free(judge->proposals);
    answer_cache_free(judge->cache);
    client_bests_free(judge->bests);
    loaded_solutions_free(judge->solutions);
    solution_store_free(judge->store);
    config_free(judge->config);
    if (judge->temporary)
        path_remove_tree(judge->folder, &ignored);
    free(judge);
}

/* ---- starting ---- */

static int choose_folder(struct evaluation_judge *judge, const char *folder, struct error *error) {
    const char *temporary = getenv("TMPDIR");
    if (folder != NULL) {
        snprintf(judge->folder, sizeof judge->folder, "%s", folder);
        return 0;
    }
    snprintf(judge->folder, sizeof judge->folder, "%s/evotile-serve-XXXXXX",
             temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(judge->folder) == NULL)
        return error_set(error,
                         "cannot make a folder such as %s: set TMPDIR, or name a folder "
                         "with --cache",
                         judge->folder);
    judge->temporary = true;
    return 0;
}

/* The config that the workers read: its goals are the cases, for whichever solution. */
static int use_stored_config(struct evaluation_judge *judge, struct error *error) {
    struct config *stored = config_from_file(solution_store_config(judge->store),
                                             solution_store_problem(judge->store), error);
    if (stored == NULL)
        return -1;
    config_free(judge->config);
    judge->config = stored;
    return 0;
}

static struct pool *open_pool(struct evaluation_judge *judge, const char *devices,
                              int compile_workers, struct error *error) {
    char folder[PATH_SIZE];
    struct device_list list;
    if (solution_store_find(judge->store, config_goal_solution(judge->config, 0), folder, error) <
            0 ||
        device_list_read(&list, devices, error) < 0)
        return NULL;
    solution_store_hold(judge->store, folder); /* workers that are replaced read it again */
    const struct local_pool_settings settings = {
        .program = judge->program,
        .config_path = solution_store_config(judge->store),
        .template_folder = folder,
        .devices = devices,
        .compile_workers =
            compile_workers >= 0 ? compile_workers : default_compile_workers(list.count)};
    return local_pool_new(&settings, error);
}

static int start_pools(struct evaluation_judge *judge,
                       const struct evaluation_judge_settings *settings, struct error *error) {
    char emulated[32];
    const char *device = settings->device != NULL ? settings->device : judge->config->device;
    if (settings->program != NULL)
        snprintf(judge->program, sizeof judge->program, "%s", settings->program);
    else if (path_program(judge->program, error) < 0)
        return -1;
    judge->pool = open_pool(judge, device, settings->compile_workers, error);
    if (judge->pool == NULL)
        return -1;
    judge->emulated = judge->pool;
    if (pool_device(judge->pool)->predicts)
        return 0;
    snprintf(emulated, sizeof emulated, "emulated:sm_%d",
             pool_device(judge->pool)->compute_capability);
    judge->emulated = open_pool(judge, emulated, EMULATED_COMPILE_WORKERS, error);
    return judge->emulated != NULL ? 0 : -1;
}

struct judge *evaluation_judge_new(const struct evaluation_judge_settings *settings,
                                   struct error *error) {
    static const struct judge_operations operations = {
        .free = evaluation_free,
        .descriptors = evaluation_descriptors,
        .step = evaluation_step,
        .definitions = evaluation_definitions,
        .add_metrics = evaluation_metrics,
    };
    struct evaluation_judge *judge = xcalloc(1, sizeof *judge);
    judge->judge.operations = &operations;
    judge->seed = single_trial_fresh_seed();
    judge->cache = answer_cache_new();
    judge->bests = client_bests_new();
    judge->config = config_load(settings->config_path, settings->templates, error);
    if (judge->config == NULL || choose_folder(judge, settings->folder, error) < 0)
        goto failed;
    if (!template_has_kernel(judge->config->shapes)) {
        error_input(error, "%s holds measurements: a server judges kernels", settings->config_path);
        goto failed;
    }
    judge->store = solution_store_new(judge->config, judge->folder, STORED_SOLUTIONS_MAX, error);
    if (judge->store == NULL || use_stored_config(judge, error) < 0 ||
        start_pools(judge, settings, error) < 0)
        goto failed;
    judge->solutions = loaded_solutions_new(judge->config, pool_device(judge->pool));
    judge->proposals = proposals_new(judge->solutions);
    return &judge->judge;
failed:
    evaluation_free(&judge->judge);
    return NULL;
}
