#include "serve/evaluation_judge.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "serve/answer_cache.h"
#include "serve/candidate.h"
#include "serve/definitions.h"
#include "serve/proposals.h"
#include "serve/tasks.h"
#include "session/session.h"
#include "session/single_trial.h"
#include "solutions/answer.h"
#include "solutions/solution_store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct champion {
    bool present;
    char folder[PATH_SIZE];
    int64_t trial;
    struct genome genome;
    char genome_text[GENOME_TEXT_SIZE];
    double score_us;
};

/* The compilers of the emulated device beside a GPU's. They are apart from what runs kernels: only
   they are kept from reading other files (pool/worker_main.c). */
enum { EMULATED_COMPILE_WORKERS = 2, STORED_SOLUTIONS_MAX = 4096 };

/* A trial in a pool. Further tasks that ask for the same get the same answer. */
struct running {
    struct running *next;
    int64_t number;
    struct candidate candidate;
    double start_s;
    int task_count;
    int64_t *tasks;
};

struct evaluation_judge {
    struct judge judge; /* must be first */
    struct config *config;
    char folder[PATH_SIZE];
    bool temporary;
    struct solution_store *store;
    struct pool *pool;     /* of the device */
    struct pool *emulated; /* of the emulated device; the same where the device is one */
    struct loaded_solutions *solutions;
    struct proposals *proposals;
    struct answer_cache *cache;
    struct champion champions[CASES_MAX]; /* by goal */
    struct running *running;
    int64_t next_number;
    uint64_t seed;
    int64_t answers, cached, verdicts[VERDICT_COUNT];
};

/* ---- running it ---- */

static struct pool *pool_of(const struct evaluation_judge *judge, enum serve_level level) {
    return level == SERVE_STATIC || level == SERVE_EMULATED ? judge->emulated : judge->pool;
}

static void set_opponent(const struct evaluation_judge *judge, const struct champion *champion,
                         int goal, struct trial_request *request) {
    request->champion_us = champion->score_us;
    request->opponent =
        (struct trial_opponent){.present = true,
                                .trial = champion->trial,
                                .goal = goal,
                                .genome = champion->genome,
                                .config = xstrdup(solution_store_config(judge->store)),
                                .template_folder = xstrdup(champion->folder)};
}

static void submit_candidate(struct evaluation_judge *judge, const struct running *running) {
    const struct candidate *candidate = &running->candidate;
    const struct champion *champion = &judge->champions[candidate->goal];
    struct trial_request request = {.number = running->number,
                                    .goal = candidate->goal,
                                    .genome = candidate->genome,
                                    .full = candidate->level == SERVE_CHAMPION,
                                    .promote = candidate->level == SERVE_EMULATED ||
                                               candidate->level == SERVE_CHAMPION,
                                    .level = candidate->level == SERVE_STATIC     ? LEVEL_STATIC
                                             : candidate->level == SERVE_EMULATED ? LEVEL_CORRECT
                                                                                  : LEVEL_TIMED,
                                    .diagnosed = true,
                                    .seed = judge->seed + (uint64_t)running->number,
                                    .config = xstrdup(solution_store_config(judge->store)),
                                    .template_folder = xstrdup(candidate->folder)};
    bool same = champion->present && strcmp(champion->folder, candidate->folder) == 0 &&
                genome_equal(&champion->genome, &candidate->genome);
    if (candidate->level == SERVE_CHAMPION && champion->present && !same)
        set_opponent(judge, champion, candidate->goal, &request);
    pool_submit(pool_of(judge, candidate->level), &request);
}

static void add_task(struct running *running, int64_t task) {
    running->tasks =
        xrealloc(running->tasks, (size_t)(running->task_count + 1) * sizeof *running->tasks);
    running->tasks[running->task_count++] = task;
}

static struct running *find_running(const struct evaluation_judge *judge,
                                    const struct candidate *candidate) {
    for (struct running *running = judge->running; running != NULL; running = running->next)
        if (hash_equal(running->candidate.hash, candidate->hash))
            return running;
    return NULL;
}

static void free_running(struct running *running) {
    free(running->tasks);
    free(running);
}

/* ---- answering ---- */

