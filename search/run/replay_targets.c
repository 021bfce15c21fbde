#include "run/replay_targets.h"

#include "base/log.h"
#include "base/memory.h"
#include "device/nvrtc.h"
#include "export/export.h"
#include "run/rival_duels.h"
#include "run/run_dir.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CUBIN_BYTES_MAX = 64 << 20 };

/* ---- targets of a run ---- */

static int64_t shown_rank(const struct replay_targets *targets) {
    return targets->choice.rank == REPLAY_CHAMPION ? 1 : targets->choice.rank;
}

static int rank_error(const struct replay_targets *targets, struct error *error) {
    const char *solution = targets->choice.solution;
    return error_input(
        error, "the board of %s has no rank %lld%s%s: `evotile board %s%s%s` shows it",
        targets->from, (long long)shown_rank(targets), solution != NULL ? " of " : "",
        solution != NULL ? solution : "", targets->from, solution != NULL ? " --solution " : "",
        solution != NULL ? solution : "");
}

struct replay_choice replay_choice_default(void) {
    return (struct replay_choice){.rank = REPLAY_CHAMPION, .goal = REPLAY_FIRST_CASES};
}

int64_t replay_choice_trial(struct store *store, const struct config *config,
                            const struct run_solutions *solutions, int goal, int chosen,
                            int64_t rank, struct error *error) {
    const bool champion = rank == REPLAY_CHAMPION;
    struct rival_duels best;
    if (champion && chosen == ALL_SOLUTIONS && solutions->count > 1) {
        int found = rival_duels_read(store, config, goal, &best, error);
        return found < 0 ? -2 : found == 0 ? STORE_NO_TRIAL : best.trial;
    }
    return store_shared_ranked(store, run_solutions_goals(solutions, goal, chosen),
                               champion ? 1 : rank, error);
}

/* With REPLAY_ALL_GOALS, skips cases whose board is too short. */
static int read_rank(struct replay_targets *targets, struct store *store,
                     const struct run_solutions *solutions, int goal, int chosen,
                     struct error *error) {
    struct replay_target *target = &targets->items[targets->count];
    int64_t number = replay_choice_trial(store, targets->config, solutions, goal, chosen,
                                         targets->choice.rank, error);
    if (number == STORE_NO_TRIAL && targets->choice.goal == REPLAY_ALL_GOALS)
        return 0;
    if (number < 0)
        return number == STORE_NO_TRIAL ? rank_error(targets, error) : -1;
    struct store_trial *trial = store_trial_read(store, number, error);
    if (trial == NULL || store_key_read(store, number, &target->key, error) < 0) {
        store_trial_free(trial);
        return -1;
    }
    targets->count++;
    target->score_us = targets->config->minimise == MINIMISED_LATENCY
                           ? trial->outcome->score_us
                           : outcome_latency_us(trial->outcome);
    if (targets->choice.rank == REPLAY_CHAMPION && solutions->count > 1)
        snprintf(target->name, sizeof target->name, "%s, champion, trial %lld",
                 store_goal_name(store, trial->goal), (long long)number);
    else
        snprintf(target->name, sizeof target->name, "%s, rank %lld, trial %lld",
                 store_goal_name(store, trial->goal), (long long)shown_rank(targets),
                 (long long)number);
    target->request = (struct trial_request){.number = number, .goal = trial->goal};
    store_trial_free(trial);
    return 0;
}

static int read_run_targets(struct replay_targets *targets, struct error *error) {
    struct store *store = store_open(targets->from, STORE_READ, error);
    if (store == NULL)
        return -1;
    int result = -1;
    targets->config = run_dir_read_config(targets->from, error);
    if (targets->config == NULL)
        goto done;
    snprintf(targets->config_path, PATH_SIZE, "%s", targets->config->path);
    snprintf(targets->template_folder, PATH_SIZE, "%s", targets->config->template_folder);
    struct run_solutions solutions;
    int chosen = ALL_SOLUTIONS;
    if (run_solutions_read(store, &solutions, error) < 0 ||
        (targets->choice.solution != NULL &&
         run_solutions_find(&solutions, targets->from, targets->choice.solution, &chosen, error) <
             0))
        goto done;
    const int64_t wanted = targets->choice.goal;
    if (wanted >= store_goal_count(store)) {
        error_input(error, "%s has %d goals, from 0: there is no goal %lld", targets->from,
                    store_goal_count(store), (long long)wanted);
        goto done;
    }
    int first = wanted < 0 ? 0 : (int)wanted;
    int last = wanted == REPLAY_ALL_GOALS ? store_goal_count(store) - 1 : first;
    for (int goal = first; goal <= last; goal += solutions.count)
        if (read_rank(targets, store, &solutions, goal, chosen, error) < 0)
            goto done;
    if (targets->count == 0) {
        rank_error(targets, error);
        goto done;
    }
    result = store_meta_get(store, "device", &targets->device, error) < 0 ? -1 : 0;
done:
    store_close(store);
    return result;
}

