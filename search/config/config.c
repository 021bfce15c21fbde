/* Reads a config, one function a section of the file, in the file's order. The file is long so that
   the format is in one place. */
#include "config/config.h"

#include "base/json_fields.h"
#include "base/memory.h"
#include "base/path.h"
#include "config/evolve.h"
#include "config/genes.h"
#include "config/ranges.h"
#include "config/solutions.h"
#include "config/timing.h"

#include <math.h>
#include <string.h>

enum { CONFIG_BYTES_MAX = 64 << 20 };

static const char recorded_prefix[] = "recorded:";

static const struct config defaults = {
    .smem_limit_bytes = SMEM_DEFAULT_LIMIT,
    .limited_range = true,
    .device = "auto",
    .seed = 1,
    .strategy = "auto",
    .learn_from = "index",
    .population = 24,
    .initial = 32,
    .exploration = 0.10,
    .share_goals = true,
    .goals_by_gain = true,
    .timing = CONFIG_TIMING_DEFAULTS,
    .evolve = CONFIG_EVOLVE_DEFAULTS,
};

/* ---- plain keys: their members and ranges ---- */

#define CONFIG_FIELD(key, kind, member, minimum, maximum)                                          \
    JSON_FIELD(struct config, member, key, kind, minimum, maximum)

static const struct json_field search_fields[] = {
    CONFIG_FIELD("population", INT, population, 2, 4096),
    CONFIG_FIELD("initial", INT, initial, 1, 100000),
    CONFIG_FIELD("exploration", DOUBLE, exploration, 0, 1),
    CONFIG_FIELD("sanitize_every", INT, sanitize_every, -1, 1000000),
    CONFIG_FIELD("keep_profiles", BOOL, keep_profiles, 0, 1),
    CONFIG_FIELD("share_goals", BOOL, share_goals, 0, 1),
    CONFIG_FIELD("goals_by_gain", BOOL, goals_by_gain, 0, 1),
    CONFIG_FIELD("nice", BOOL, nice, 0, 1),
    CONFIG_FIELD("max_temperature_c", INT, max_temperature_c, 0, TEMPERATURE_MAX_C),
    {0},
};
static const struct json_field limit_fields[] = {
    CONFIG_FIELD("smem_bytes", INT, smem_limit_bytes, 1024, 1 << 20),
    CONFIG_FIELD("limited_range", BOOL, limited_range, 0, 1),
    {0},
};

static int read_fields(struct config *config, const struct json *object,
                       const struct json_field *fields, const char *const *other_keys,
                       struct error *error) {
    static const char *const none[] = {NULL};
    return json_fields_check_keys(object, fields, other_keys != NULL ? other_keys : none, error) <
                       0 ||
                   json_fields_read(object, fields, config, error) < 0
               ? -1
               : 0;
}

/* ---- sections ---- */

static int read_weight(struct config *config, const struct json *value, double *weight,
                       struct error *error) {
    struct json given;
    *weight = 1;
    if (!json_find(value, "weight", &given))
        return 0;
    config->weighted = true;
    if (json_number(&given, weight, error) < 0)
        return -1;
    return case_weight_is_valid(*weight) ? 0
                                         : json_error(&given, error, "must lie between %g and %g",
                                                      CASE_WEIGHT_MIN, CASE_WEIGHT_MAX);
}

/* `weights`: NULL if the cases have none. */
static int read_case_list(struct config *config, const struct json *list,
                          struct shape shapes[CASES_MAX], double *weights, int *count,
                          struct error *error) {
    if (json_is_array(list, error) < 0)
        return -1;
    *count = json_count(list);
    if (*count < 1 || *count > CASES_MAX)
        return json_error(list, error, "must have 1 to %d cases", CASES_MAX);
    for (int c = 0; c < *count; c++) {
        struct json value = json_at(list, c);
        if ((weights != NULL
                 ? template_read_case(config->shapes, &value, "weight", &shapes[c], error)
                 : template_read_shape(config->shapes, &value, NULL, &shapes[c], error)) < 0 ||
            (weights != NULL && read_weight(config, &value, &weights[c], error) < 0))
            return -1;
        for (int other = 0; other < c; other++)
            if (memcmp(&shapes[other], &shapes[c], sizeof(struct shape)) == 0)
                return json_error(&value, error, "is the same as %s[%d]", json_key(list), other);
    }
    return 0;
}

