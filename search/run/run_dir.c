/* The run folder: its config, its copy of the template, its device, its lock. */
#include "run/run_dir.h"

#include "base/clock.h"
#include "base/intervals.h"
#include "base/log.h"
#include "pool/protocol.h"
#include "run/old_settings.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

int run_dir_template_name(const char *folder, char name[PATH_SIZE], struct error *error) {
    char whole[PATH_SIZE];
    if (realpath(folder, whole) == NULL)
        return error_input(error, "cannot read the template %s: %s", folder, strerror(errno));
    snprintf(name, PATH_SIZE, "%s", path_name(whole));
    return 0;
}

static int copy_file(const char *from, const char *to, struct error *error) {
    size_t size;
    char *bytes = path_read_file(from, (size_t)1 << 30, &size, error);
    int result = bytes != NULL ? path_write_file(to, bytes, size, error) : -1;
    free(bytes);
    return result;
}

int run_dir_copy_template(const char *from, const char *name, const char *run_dir,
                          struct error *error) {
    char to[PATH_SIZE];
    char library[PATH_SIZE];
    if (path_join(to, run_dir, "template", error) < 0 || path_make_folder(to, error) < 0 ||
        path_join(to, to, name, error) < 0)
        return -1;
    if (!path_is_dir(from))
        return copy_file(from, to, error);
    int found = path_copy_tree(from, to, error) < 0 ? -1 : template_library(library, from, error);
    if (found <= 0)
        return found;
    return path_join(to, run_dir, "template/lib", error) < 0 ? -1
                                                             : path_copy_tree(library, to, error);
}

/* Finds the entry of template/ that is the template; the other one may be lib/. */
static int find_template(char folder[PATH_SIZE], const char *run_dir, struct error *error) {
    char parent[PATH_SIZE];
    char **names;
    int count;
    if (path_join(parent, run_dir, "template", error) < 0 ||
        path_list(parent, &names, &count, error) < 0)
        return -1;
    int result = 1;
    for (int i = 0; i < count && result == 1; i++)
        if (path_join(folder, parent, names[i], error) < 0)
            result = -1;
        else if (template_is_folder(folder) ||
                 !path_is_dir(folder)) /* a file is a recorded space */
            result = 0;
    path_list_free(names, count);
    return result == 1 ? error_set(error, "%s contains no template: restore it from a copy", parent)
                       : result;
}

int run_dir_files(const char *run_dir, char config_path[PATH_SIZE], char template_folder[PATH_SIZE],
                  struct error *error) {
    if (path_join(config_path, run_dir, "config.json", error) < 0)
        return -1;
    if (!path_is_dir(run_dir))
        return error_input(error, "there is no run %s: `evotile run CONFIG` makes one", run_dir);
    if (!path_exists(config_path))
        return error_input(error, "%s is no run folder: it has no config.json", run_dir);
    return find_template(template_folder, run_dir, error);
}

struct config *run_dir_read_config(const char *run_dir, struct error *error) {
    char path[PATH_SIZE];
    char folder[PATH_SIZE];
    return run_dir_files(run_dir, path, folder, error) == 0 ? config_from_file(path, folder, error)
                                                            : NULL;
}

struct config *run_dir_config(struct store *store) {
    struct error error = {0};
    struct config *config = run_dir_read_config(store_run_dir(store), &error);
    if (config != NULL)
        config = old_settings_apply(config, store, &error);
    if (config == NULL)
        log_warn("cases are numbered, in the order of the config: %s", error.text);
    return config;
}

void run_dir_case_name(const struct store *store, const struct config *config, int goal,
                       int case_count, int number, char name[CASE_NAME_SIZE]) {
    if (case_count == 1 && config != NULL && goal < config_goal_count(config))
        config_cases_name(config, goal, name);
    else if (case_count == 1)
        snprintf(name, CASE_NAME_SIZE, "%s", store_goal_name(store, goal));
    else if (config != NULL && number < config->case_count)
        template_print_shape(config->shapes, &config->cases[number], name);
    else
        snprintf(name, CASE_NAME_SIZE, "case %d", number);
}

/* Runs of earlier versions do not say whether their device counts energy, and how many clusters run
   at once. Takes ownership of the line, which may be damaged. */
