#include "cli/wisdom_part.h"

#include "base/clock.h"
#include "base/memory.h"
#include "run/replay_targets.h"
#include "session/single_trial.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENTRIES_MAX = 256 };

struct entry {
    const struct wisdom_figure *figure;
    int index; /* the caller's */
    int case_index;
    char *refused; /* why it cannot be tried; NULL: it can */
};

struct wisdom_part {
    const struct wisdom_source *source;
    int count;
    struct entry entries[ENTRIES_MAX];
    int shape_count;
    const char *shapes[CASES_MAX];
    struct replay_targets targets; /* an item for each entry */
    int next;                      /* the entry that the next free device takes */
    double end;                    /* by clock_seconds: none but the first starts after it */
    wisdom_part_report *report;
    void *context;
};

struct wisdom_part *wisdom_part_new(const char *path, const struct wisdom_source *source,
                                    const char *template_folder) {
    struct wisdom_part *part = xcalloc(1, sizeof *part);
    part->source = source;
    part->targets =
        (struct replay_targets){.from = path,
                                .config_path = xcalloc(1, PATH_SIZE),
                                .template_folder = xcalloc(1, PATH_SIZE),
                                .scratch = xcalloc(1, PATH_SIZE),
                                .items = xcalloc(ENTRIES_MAX, sizeof *part->targets.items)};
    snprintf(part->targets.template_folder, PATH_SIZE, "%s", template_folder);
    return part;
}

void wisdom_part_free(struct wisdom_part *part) {
    if (part == NULL)
        return;
    part->targets.count = part->count;
    replay_targets_release(&part->targets);
    for (int i = 0; i < part->count; i++)
        free(part->entries[i].refused);
    free(part);
}

/* ---- what belongs together ---- */

static bool same_config(const struct wisdom_figure *a, const struct wisdom_figure *b) {
    return strcmp(a->template_name, b->template_name) == 0 &&
           strcmp(a->solution, b->solution) == 0 && a->smem_limit == b->smem_limit;
}

/* The case with that shape, a new one if there is none; -1: there are too many. */
static int find_case(struct wisdom_part *part, const char *shape) {
    int c = 0;
    while (c < part->shape_count && strcmp(part->shapes[c], shape) != 0)
        c++;
    if (c == CASES_MAX)
        return -1;
    if (c == part->shape_count)
        part->shapes[part->shape_count++] = shape;
    return c;
}

bool wisdom_part_add(struct wisdom_part *part, const struct wisdom_figure *figure, int index) {
    if (part->count == ENTRIES_MAX ||
        (part->count > 0 && !same_config(part->entries[0].figure, figure)))
        return false;
    const int case_index = find_case(part, figure->shape);
    if (case_index < 0)
        return false;
    part->entries[part->count++] =
        (struct entry){.figure = figure, .index = index, .case_index = case_index};
    return true;
}

/* ---- the config and the requests ---- */

static char *config_text(const struct wisdom_part *part) {
    const struct wisdom_figure *first = part->entries[0].figure;
    cJSON *config = cJSON_CreateObject();
    json_add(config, "template=%s objective=%s", first->template_name, "per_case");
    if (first->solution[0] != '\0')
        cJSON_AddItemToArray(cJSON_AddArrayToObject(config, "solutions"),
                             cJSON_CreateString(first->solution));
    cJSON *cases = cJSON_AddArrayToObject(config, "cases");
    for (int c = 0; c < part->shape_count; c++)
        cJSON_AddItemToArray(cases, cJSON_Parse(part->shapes[c]));
    cJSON *limits = cJSON_AddObjectToObject(config, "limits");
    cJSON_AddNumberToObject(limits, "smem_bytes", (double)first->smem_limit);
    return json_print(config);
}

static int make_scratch(struct replay_targets *targets, struct error *error) {
    const char *temporary = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    if (path_join(targets->scratch, temporary, "evotile-gate-XXXXXX", error) < 0)
        return -1;
    if (mkdtemp(targets->scratch) != NULL)
        return 0;
    targets->scratch[0] = '\0';
    return error_set(error, "cannot make a folder in %s: set TMPDIR to one that can be written",
                     temporary);
}

static int write_config(struct wisdom_part *part, struct error *error) {
    struct replay_targets *targets = &part->targets;
    char *text = config_text(part);
    int status = make_scratch(targets, error);
    if (status == 0 &&
        (path_join(targets->config_path, targets->scratch, "config.json", error) < 0 ||
         path_write_unsynced(targets->config_path, text, strlen(text), error) < 0))
        status = -1;
    if (status == 0) {
        targets->config =
            config_from_text(targets->config_path, text, targets->template_folder, error);
        status = targets->config != NULL ? 0 : -1;
    }
    free(text);
    return status;
}