static int read_cases(struct config *config, const struct json *root, struct error *error) {
    struct json list;
    if (config->shapes->dimension_count == 0 && !json_find(root, "cases", &list)) {
        config->case_count = 1; /* without dimensions there is no other */
        config->weights[0] = 1;
        return 0;
    }
    if (json_require(root, "cases", &list, error) < 0 ||
        read_case_list(config, &list, config->cases, config->weights, &config->case_count, error) <
            0)
        return -1;
    if (config_goal_count(config) > GOALS_MAX)
        return json_error(&list, error, "more than %d cases times solutions", GOALS_MAX);
    if (!json_find(root, "held_out", &list))
        return 0;
    if (read_case_list(config, &list, config->held_out, NULL, &config->held_out_count, error) < 0)
        return -1;
    for (int c = 0; c < config->held_out_count; c++) {
        struct json value = json_at(&list, c);
        if (!config_is_compiled(config, &config->held_out[c]))
            return json_error(
                &value, error,
                "has specialised dimensions that match no case, so no kernel is compiled for it");
    }
    return 0;
}

static int read_budget(struct config *config, const struct json *root, struct error *error) {
    static const char *const keys[] = {"trials",    "time",         "patience",
                                       "target_us", "target_ratio", NULL};
    struct json budget;
    struct json value;
    const char *text;
    if (!json_find(root, "budget", &budget))
        return 0;
    if (json_check_keys(&budget, keys, error) < 0)
        return -1;
    if (json_find(&budget, "trials", &value)) {
        if (json_integer(&value, &config->trials, error) < 0)
            return -1;
        if (config->trials < 1)
            return json_error(&value, error, "must be at least 1");
    }
    if (json_find(&budget, "patience", &value)) {
        if (json_integer(&value, &config->patience, error) < 0)
            return -1;
        if (config->patience < 1)
            return json_error(&value, error, "must be at least 1");
    }
    const struct {
        const char *key;
        double *target;
    } targets[] = {{"target_us", &config->target_us}, {"target_ratio", &config->target_ratio}};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        if (!json_find(&budget, targets[i].key, &value))
            continue;
        if (json_number(&value, targets[i].target, error) < 0)
            return -1;
        if (!(*targets[i].target > 0))
            return json_error(&value, error, "must be more than 0");
    }
    if (json_find(&budget, "time", &value)) {
        if (json_string(&value, &text, error) < 0)
            return -1;
        if (config_parse_duration(text, &config->seconds, error) < 0)
            return json_error(&value, error, "must be a duration: 90s, 15m, 8h or hh:mm:ss");
    }
    return 0;
}

static int read_text(const struct json *root, const char *key, char *to, size_t size,
                     struct error *error) {
    struct json value;
    const char *text;
    if (!json_find(root, key, &value))
        return 0;
    if (json_string(&value, &text, error) < 0)
        return -1;
    if (strlen(text) >= size)
        return json_error(&value, error, "must be shorter than %zu characters", size);
    strcpy(to, text);
    return 0;
}

static int read_objective(struct config *config, const struct json *root, struct error *error) {
    static const char *const words[] = {
        [OBJECTIVE_JOINT] = "joint", [OBJECTIVE_PER_CASE] = "per_case"};
    char text[16] = "joint";
    struct json value;
    if (read_text(root, "objective", text, sizeof text, error) < 0)
        return -1;
    for (int i = 0; i < 2; i++)
        if (strcmp(words[i], text) == 0) {
            config->objective = (enum objective)i;
            return 0;
        }
    json_find(root, "objective", &value);
    return json_error(&value, error, "must be \"joint\" or \"per_case\"");
}

/* A template whose calls differ in how much they compute says what a search compares. */
static int read_work_objective(struct config *config, const struct json *root,
                               struct error *error) {
    struct json value;
    if (json_find(root, "minimise", &value))
        return json_error(&value, error,
                          "the template's \"objective\" is \"%s\", because its genes change how "
                          "much a call computes: remove this key",
                          minimised_objective(config->shapes->objective));
    if (config->target_us > 0 || config->target_ratio > 0)
        return error_input(error,
                           "%s: budget.target_us and budget.target_ratio are of latency, and the "
                           "template's \"objective\" is \"%s\": remove them",
                           config->path, minimised_objective(config->shapes->objective));
    config->minimise = config->shapes->objective;
    return 0;
}

