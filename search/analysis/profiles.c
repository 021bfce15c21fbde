#include "analysis/profiles.h"

#include "base/log.h"
#include "run/kept_profiles.h"

#include <math.h>

static int add_profile(struct table *table, struct store *store, int64_t number,
                       struct error *error) {
    char path[PATH_SIZE];
    if (kept_profile_path(store_run_dir(store), number, path, error) < 0)
        return -1;
    struct store_trial *trial = store_trial_read(store, number, error);
    if (trial == NULL && error->kind == ERROR_INPUT) {
        log_warn("%s is left out: %s", path, error->text);
        return 0;
    }
    if (trial == NULL)
        return -1;
    table_add(table, "%ld %s %.3f %s", (long)number, store_goal_name(store, trial->goal),
              trial->outcome != NULL ? trial->outcome->score_us : NAN, path);
    store_trial_free(trial);
    return 0;
}

struct table *profiles_table(struct store *store, struct error *error) {
    static const struct table_column columns[] = {
        {.name = "trial", .heading = "trial", .right = true},
        {.name = "goal", .heading = "goal"},
        {.name = "score", .heading = "score", .right = true},
        {.name = "report", .heading = "ncu's report"},
    };
    int64_t trials[KEPT_PROFILES_MAX];
    const int count = kept_profiles_list(store_run_dir(store), trials);
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < count; i++)
        if (add_profile(table, store, trials[i], error) < 0) {
            table_free(table);
            return NULL;
        }
    return table;
}