/* The machine code is judged as it is in the store. */
static int fill_target(struct wisdom_part *part, int number, const struct device_info *device,
                       struct error *error) {
    const struct entry *entry = &part->entries[number];
    const struct wisdom_figure *figure = entry->figure;
    struct replay_target *target = &part->targets.items[number];
    char name[32], path[PATH_SIZE];
    size_t size;
    void *cubin = wisdom_source_cubin(part->source, figure, &size, error);
    int status = cubin != NULL ? 0 : -1;
    snprintf(name, sizeof name, "%d.cubin", number);
    if (status == 0 && (path_join(path, part->targets.scratch, name, error) < 0 ||
                        path_write_unsynced(path, cubin, size, error) < 0))
        status = -1;
    free(cubin);
    if (status < 0)
        return -1;
    target->request = (struct trial_request){.number = number, .goal = entry->case_index};
    target->request.cubins[0] = xstrdup(path);
    for (int key_part = 0; key_part < KEY_PART_COUNT; key_part++)
        key_set(&target->key, (enum key_part)key_part,
                key_part == KEY_GENOME    ? figure->genome
                : key_part == KEY_OPTIONS ? figure->options
                : key_part == KEY_NVRTC   ? figure->toolkit
                                          : "");
    return replay_target_genome(&part->targets, target, device, error);
}

/* An entry that cannot be judged at all is refused, and the others go on. */
static int fill_targets(struct wisdom_part *part, const struct device_info *device,
                        struct error *error) {
    for (int i = 0; i < part->count; i++) {
        struct error refused = {0};
        if (fill_target(part, i, device, &refused) == 0)
            continue;
        if (refused.kind != ERROR_REFUSED) {
            *error = refused;
            return -1;
        }
        part->entries[i].refused = xstrdup(refused.text);
    }
    return 0;
}

/* ---- on the devices ---- */

/* Submits the next entry that can be tried, and reports those that cannot. Returns 1; 0 if none is
   left, or the time is over. */
static int submit_next(struct wisdom_part *part, struct single_trial *single_trial,
                       struct error *error) {
    for (; part->next < part->count && (part->next == 0 || clock_seconds() < part->end);
         part->next++) {
        const struct entry *entry = &part->entries[part->next];
        struct replay_target *target = &part->targets.items[part->next];
        if (entry->refused != NULL) {
            if (part->report(part->context, entry->index, NULL, entry->refused, error) < 0)
                return -1;
            continue;
        }
        target->request.full = true;
        target->request.promote = true;
        target->request.seed = single_trial_fresh_seed();
        single_trial_submit(single_trial, &target->request);
        memset(target->request.sources, 0, sizeof target->request.sources); /* the pool's now */
        memset(target->request.cubins, 0, sizeof target->request.cubins);
        part->next++;
        return 1;
    }
    return 0;
}

static int share_entries(struct wisdom_part *part, struct single_trial *const *single_trials,
                         const struct device_list *devices, int count, struct error *error) {
    struct trial_result *result = xcalloc(1, sizeof *result);
    int busy = 0, status = 0;
    for (int d = 0; d < count && status >= 0; d++) {
        status = submit_next(part, single_trials[d], error);
        busy += status > 0;
    }
    while (busy > 0 && status >= 0) {
        int d;
        if (single_trial_wait(single_trials, count, &d, result, error) < 0) {
            status = device_list_error(devices, d, error);
            break;
        }
        status = part->report(part->context, part->entries[result->number].index, &result->outcome,
                              NULL, error);
        trial_result_release(result);
        busy--;
        if (status == 0) {
            status = submit_next(part, single_trials[d], error);
            busy += status > 0;
        }
    }
    free(result);
    return status < 0 ? -1 : 0;
}

int wisdom_part_try(struct wisdom_part *part, const struct device_list *devices, double end,
                    wisdom_part_report *report, void *context, struct error *error) {
    const int count = devices->count < part->count ? devices->count : part->count;
    struct single_trial *single_trials[DEVICES_MAX] = {NULL};
    part->report = report;
    part->context = context;
    part->end = end;
    int status = part->count > 0 ? write_config(part, error) : 0;
    if (status == 0)
        status = single_trials_start(single_trials, part->targets.config_path,
                                     part->targets.template_folder, devices, count, error);
    if (status == 0 && count > 0)
        status = fill_targets(part, single_trial_device(single_trials[0]), error);
    if (status == 0)
        status = share_entries(part, single_trials, devices, count, error);
    for (int d = 0; d < count; d++)
        single_trial_free(single_trials[d]);
    return status;
}