/* What the search minimises. A target is a latency. */
static int read_minimise(struct config *config, const struct json *root, struct error *error) {
    char text[16] = "latency";
    struct json value;
    if (minimised_counts_work(config->shapes->objective))
        return read_work_objective(config, root, error);
    if (read_text(root, "minimise", text, sizeof text, error) < 0)
        return -1;
    if (!minimised_parse(text, &config->minimise) || minimised_counts_work(config->minimise)) {
        json_find(root, "minimise", &value);
        return json_error(&value, error,
                          "must be \"latency\", \"energy\", \"energy_delay\" or \"pareto\"");
    }
    if (config->minimise == MINIMISED_LATENCY)
        return 0;
    json_find(root, "minimise", &value);
    if (config->target_us > 0 || config->target_ratio > 0)
        return json_error(&value, error,
                          "goes without budget.target_us and budget.target_ratio, which are of "
                          "latency: remove them");
    if (config->timing.energy_ms <= 0)
        return json_error(&value, error, "needs a timing.energy_ms of more than 0");
    return 0;
}

/* "islands" and "migration" belonged to a search that is gone. */
static int read_search(struct config *config, const struct json *object, struct error *error) {
    static const char *const other_keys[] = {"islands", "migration", "strategy", "learn_from",
                                             NULL};
    struct json ignored;
    for (int i = 0; i < 2; i++)
        if (json_find(object, other_keys[i], &ignored))
            config->removed_key = other_keys[i];
    return read_fields(config, object, search_fields, other_keys, error) < 0 ||
                   read_text(object, "strategy", config->strategy, sizeof config->strategy, error) <
                       0
               ? -1
               : read_text(object, "learn_from", config->learn_from, sizeof config->learn_from,
                           error);
}

static const char *const root_keys[] = {
    "about",    "template", "solutions", "objective", "minimise", "cases",
    "held_out", "ranges",   "genes",     "limits",    "budget",   "search",
    "timing",   "seed",     "device",    "baseline",  "evolve",   NULL};

static int read_sections(struct config *config, const struct json *root, struct error *error) {
    struct json value;
    int64_t seed;
    if (read_objective(config, root, error) < 0 || read_cases(config, root, error) < 0 ||
        config_read_ranges(config, root, error) < 0 || config_read_genes(config, root, error) < 0 ||
        read_budget(config, root, error) < 0 ||
        read_text(root, "device", config->device, sizeof config->device, error) < 0)
        return -1;
    if (json_find(root, "seed", &value)) {
        if (json_integer(&value, &seed, error) < 0)
            return -1;
        config->seed = (uint64_t)seed;
    }
    if (!json_find(root, "baseline", &value))
        baseline_command_copy(&config->baseline, &config->shapes->baseline);
    else if (baseline_command_read(&config->baseline, &value, NULL, error) < 0)
        return -1;
    if (json_find(root, "limits", &value) &&
        read_fields(config, &value, limit_fields, NULL, error) < 0)
        return -1;
    if (json_find(root, "timing", &value) && config_read_timing(&config->timing, &value, error) < 0)
        return -1;
    if (json_find(root, "evolve", &value) && config_read_evolve(&config->evolve, &value, error) < 0)
        return -1;
    if (json_find(root, "search", &value) && read_search(config, &value, error) < 0)
        return -1;
    return read_minimise(config, root, error);
}

/* A name with a slash may be a path from the config's own folder. */
static int find_template(char found[PATH_SIZE], const char *name, const char *file,
                         const char *templates, struct error *error) {
    if (strchr(name, '/') != NULL) {
        if (path_parent(found, file, error) < 0 || path_join(found, found, name, error) < 0)
            return -1;
        if (template_is_folder(found))
            return 0;
    }
    return template_find(found, name, templates, error);
}