static char *complete_device(char *line) {
    static const char *const numbers[] = {"clusters_of_2", "clusters_of_4", "clusters_of_8"};
    cJSON *object = cJSON_Parse(line);
    if (cJSON_IsObject(object)) {
        if (!cJSON_HasObjectItem(object, "counts_energy"))
            cJSON_AddFalseToObject(object, "counts_energy");
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            if (!cJSON_HasObjectItem(object, numbers[i]))
                cJSON_AddNumberToObject(object, numbers[i], 0);
        free(line);
        line = cJSON_PrintUnformatted(object);
    }
    cJSON_Delete(object);
    return line;
}

int run_dir_device(struct store *store, struct device_info *device, struct error *error) {
    char *line;
    struct protocol_message message;
    struct error ignored;
    int found = store_meta_get(store, "device_info", &line, error);
    if (found <= 0)
        return found;
    line = complete_device(line);
    int status = protocol_read(line, &message, &ignored);
    free(line);
    if (status == 0 && message.kind == PROTOCOL_DEVICE) {
        *device = message.device;
        return 1;
    }
    if (status == 0)
        protocol_message_release(&message);
    return error_set(error,
                     "%s is damaged (its device cannot be read): restore run.db from a copy, or "
                     "start a new run",
                     store_run_dir(store));
}

int run_dir_minimised(struct store *store, enum minimised *minimised, struct error *error) {
    char *name;
    int found = store_meta_get(store, "minimise", &name, error);
    if (found <= 0 || !minimised_parse(name, minimised))
        *minimised = MINIMISED_LATENCY;
    free(name);
    return found < 0 ? -1 : 0;
}

/* Every process that inherited the descriptor holds the lock: this one and its workers. Once the
   lock can be taken, the last worker of an earlier session has exited, and no other process of this
   run uses the GPU. */
int run_dir_lock(const char *run_dir, struct error *error) {
    char path[PATH_SIZE];
    double start = clock_seconds();
    bool announced = false;
    if (path_join(path, run_dir, "workers.lock", error) < 0)
        return -1;
    int lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0666);
    if (lock < 0)
        return error_set(error, "cannot write %s: %s", path, strerror(errno));
    while (flock(lock, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK)
            return lock; /* the file system has no locks */
        if (clock_seconds() - start > interval_s(INTERVAL_WORKER_EXIT)) {
            close(lock);
            return error_set(
                error, "workers of an earlier session of %s are still running: end them first",
                run_dir);
        }
        if (!announced)
            log_info("waiting for the workers of an earlier session to end");
        announced = true;
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    return lock;
}

/* A folder with our lock file but without a run was left by a run that was killed while it started.
   Without a lock file, files with our names are not ours. */
static int check_foreign_files(const char *run_dir, struct error *error) {
    static const char *const names[] = {"run.db", "workers.lock", "config.json", "template"};
    char path[PATH_SIZE];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (path_join(path, run_dir, names[i], error) < 0)
            return -1;
        if (!path_exists(path))
            continue;
        return i < 2 ? 0
                     : error_input(error,
                                   "a run in %s would overwrite %s: --out names another folder",
                                   run_dir, path);
    }
    return 0;
}

static int refuse_existing_run(const char *run_dir, struct error *error) {
    int present = store_holds_run(run_dir, error);
    if (present > 0)
        error_input(error,
                    "%s holds a run already: `evotile resume %s` continues it, --out names another "
                    "folder",
                    run_dir, run_dir);
    return present == 0 ? 0 : -1;
}

int run_dir_claim(const char *run_dir, struct error *error) {
    char path[PATH_SIZE];
    if (check_foreign_files(run_dir, error) < 0 || refuse_existing_run(run_dir, error) < 0 ||
        path_make_folder(run_dir, error) < 0)
        return -1;
    int lock = run_dir_lock(run_dir, error);
    if (lock < 0)
        return -1;
    if (refuse_existing_run(run_dir, error) == 0 && /* one may have started while we waited */
        path_join(path, run_dir, "template", error) == 0 && path_remove_tree(path, error) == 0)
        return lock;
    close(lock);
    return -1;
}