static void add_solution(cJSON *answer, const struct candidate *candidate,
                         const struct template *template) {
    char digits[HASH_TEXT_SIZE];
    cJSON *solution = cJSON_AddObjectToObject(answer, "solution");
    cJSON_AddStringToObject(solution, "name", path_name(candidate->folder));
    cJSON_AddStringToObject(solution, "hash", hash_print(template->hash, digits));
    cJSON_AddStringToObject(answer, "level", serve_level_names[candidate->level]);
    cJSON_AddNumberToObject(answer, "goal", candidate->goal);
}

/* Whether the trial made its candidate the goal's champion, and which one there is. */
static void add_champion(struct evaluation_judge *judge, cJSON *answer,
                         const struct running *running, const struct trial_result *result,
                         const struct template *template) {
    const struct candidate *candidate = &running->candidate;
    const struct outcome *outcome = &result->outcome;
    struct champion *champion = &judge->champions[candidate->goal];
    bool accepted = candidate->level == SERVE_CHAMPION && outcome->verdict == VERDICT_OK &&
                    outcome->score_us > 0 &&
                    (!champion->present || outcome->score_us < champion->score_us);
    if (accepted) {
        if (champion->present)
            solution_store_release(judge->store, champion->folder);
        solution_store_hold(judge->store, candidate->folder);
        *champion = (struct champion){.present = true,
                                      .trial = running->number,
                                      .genome = candidate->genome,
                                      .score_us = outcome->score_us};
        strcpy(champion->folder, candidate->folder);
        genome_print(&candidate->genome, template->space, champion->genome_text);
    }
    cJSON_AddBoolToObject(answer, "is_champion", accepted);
    if (!champion->present) {
        cJSON_AddNullToObject(answer, "champion");
        return;
    }
    cJSON *object = cJSON_AddObjectToObject(answer, "champion");
    json_add(object, "solution=%s genome=%s score_us=%g", path_name(champion->folder),
             champion->genome_text, champion->score_us);
}

/* The same trial may be asked for again: at the level "champion" another champion may be there
   then, and a verdict that says nothing of the candidate is worth another try. */
static bool is_kept(const struct running *running, const struct outcome *outcome) {
    return running->candidate.level != SERVE_CHAMPION && outcome->verdict != VERDICT_LOST &&
           outcome->verdict != VERDICT_CRASHED && outcome->verdict != VERDICT_TIMEOUT;
}

static void finish_tasks(struct evaluation_judge *judge, struct tasks *tasks,
                         const struct running *running, cJSON *answer) {
    for (int i = 0; i < running->task_count; i++) {
        tasks_finish(tasks, running->tasks[i], cJSON_Duplicate(answer, true));
        judge->answers++;
    }
    cJSON_Delete(answer);
}

static struct running *take_running(struct evaluation_judge *judge, int64_t number) {
    struct running **at = &judge->running;
    while (*at != NULL && (*at)->number != number)
        at = &(*at)->next;
    struct running *running = *at;
    if (running == NULL)
        BUG("a pool answered trial %lld, which nothing asked for", (long long)number);
    *at = running->next;
    return running;
}

static void take_result(struct evaluation_judge *judge, struct tasks *tasks,
                        struct trial_result *result) {
    struct error error = {0};
    struct running *running = take_running(judge, result->number);
    solution_store_shorten(judge->store, result->outcome.reason);
    for (int g = 0; g < result->gate_count; g++)
        solution_store_shorten(judge->store, result->gates[g].text);
    const struct candidate *candidate = &running->candidate;
    const struct template *template =
        loaded_solutions_find(judge->solutions, candidate->folder, candidate->goal, &error);
    cJSON *answer =
        template != NULL ? answer_new(result, template) : answer_refusal("solution", error.text);
    if (template != NULL) {
        add_solution(answer, candidate, template);
        add_champion(judge, answer, running, result, template);
    }
    cJSON_AddNumberToObject(cJSON_GetObjectItem(answer, "seconds"), "total",
                            clock_seconds() - running->start_s);
    judge->verdicts[result->outcome.verdict]++;
    if (is_kept(running, &result->outcome))
        answer_cache_put(judge->cache, candidate->hash, answer);
    cJSON_AddBoolToObject(answer, "cached", false);
    finish_tasks(judge, tasks, running, answer);
    solution_store_release(judge->store, candidate->folder);
    free_running(running);
    trial_result_release(result);
}

static void refuse(struct evaluation_judge *judge, struct tasks *tasks, const struct task *task,
                   const char *stage, struct error *error) {
    solution_store_shorten(judge->store, error->text);
    judge->answers++;
    judge->verdicts[VERDICT_INVALID]++;
    tasks_finish(tasks, task->id, answer_refusal(stage, error->text));
}