/* ---- targets of an exported kernel ---- */

/* The number of a solution in the config's list. */
static int find_solution(const cJSON *solutions, const char *name) {
    int index = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, solutions) {
        if (strcmp(item->valuestring, name) == 0)
            return index;
        index++;
    }
    return -1;
}

/* Each solution of the manifest once; NULL: the template has one, nameless. */
static cJSON *list_solutions(const struct manifest *manifest) {
    cJSON *solutions = NULL;
    for (int v = 0; v < manifest->variant_count; v++) {
        const char *name = manifest->variants[v].solution;
        if (name == NULL || find_solution(solutions, name) >= 0)
            continue;
        if (solutions == NULL)
            solutions = cJSON_CreateArray();
        cJSON_AddItemToArray(solutions, cJSON_CreateString(name));
    }
    return solutions;
}

/* Writes a config for the workers from the manifest. Each case is a goal for each solution. */
static int write_config(struct replay_targets *targets, const struct manifest *manifest,
                        struct error *error) {
    const char *temporary = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    cJSON *config = cJSON_CreateObject();
    json_add(config, "template=%s objective=%s", manifest->template_name, "per_case");
    cJSON *solutions = list_solutions(manifest);
    if (solutions != NULL)
        cJSON_AddItemToObject(config, "solutions", solutions);
    cJSON *cases = cJSON_AddArrayToObject(config, "cases");
    for (int c = 0; c < manifest->case_count; c++)
        cJSON_AddItemToArray(cases, cJSON_Duplicate(manifest->cases[c].shape.value, 1));
    if (manifest->ranges.value != NULL)
        cJSON_AddItemToObject(config, "ranges", cJSON_Duplicate(manifest->ranges.value, 1));
    cJSON *limits = cJSON_AddObjectToObject(config, "limits");
    cJSON_AddNumberToObject(limits, "smem_bytes", manifest->smem_limit);
    char *text = json_print(config);
    int result = path_join(targets->scratch, temporary, "evotile-record-XXXXXX", error);
    if (result == 0 && mkdtemp(targets->scratch) == NULL) {
        targets->scratch[0] = '\0';
        result = error_set(
            error, "cannot make a folder in %s: set TMPDIR to one that can be written", temporary);
    }
    if (result == 0 &&
        (path_join(targets->config_path, targets->scratch, "config.json", error) < 0 ||
         path_write_file(targets->config_path, text, strlen(text), error) < 0))
        result = -1;
    if (result == 0) {
        targets->config =
            config_from_text(targets->config_path, text, targets->template_folder, error);
        result = targets->config != NULL ? 0 : -1;
    }
    free(text);
    return result;
}

/* Without a GPU, chooses the emulated device of the architecture that the kernel was exported
   for. */
static void choose_emulated_device(struct replay_targets *targets,
                                   const struct manifest *manifest) {
    struct device_info here, like;
    struct error ignored;
    char spec[32];
    const char *options = manifest->variants[0].key.parts[KEY_OPTIONS];
    const char *architecture = options != NULL ? strstr(options, "=sm_") : NULL;
    if (architecture == NULL)
        return;
    snprintf(spec, sizeof spec, "emulated:sm_%d", atoi(architecture + strlen("=sm_")));
    if (device_describe("auto", &here, &ignored) == 0 && here.predicts &&
        device_describe(spec, &like, &ignored) == 0)
        targets->device = xstrdup(spec);
}

/* Writes a file for the workers: a copy of what was verified. Takes ownership of the bytes, which
   may be NULL. Returns its path, which the caller owns, or NULL. */
