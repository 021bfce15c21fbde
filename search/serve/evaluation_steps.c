#include "serve/evaluation_judge_internal.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "serve/candidate.h"
#include "solutions/answer.h"
#include "solutions/solution_store.h"

#include <math.h>
#include <string.h>

static struct pool *pool_of(const struct evaluation_judge *judge, enum serve_level level) {
    return level == SERVE_STATIC || level == SERVE_EMULATED ? judge_pools_emulated(&judge->pools)
                                                            : judge_pools_device(&judge->pools);
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

/* Of a server's candidate, at the level of a trial on the device. */
static struct trial_request make_request(const struct evaluation_judge *judge,
                                         const struct running *running) {
    const struct candidate *candidate = &running->candidate;
    return (struct trial_request){.number = running->number,
                                  .goal = candidate->goal,
                                  .genome = candidate->genome,
                                  .diagnosed = true,
                                  .seed = judge->seed + (uint64_t)running->number,
                                  .config = xstrdup(solution_store_config(judge->store)),
                                  .template_folder = xstrdup(candidate->folder)};
}

static void submit_candidate(struct evaluation_judge *judge, const struct running *running) {
    const struct candidate *candidate = &running->candidate;
    const struct champion *champion = &judge->champions[candidate->goal];
    struct trial_request request = make_request(judge, running);
    request.full = candidate->level == SERVE_CHAMPION;
    request.promote = candidate->level == SERVE_EMULATED || candidate->level == SERVE_CHAMPION;
    request.level = candidate->level == SERVE_STATIC     ? LEVEL_STATIC
                    : candidate->level == SERVE_EMULATED ? LEVEL_CORRECT
                                                         : LEVEL_TIMED;
    request.no_race = true;
    request.champion_us = running->best_us;
    bool same = champion->present && strcmp(champion->folder, candidate->folder) == 0 &&
                genome_equal(&champion->genome, &candidate->genome);
    if (candidate->level == SERVE_CHAMPION && champion->present && !same)
        set_opponent(judge, champion, candidate->goal, &request);
    pool_submit(pool_of(judge, candidate->level), &request);
}

/* A duel with what a user would run instead: the fastest of its implementations. */
static void submit_baseline_duel(struct evaluation_judge *judge, const struct running *running) {
    struct trial_request request = make_request(judge, running);
    request.full = true;
    request.duel_blocks = judge->config->timing.duel_blocks;
    request.opponent = (struct trial_opponent){.present = true};
    baseline_command_copy(&request.opponent.baseline, &judge->config->baseline);
    pool_submit(judge_pools_device(&judge->pools), &request);
}

static struct profile_process *start_profile(const struct evaluation_judge *judge,
                                             const struct running *running, struct error *error) {
    const struct device_info *device = pool_device(judge_pools_device(&judge->pools));
    const struct profile_process_settings settings = {.program = judge->program,
                                                      .config_path =
                                                          solution_store_config(judge->store),
                                                      .template_folder = running->candidate.folder,
                                                      .device = device};
    struct trial_request request = make_request(judge, running);
    struct profile_process *profile = NULL;
    if (device->predicts)
        error_set(error, "%s is not a GPU, and ncu profiles only GPUs", device->spec);
    else if (judge->is_remote)
        error_set(error, "the GPUs are on other hosts, and ncu runs on the server's: serve there");
    else
        profile = profile_process_start(&settings, &request, error);
    trial_request_release(&request);
    return profile;
}

/* So much faster than the client's best is not faster: else every second copy of it would be
   checked in full. */
static const double equal_share = 0.02;

/* The score below which a candidate must pass the final checks; 0: at every one. */
static double best_us(const struct evaluation_judge *judge, const struct candidate *candidate,
                      const char *client) {
    return candidate->level == SERVE_DEVICE
               ? (1 - equal_share) * client_bests_us(judge->bests, client, candidate->goal)
               : 0;
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
    const struct candidate *candidate = &running->candidate;
    return candidate->level != SERVE_CHAMPION && !candidate->with_baseline &&
           outcome->verdict != VERDICT_LOST && outcome->verdict != VERDICT_CRASHED &&
           outcome->verdict != VERDICT_TIMEOUT;
}

static void finish_tasks(struct evaluation_judge *judge, struct tasks *tasks,
                         const struct running *running, cJSON *answer) {
    for (int i = 0; i < running->task_count; i++) {
        tasks_finish(tasks, running->tasks[i].id, cJSON_Duplicate(answer, true));
        judge->answers++;
    }
    cJSON_Delete(answer);
}

/* What passed the final checks is what its clients' next candidates are compared with. */
static void note_best(struct evaluation_judge *judge, const struct running *running,
                      const struct trial_result *result) {
    for (int i = 0; i < running->task_count && result->final_checks; i++)
        if (result->outcome.verdict == VERDICT_OK && result->outcome.score_us > 0)
            client_bests_add(judge->bests, running->tasks[i].client, running->candidate.goal,
                             result->outcome.score_us);
}

/* An answer that is kept, if it was checked as this client's would be now. */
static cJSON *find_answer(const struct evaluation_judge *judge, const struct candidate *candidate,
                          double best_us) {
    cJSON *answer = answer_cache_get(judge->cache, candidate->hash);
    const cJSON *checked = cJSON_GetObjectItemCaseSensitive(answer, "final_checks");
    const cJSON *score = cJSON_GetObjectItemCaseSensitive(answer, "score_us");
    if (cJSON_IsFalse(checked) && cJSON_IsNumber(score) && candidate->level == SERVE_DEVICE &&
        (best_us <= 0 || score->valuedouble < best_us)) {
        cJSON_Delete(answer);
        return NULL;
    }
    return answer;
}

/* The candidate has passed all steps. */
static void finish_running(struct evaluation_judge *judge, struct tasks *tasks,
                           struct running *running) {
    cJSON *answer = running->answer;
    running->answer = NULL;
    cJSON_AddNumberToObject(cJSON_GetObjectItem(answer, "seconds"), "total",
                            clock_seconds() - running->start_s);
    if (running->kept)
        answer_cache_put(judge->cache, running->candidate.hash, answer);
    cJSON_AddBoolToObject(answer, "cached", false);
    finish_tasks(judge, tasks, running, answer);
    solution_store_release(judge->store, running->candidate.folder);
    running_end(&judge->running, running);
}

/* Goes on with what the request asks for beside the trial, of a candidate that is right. */
static void next_step(struct evaluation_judge *judge, struct tasks *tasks,
                      struct running *running) {
    const struct candidate *candidate = &running->candidate;
    if (running->step < RUNNING_BASELINE && candidate->with_baseline) {
        running->step = RUNNING_BASELINE;
        running->number = judge->next_number++;
        submit_baseline_duel(judge, running);
    } else if (running->step < RUNNING_COUNTERS && candidate->with_counters)
        running->step = RUNNING_COUNTERS; /* starts when no trial runs */
    else
        finish_running(judge, tasks, running);
}

static void shorten_texts(const struct evaluation_judge *judge, struct trial_result *result) {
    solution_store_shorten(judge->store, result->outcome.reason);
    for (int g = 0; g < result->gate_count; g++)
        solution_store_shorten(judge->store, result->gates[g].text);
}

/* The candidate's own trial. */
static void take_trial(struct evaluation_judge *judge, struct running *running,
                       const struct trial_result *result) {
    struct error error = {0};
    const struct candidate *candidate = &running->candidate;
    const struct template *template =
        loaded_solutions_find(judge->solutions, candidate->folder, candidate->goal, &error);
    running->answer =
        template != NULL ? answer_new(result, template) : answer_refusal("solution", error.text);
    if (template != NULL) {
        add_solution(running->answer, candidate, template);
        add_champion(judge, running->answer, running, result, template);
    }
    judge->verdicts[result->outcome.verdict]++;
    note_best(judge, running, result);
    running->kept = is_kept(running, &result->outcome);
}

void evaluation_take_result(struct evaluation_judge *judge, struct tasks *tasks,
                            struct trial_result *result) {
    struct running *running = running_find_number(&judge->running, result->number);
    if (running == NULL)
        BUG("a pool answered trial %lld, which nothing asked for", (long long)result->number);
    shorten_texts(judge, result);
    if (running->step == RUNNING_TRIAL)
        take_trial(judge, running, result);
    else
        answer_add_baseline(running->answer, result);
    if (result->outcome.verdict == VERDICT_OK)
        next_step(judge, tasks, running);
    else
        finish_running(judge, tasks, running);
    trial_result_release(result);
}

static void refuse(struct evaluation_judge *judge, struct tasks *tasks, const struct task *task,
                   const char *stage, struct error *error) {
    solution_store_shorten(judge->store, error->text);
    judge->answers++;
    judge->verdicts[VERDICT_INVALID]++;
    tasks_finish(tasks, task->id, answer_refusal(stage, error->text));
}

void evaluation_start(struct evaluation_judge *judge, struct tasks *tasks,
                      const struct task *task) {
    struct candidate candidate = {0};
    struct error error = {0};
    const char *stage;
    if (candidate_read(&candidate, judge->store, judge->solutions, judge->config, task->request,
                       &stage, &error) < 0) {
        refuse(judge, tasks, task, stage, &error);
        return;
    }
    const double best = best_us(judge, &candidate, task->client);
    cJSON *answer = find_answer(judge, &candidate, best);
    if (answer != NULL) {
        cJSON_AddBoolToObject(answer, "cached", true);
        judge->answers++;
        judge->cached++;
        tasks_finish(tasks, task->id, answer);
        return;
    }
    struct running *running = running_find(&judge->running, &candidate, best);
    if (running == NULL) {
        running = running_add(&judge->running, &candidate, judge->next_number++, best);
        solution_store_hold(judge->store, candidate.folder);
        submit_candidate(judge, running);
    }
    running_add_task(running, task);
}

void evaluation_answer_proposal(struct evaluation_judge *judge, struct tasks *tasks,
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

void evaluation_profile_step(struct evaluation_judge *judge, struct tasks *tasks) {
    struct error error = {0};
    cJSON *counters = NULL;
    if (judge->profile == NULL) {
        judge->profiled = running_find_step(&judge->running, RUNNING_COUNTERS);
        if (judge->profiled == NULL || pool_in_flight(judge_pools_device(&judge->pools)) > 0)
            return;
        judge->profile = start_profile(judge, judge->profiled, &error);
        if (judge->profile == NULL)
            counters = answer_no_counters(error.text);
    }
    if (counters == NULL && (counters = profile_process_read(judge->profile)) == NULL)
        return;
    profile_process_free(judge->profile);
    judge->profile = NULL;
    cJSON_AddItemToObject(judge->profiled->answer, "counters", counters);
    next_step(judge, tasks, judge->profiled);
}
