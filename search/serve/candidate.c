#include "serve/candidate.h"

#include "base/hash.h"

#include <string.h>

const char *const serve_level_names[SERVE_LEVELS] = {"static", "emulated", "device", "champion"};

static const char *text_member(const cJSON *object, const char *name) {
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(found) ? found->valuestring : NULL;
}

/* Finds or stores the solution; gives its folder. */
static int find_solution(struct solution_store *store, const struct config *config,
                         const cJSON *request, char folder[PATH_SIZE], struct error *error) {
    const cJSON *solution = cJSON_GetObjectItemCaseSensitive(request, "solution");
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(solution, "files");
    const char *name = text_member(solution, "name"), *from = text_member(solution, "folder");
    if (cJSON_IsObject(files))
        return solution_store_add(store, name != NULL ? name : "client", files, folder, error);
    if (from != NULL)
        return solution_store_add_folder(store, from, folder, error);
    return solution_store_find(store, name != NULL ? name : config_goal_solution(config, 0), folder,
                               error);
}

static int find_goal(const struct config *config, const cJSON *request, int *goal,
                     struct error *error) {
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(request, "goal");
    int count = config_goal_count(config);
    *goal = cJSON_IsNumber(found) ? found->valueint : 0;
    return *goal >= 0 && *goal < count
               ? 0
               : error_input(error, "there is no goal %d: the server has %d, counted from 0", *goal,
                             count);
}

static int find_level(const cJSON *request, enum serve_level *level, struct error *error) {
    const char *name = text_member(request, "level");
    *level = SERVE_DEVICE;
    for (int i = 0; i < SERVE_LEVELS && name != NULL; i++)
        if (strcmp(serve_level_names[i], name) == 0) {
            *level = (enum serve_level)i;
            return 0;
        }
    return name == NULL ? 0
                        : error_input(error,
                                      "there is no level \"%.40s\": static, emulated, device or "
                                      "champion",
                                      name);
}

/* Both are of a kernel that is timed. */
static int find_extras(struct candidate *candidate, const struct config *config,
                       const cJSON *request, struct error *error) {
    candidate->with_baseline = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(request, "baseline"));
    candidate->with_counters = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(request, "counters"));
    if (candidate->with_baseline && config->baseline.count == 0)
        return error_input(error,
                           "the problem %s has no baseline: add one to its problem.json, or to the "
                           "server's config",
                           config->shapes->name);
    return (candidate->with_baseline || candidate->with_counters) && candidate->level < SERVE_DEVICE
               ? error_input(error, "\"baseline\" and \"counters\" need the level \"device\" or "
                                    "\"champion\"")
               : 0;
}

static int check_problem(const struct config *config, const cJSON *request, struct error *error) {
    const char *problem = text_member(request, "problem");
    return problem == NULL || strcmp(problem, config->shapes->name) == 0
               ? 0
               : error_input(error, "the server judges the problem %s, not \"%.60s\"",
                             config->shapes->name, problem);
}

static struct hash hash_candidate(const struct candidate *candidate,
                                  const struct template *template) {
    struct hasher *hasher = hasher_new_strong();
    char digits[HASH_TEXT_SIZE];
    hasher_add_text(hasher, hash_print(template->hash, digits));
    hasher_add_text(hasher, candidate->folder);
    hasher_add(hasher, &candidate->genome, sizeof candidate->genome);
    hasher_add(hasher, &candidate->goal, sizeof candidate->goal);
    hasher_add(hasher, &candidate->level, sizeof candidate->level);
    hasher_add(hasher, &candidate->with_baseline, sizeof candidate->with_baseline);
    hasher_add(hasher, &candidate->with_counters, sizeof candidate->with_counters);
    return hasher_finish(hasher);
}

int candidate_read_place(struct candidate *candidate, struct solution_store *store,
                         const struct config *config, const cJSON *request, struct error *error) {
    return check_problem(config, request, error) < 0 ||
                   find_goal(config, request, &candidate->goal, error) < 0 ||
                   find_solution(store, config, request, candidate->folder, error) < 0
               ? -1
               : 0;
}

int candidate_read(struct candidate *candidate, struct solution_store *store,
                   struct loaded_solutions *solutions, const struct config *config,
                   const cJSON *request, const char **stage, struct error *error) {
    const char *genome = text_member(request, "genome");
    *stage = "request";
    if (find_level(request, &candidate->level, error) < 0 ||
        find_extras(candidate, config, request, error) < 0)
        return -1;
    *stage = "solution";
    if (candidate_read_place(candidate, store, config, request, error) < 0)
        return -1;
    const struct template *template =
        loaded_solutions_find(solutions, candidate->folder, candidate->goal, error);
    if (template == NULL)
        return -1;
    *stage = "genome";
    if (genome_parse(&candidate->genome, template->space, genome != NULL ? genome : "", error) < 0)
        return -1;
    candidate->hash = hash_candidate(candidate, template);
    return 0;
}