static char *write_scratch(const struct replay_targets *targets, int variant, const char *kind,
                           char *bytes, size_t size, struct error *error) {
    char name[32];
    char path[PATH_SIZE];
    snprintf(name, sizeof name, "variant_%d.%s", variant + 1, kind);
    int result = bytes == NULL || path_join(path, targets->scratch, name, error) < 0
                     ? -1
                     : path_write_file(path, bytes, size, error);
    free(bytes);
    return result < 0 ? NULL : xstrdup(path);
}

int replay_read_variant(const struct replay_targets *targets, const struct manifest *manifest,
                        int variant, bool exact, struct replay_target *target,
                        struct error *error) {
    const struct manifest_variant *from = &manifest->variants[variant];
    char path[PATH_SIZE];
    char *text = manifest_read_source(manifest, targets->from, variant, error);
    target->request.sources[0] =
        write_scratch(targets, variant, "cu", text, text != NULL ? strlen(text) : 0, error);
    if (target->request.sources[0] == NULL ||
        path_join(path, targets->from, from->cubin, error) < 0)
        return -1;
    key_copy(&target->key, &from->key);
    if (from->genome_mark != NULL)
        snprintf(target->genome_mark, sizeof target->genome_mark, "%s", from->genome_mark);
    if (!exact || !path_exists(path))
        return 0;
    size_t size;
    char *cubin = path_read_file(path, CUBIN_BYTES_MAX, &size, error);
    target->request.cubins[0] = write_scratch(targets, variant, "cubin", cubin, size, error);
    return target->request.cubins[0] != NULL ? 0 : -1;
}

/* Whether the folder is what was exported. */
static int verify_files(const struct replay_targets *targets, const struct manifest *manifest,
                        bool exact, struct error *error) {
    struct strbuf changes = {0};
    bool whole;
    int result = manifest_verify(manifest, targets->from, &changes, &whole, error);
    if (result == 0 && changes.used > 0 && exact)
        result =
            error_refuse(error, "%s is not what was exported: %.900s: restore it, or export again",
                         targets->from, changes.bytes);
    else if (result == 0 && changes.used > 0)
        log_warn("%s was changed since it was exported, and is evaluated as it is: %.900s",
                 targets->from, changes.bytes);
    else if (result == 0 && exact && !whole)
        log_info("%s/manifest.json does not list the hash of every file: the others were not "
                 "compared; export again to have them listed",
                 targets->from);
    strbuf_release(&changes);
    return result;
}

/* The goal of a case's own solution. */
static int case_goal(const struct config *config, const struct manifest *manifest, int index) {
    const char *solution = manifest->variants[manifest->cases[index].variant].solution;
    int goal = index * config_rivals(config);
    while (solution != NULL && strcmp(config_goal_solution(config, goal), solution) != 0)
        goal++;
    return goal;
}

static int read_kernel_targets(struct replay_targets *targets, bool exact, struct error *error) {
    struct manifest *manifest = xmalloc(sizeof *manifest);
    if (manifest_read(manifest, targets->from, error) < 0) {
        free(manifest);
        return -1;
    }
    snprintf(targets->template_folder, PATH_SIZE, "%s", manifest->template_folder);
    choose_emulated_device(targets, manifest);
    int result = verify_files(targets, manifest, exact, error);
    if (result == 0)
        result = write_config(targets, manifest, error);
    const int64_t wanted = targets->choice.goal;
    if (result == 0 && wanted >= manifest->case_count)
        result = error_input(error, "%s has %d cases, from 0: there is no case %lld", targets->from,
                             manifest->case_count, (long long)wanted);
    for (int c = 0; c < manifest->case_count && result == 0; c++) {
        if (wanted >= 0 && wanted != c)
            continue;
        struct replay_target *target = &targets->items[targets->count++];
        const int goal = case_goal(targets->config, manifest, c);
        config_goal_name(targets->config, goal, target->name);
        target->request = (struct trial_request){.number = c, .goal = goal};
        target->score_us = manifest->cases[c].p50_us;
        result = replay_read_variant(targets, manifest, manifest->cases[c].variant, exact, target,
                                     error);
    }
    manifest_release(manifest);
    free(manifest);
    return result;
}

/* ---- either ---- */