static void start_evaluation(struct evaluation_judge *judge, struct tasks *tasks,
                             const struct task *task) {
    struct candidate candidate = {0};
    struct error error = {0};
    const char *stage;
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(task->request, "counters"))) {
        error_input(&error,
                    "a server takes no counters: export the solution, or search it, and use "
                    "`evotile profile`");
        refuse(judge, tasks, task, "request", &error);
        return;
    }
    if (candidate_read(&candidate, judge->store, judge->solutions, judge->config, task->request,
                       &stage, &error) < 0) {
        refuse(judge, tasks, task, stage, &error);
        return;
    }
    cJSON *answer = answer_cache_get(judge->cache, candidate.hash);
    if (answer != NULL) {
        cJSON_AddBoolToObject(answer, "cached", true);
        judge->answers++;
        judge->cached++;
        tasks_finish(tasks, task->id, answer);
        return;
    }
    struct running *running = find_running(judge, &candidate);
    if (running == NULL) {
        running = xcalloc(1, sizeof *running);
        running->number = judge->next_number++;
        running->candidate = candidate;
        running->start_s = clock_seconds();
        running->next = judge->running;
        judge->running = running;
        solution_store_hold(judge->store, candidate.folder);
        submit_candidate(judge, running);
    }
    add_task(running, task->id);
}

/* "ask" and "tell". */
static void answer_proposal(struct evaluation_judge *judge, struct tasks *tasks,
                            const struct task *task) {
    struct candidate candidate = {0};
    struct error error = {0};
    cJSON *answer = NULL;
    if (candidate_read_place(&candidate, judge->store, judge->config, task->request, &error) == 0)
        answer = proposals_answer(judge->proposals, task->client, candidate.folder, candidate.goal,
                                  task->request, &error);
    judge->answers++;
    if (answer == NULL) {
        answer = cJSON_CreateObject();
        solution_store_shorten(judge->store, error.text);
        cJSON_AddStringToObject(answer, "error", error.text);
    }
    tasks_finish(tasks, task->id, answer);
}

/* ---- the judge ---- */

static struct evaluation_judge *judge_of(const struct judge *judge) {
    return (struct evaluation_judge *)judge;
}

/* As many trials as keep a pool's workers busy, and a few that wait. */
static bool has_room(const struct evaluation_judge *judge) {
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
        take_result(judge, tasks, &result);
    return got;
}

static int evaluation_step(struct judge *base, struct tasks *tasks, struct error *error) {
    struct evaluation_judge *judge = judge_of(base);
    const struct task *task;
    if (take_results(judge, tasks, judge->pool, error) < 0 ||
        (judge->emulated != judge->pool && take_results(judge, tasks, judge->emulated, error) < 0))
        return -1;
    while (has_room(judge) && (task = tasks_take(tasks)) != NULL) {
        const cJSON *type = cJSON_GetObjectItemCaseSensitive(task->request, "type");
        if (cJSON_IsString(type) && strcmp(type->valuestring, "evaluate") == 0)
            start_evaluation(judge, tasks, task);
        else
            answer_proposal(judge, tasks, task);
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
    while (judge->running != NULL) {
        struct running *running = judge->running;
        judge->running = running->next;
        free_running(running);
    }
    proposals_free(judge->proposals);
    answer_cache_free(judge->cache);
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

static struct pool *open_pool(struct evaluation_judge *judge, const char *program,
                              const char *devices, int compile_workers, struct error *error) {
    char folder[PATH_SIZE], own[PATH_SIZE];
    struct device_list list;
    if (solution_store_find(judge->store, config_goal_solution(judge->config, 0), folder, error) <
            0 ||
        path_program(own, error) < 0 || device_list_read(&list, devices, error) < 0)
        return NULL;
    solution_store_hold(judge->store, folder); /* workers that are replaced read it again */
    const struct local_pool_settings settings = {
        .program = program != NULL ? program : own,
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
    judge->pool = open_pool(judge, settings->program, device, settings->compile_workers, error);
    if (judge->pool == NULL)
        return -1;
    judge->emulated = judge->pool;
    if (pool_device(judge->pool)->predicts)
        return 0;
    snprintf(emulated, sizeof emulated, "emulated:sm_%d",
             pool_device(judge->pool)->compute_capability);
    judge->emulated =
        open_pool(judge, settings->program, emulated, EMULATED_COMPILE_WORKERS, error);
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
