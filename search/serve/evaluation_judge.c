#include "serve/evaluation_judge_internal.h"

#include "base/json.h"
#include "base/memory.h"
#include "serve/definitions.h"
#include "session/session.h"
#include "session/single_trial.h"
#include "solutions/answer.h"
#include "solutions/solution_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STORED_SOLUTIONS_MAX = 4096 };

static struct evaluation_judge *judge_of(const struct judge *judge) {
    return (struct evaluation_judge *)judge;
}

/* A profile waits until nothing else runs on the device, and is alone then. */
static bool has_room(const struct evaluation_judge *judge) {
    return running_find_step(&judge->running, RUNNING_COUNTERS) == NULL &&
           judge_pools_have_room(&judge->pools);
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
    for (int i = 0; i < judge->pools.count; i++)
        if (take_results(judge, tasks, judge->pools.items[i], error) < 0)
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
    return judge_pools_poll(&judge->pools, error);
}

static int evaluation_descriptors(const struct judge *base, struct pollfd *polled, int limit) {
    const struct evaluation_judge *judge = judge_of(base);
    int count = judge_pools_descriptors(&judge->pools, polled, limit);
    if (judge->profile != NULL && count < limit)
        polled[count++] =
            (struct pollfd){.fd = profile_process_descriptor(judge->profile), .events = POLLIN};
    return count;
}

static cJSON *evaluation_definitions(const struct judge *base) {
    const struct evaluation_judge *judge = judge_of(base);
    return definitions_new(judge->config, pool_device(judge_pools_device(&judge->pools)));
}

static void evaluation_metrics(const struct judge *base, cJSON *metrics) {
    const struct evaluation_judge *judge = judge_of(base);
    json_add(metrics, "answers_total=%ld answers_cached_total=%ld", judge->answers, judge->cached);
    judge_pools_add_metrics(&judge->pools, metrics);
    cJSON *verdicts = cJSON_AddObjectToObject(metrics, "verdicts_total");
    for (int v = 0; v < VERDICT_COUNT; v++)
        cJSON_AddNumberToObject(verdicts, verdict_name((enum verdict)v),
                                (double)judge->verdicts[v]);
}

static void evaluation_free(struct judge *base) {
    struct evaluation_judge *judge = judge_of(base);
    struct error ignored = {0};
    judge_pools_free(&judge->pools);
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
    judge->is_remote = settings->queue.url != NULL;
    if (settings->program != NULL)
        snprintf(judge->program, sizeof judge->program, "%s", settings->program);
    else if (path_program(judge->program, error) < 0)
        goto failed;
    judge->store = solution_store_new(judge->config, judge->folder, STORED_SOLUTIONS_MAX, error);
    if (judge->store == NULL || use_stored_config(judge, error) < 0 ||
        judge_pools_open(&judge->pools, judge->store, judge->config, settings, error) < 0)
        goto failed;
    judge->solutions =
        loaded_solutions_new(judge->config, pool_device(judge_pools_device(&judge->pools)));
    judge->proposals = proposals_new(judge->solutions);
    return &judge->judge;
failed:
    evaluation_free(&judge->judge);
    return NULL;
}