int replay_targets_read(struct replay_targets *targets, const char *from,
                        const struct replay_choice *choice, bool exact, struct error *error) {
    char manifest[PATH_SIZE];
    *targets = (struct replay_targets){.from = from,
                                       .choice = *choice,
                                       .config_path = xcalloc(1, PATH_SIZE),
                                       .template_folder = xcalloc(1, PATH_SIZE),
                                       .scratch = xcalloc(1, PATH_SIZE),
                                       .items = xcalloc(GOALS_MAX, sizeof *targets->items)};
    if (path_join(manifest, from, "manifest.json", error) < 0)
        return -1;
    if (!path_exists(manifest))
        return read_run_targets(targets, error);
    return choice->solution != NULL
               ? error_input(error,
                             "%s is an exported kernel, and has one solution: leave \"%s\" out",
                             from, choice->solution)
               : read_kernel_targets(targets, exact, error);
}

void replay_targets_release(struct replay_targets *targets) {
    struct error ignored;
    config_free(targets->config);
    for (int i = 0; i < targets->count; i++) {
        trial_request_release(&targets->items[i].request);
        key_release(&targets->items[i].key);
    }
    if (targets->scratch != NULL && targets->scratch[0] != '\0')
        path_remove_tree(targets->scratch, &ignored);
    free(targets->config_path);
    free(targets->template_folder);
    free(targets->scratch);
    free(targets->items);
    free(targets->device);
}

/* Whether this device can judge the exported machine code: one that runs it, or one that compares
   it with what the same compiler makes of the source. Says so if it cannot. */
static bool judges_cubin(const struct replay_targets *targets, const struct replay_target *target,
                         const struct template *template, const struct device_info *device) {
    struct compile_options options;
    struct error ignored;
    const char *recorded = target->key.parts[KEY_OPTIONS];
    if (template_options(template, &target->request.genome, false, &options, &ignored) < 0)
        return true; /* the trial reports it */
    size_t length = strlen(options.items[0]);
    if (strncmp(recorded, options.items[0], length) != 0 || recorded[length] == 'a') {
        log_info(
            "%s: the machine code was not verified, which is for %.*s: its source was compiled "
            "for %s",
            targets->from, (int)strcspn(recorded, " "), recorded, device->name);
        return false;
    }
    if (!device->predicts)
        return true;
    struct nvrtc *nvrtc = nvrtc_open(&ignored);
    const char *made_by = target->key.parts[KEY_NVRTC];
    bool same = nvrtc == NULL || strcmp(nvrtc_version(nvrtc), made_by) == 0;
    if (!same)
        log_info("%s: the machine code was not compared, which NVRTC %s made and this is %s: a GPU "
                 "verifies it",
                 targets->from, made_by, nvrtc_version(nvrtc));
    nvrtc_close(nvrtc);
    return same;
}

static int check_genome_mark(const struct replay_targets *targets,
                             const struct replay_target *target, struct error *error) {
    char mark[sizeof target->genome_mark];
    snprintf(mark, sizeof mark, "%016llx",
             (unsigned long long)template_genome_tag(&target->request.genome));
    if (target->genome_mark[0] == '\0' || strcmp(target->genome_mark, mark) == 0)
        return 0;
    return error_refuse(error,
                        "%s is not what was exported: the mark of its genome is %s, not %s: export "
                        "it again",
                        targets->from, mark, target->genome_mark);
}

int replay_target_genome(const struct replay_targets *targets, struct replay_target *target,
                         const struct device_info *device, struct error *error) {
    struct template *template =
        config_load_template(targets->config, target->request.goal, device, error);
    if (template == NULL)
        return -1;
    int result = genome_parse(&target->request.genome, template->space,
                              target->key.parts[KEY_GENOME], error);
    if (result == 0)
        result = check_genome_mark(targets, target, error);
    if (result == 0 && target->request.cubins[0] != NULL &&
        !judges_cubin(targets, target, template, device)) {
        free(target->request.cubins[0]);
        target->request.cubins[0] = NULL;
    }
    template_free(template);
    return result;
}

void replay_target_cases(const struct replay_targets *targets, const struct replay_target *target,
                         char name[CASE_NAME_SIZE]) {
    config_cases_name(targets->config, target->request.goal, name);
}