static struct config *read_document(struct json_document *document, const char *templates,
                                    const char *folder, struct error *error) {
    struct json root = json_root(document);
    struct json value;
    const char *name;
    char found_folder[PATH_SIZE];
    struct config *config = xmalloc(sizeof *config);
    *config = defaults;
    config->path = xstrdup(document->file);
    if (json_check_keys(&root, root_keys, error) < 0 ||
        json_require(&root, "template", &value, error) < 0 || json_string(&value, &name, error) < 0)
        goto failed;
    if (folder == NULL && config_path_is_recorded_space(name)) {
        folder = name + strlen(recorded_prefix);
        if (!path_exists(folder) || path_is_dir(folder)) {
            error_input(error,
                        "there is no recorded space \"%s\": write recorded:FILE, with a Kernel "
                        "Tuner cache or T4 results",
                        folder);
            goto failed;
        }
    }
    if (folder == NULL) {
        if (find_template(found_folder, name, document->file, templates, error) < 0) {
            char where[512];
            json_location(&value, where, sizeof where);
            error_prefix(error, "%s", where);
            goto failed;
        }
        folder = found_folder;
    }
    if (config_read_solutions(config, &root, folder, name, error) < 0 ||
        read_sections(config, &root, error) < 0)
        goto failed;
    if (config->shapes->device != NULL)
        snprintf(config->device, sizeof config->device, "%s", config->shapes->device);
    return config;
failed:
    config_free(config);
    return NULL;
}

struct config *config_from_text(const char *name, const char *text, const char *folder,
                                struct error *error) {
    struct json_document document;
    if (json_read_text(&document, name, text, error) < 0)
        return NULL;
    struct config *config = read_document(&document, NULL, folder, error);
    json_release(&document);
    if (config != NULL)
        config->text = xstrdup(text);
    return config;
}

struct config *config_from_file(const char *path, const char *folder, struct error *error) {
    char *text = path_read_file(path, CONFIG_BYTES_MAX, NULL, error);
    struct config *config = text != NULL ? config_from_text(path, text, folder, error) : NULL;
    free(text);
    return config;
}

bool config_path_is_recorded_space(const char *path) {
    return strncmp(path, recorded_prefix, strlen(recorded_prefix)) == 0;
}

/* The default config of a recorded space. */
static struct config *config_from_recorded_space(const char *path, struct error *error) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "template", path);
    char *text = json_print(root);
    struct config *config = config_from_text(path, text, NULL, error);
    free(text);
    return config;
}

struct config *config_load(const char *path, const char *templates, struct error *error) {
    if (config_path_is_recorded_space(path))
        return config_from_recorded_space(path, error);
    struct json_document document;
    if (json_read(&document, path, error) < 0)
        return NULL;
    struct config *config = read_document(&document, templates, NULL, error);
    json_release(&document);
    if (config == NULL)
        return NULL;
    config->text = path_read_file(path, CONFIG_BYTES_MAX, NULL, error);
    if (config->text == NULL) {
        config_free(config);
        return NULL;
    }
    return config;
}

void config_free(struct config *config) {
    if (config == NULL)
        return;
    baseline_command_release(&config->baseline);
    template_free(config->shapes);
    free(config->template_folder);
    free(config->path);
    free(config->text);
    free(config);
}

int config_smem_limit(const struct config *config, const struct device_info *device) {
    return device_smem_limit(device, config->smem_limit_bytes);
}

struct template_setting config_setting(const struct config *config, int goal,
                                       const struct device_info *device) {
    int first = 0;
    int count = config->case_count;
    if (goal != ALL_GOALS)
        config_goal_cases(config, goal, &first, &count);
    return (struct template_setting){
        .solution = config_goal_solution(config, goal == ALL_GOALS ? 0 : goal),
        .device = device,
        .smem_limit = config_smem_limit(config, device),
        .cases = &config->cases[first],
        .case_count = count,
        .restrictions = config->restrictions,
        .restriction_count = config->restriction_count,
        .forbid_limited_range = !config->limited_range,
        .recorded = config->shapes->recorded,
    };
}

struct template_setting config_held_out_setting(const struct config *config, int goal,
                                                const struct device_info *device) {
    struct template_setting setting = config_setting(config, goal, device);
    setting.cases = config->held_out;
    setting.case_count = config->held_out_count;
    return setting;
}

struct template *config_load_template(const struct config *config, int goal,
                                      const struct device_info *device, struct error *error) {
    struct template_setting setting = config_setting(config, goal, device);
    return template_load(config->template_folder, &setting, error);
}
