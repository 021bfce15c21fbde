#include "run/run_index.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { INDEX_BYTES_MAX = 16 << 20 };

/* A writer holds the lock for milliseconds; one that was stopped must not stop others. */
static const double lock_patience_s = 5;

static const char header[] = "{\"evotile_runs\":1}\n";

int run_index_path(char path[PATH_SIZE], struct error *error) {
    const char *set = getenv("EVOTILE_INDEX");
    if (set != NULL && *set != '\0')
        return strcmp(set, "none") == 0 ? 0 : path_join(path, "", set, error) < 0 ? -1 : 1;
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    const bool has_state = state != NULL && state[0] == '/';
    if (!has_state && (home == NULL || home[0] != '/'))
        return error_set(error, "HOME is not set: name a file in EVOTILE_INDEX, or none");
    return path_join(path, has_state ? state : home,
                     has_state ? "evotile/runs.jsonl" : ".local/state/evotile/runs.jsonl",
                     error) < 0
               ? -1
               : 1;
}

/* ---- reading ---- */

/* The lines of the file, oldest first. */
struct run_index {
    cJSON **lines;
    int count, damaged;
};

static const char *line_text(const cJSON *line, const char *key) {
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, key));
}

static double line_trials(const cJSON *line) {
    const cJSON *trials = cJSON_GetObjectItemCaseSensitive(line, "trials");
    return cJSON_IsNumber(trials) ? trials->valuedouble : 0;
}

static bool line_is_whole(const cJSON *line) {
    const char *run = line_text(line, "run");
    return run != NULL && *run == '/' && strlen(run) < PATH_SIZE &&
           line_text(line, "template") != NULL;
}

static void add_line(struct run_index *index, const char *text, size_t length) {
    cJSON *line = cJSON_ParseWithLength(text, length);
    if (!line_is_whole(line)) {
        cJSON_Delete(line);
        index->damaged++;
        return;
    }
    index->lines = xgrow(index->lines, index->count, sizeof *index->lines);
    index->lines[index->count++] = line;
}

static int parse_index(struct run_index *index, const char *path, const char *text,
                       struct error *error) {
    if (*text == '\0') /* it was created, and not written */
        return 0;
    if (strncmp(text, header, strlen(header)) != 0)
        return error_set(error,
                         "%s is no index of runs: delete it, or name another file in EVOTILE_INDEX",
                         path);
    for (const char *line = text + strlen(header); *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        add_line(index, line, length);
        line += length + (line[length] == '\n');
    }
    return 0;
}

static int read_index(struct run_index *index, const char *path, struct error *error) {
    *index = (struct run_index){0};
    if (!path_exists(path))
        return 0;
    char *text = path_read_file(path, INDEX_BYTES_MAX, NULL, error);
    int status = text != NULL ? parse_index(index, path, text, error) : -1;
    free(text);
    return status;
}

static void release_index(struct run_index *index) {
    for (int i = 0; i < index->count; i++)
        cJSON_Delete(index->lines[i]);
    free(index->lines);
}

int run_index_find(const char *path, const char *template_name, int trials_least, int most,
                   char ***runs, int *count, struct error *error) {
    struct run_index index;
    *runs = NULL;
    *count = 0;
    int status = read_index(&index, path, error);
    if (status == 0 && index.damaged > 0)
        log_warn("%s: %d damaged line%s skipped; the next run that ends drops them", path,
                 index.damaged, index.damaged == 1 ? " is" : "s are");
    for (int i = index.count; i-- > 0 && *count < most;) {
        const char *run = line_text(index.lines[i], "run");
        if (strcmp(line_text(index.lines[i], "template"), template_name) != 0 ||
            line_trials(index.lines[i]) < trials_least || !path_is_dir(run))
            continue;
        *runs = xgrow(*runs, *count, sizeof **runs);
        (*runs)[(*count)++] = xstrdup(run);
    }
    release_index(&index);
    return status;
}

/* ---- writing ---- */

static void drop_line(struct run_index *index, int at) {
    cJSON_Delete(index->lines[at]);
    index->count--;
    memmove(&index->lines[at], &index->lines[at + 1],
            (size_t)(index->count - at) * sizeof *index->lines);
}

static void drop_run(struct run_index *index, const char *run) {
    for (int i = index->count; i-- > 0;)
        if (strcmp(line_text(index->lines[i], "run"), run) == 0)
            drop_line(index, i);
}

/* Makes room for one more. */
static void limit_count(struct run_index *index) {
    for (int i = 0; i < index->count && index->count >= RUN_INDEX_MAX;)
        if (path_is_dir(line_text(index->lines[i], "run")))
            i++;
        else
            drop_line(index, i);
    while (index->count >= RUN_INDEX_MAX)
        drop_line(index, 0);
}

static cJSON *make_line(const struct run_index_entry *entry) {
    cJSON *line = cJSON_CreateObject();
    json_add(line, "run=%s template=%s device=%s", entry->run, entry->template, entry->device);
    cJSON_AddNumberToObject(line, "trials", (double)entry->trials);
    cJSON_AddNumberToObject(line, "ended", (double)time(NULL));
    return line;
}

static void print_line(struct strbuf *text, const cJSON *line) {
    char *printed = cJSON_PrintUnformatted(line);
    strbuf_print(text, "%s\n", printed);
    free(printed);
}

static int write_index(const struct run_index *index, const char *path,
                       const struct run_index_entry *entry, struct error *error) {
    struct strbuf text = {0};
    cJSON *line = make_line(entry);
    strbuf_print(&text, "%s", header);
    for (int i = 0; i < index->count; i++)
        print_line(&text, index->lines[i]);
    print_line(&text, line);
    cJSON_Delete(line);
    int status = path_write_file(path, text.bytes, text.used, error);
    strbuf_release(&text);
    return status;
}

/* Returns the descriptor of the lock, which closing it frees; or -1. */
static int lock_index(const char *path, struct error *error) {
    char folder[PATH_SIZE], name[PATH_SIZE];
    if (path_parent(folder, path, error) < 0 || path_make_folder(folder, error) < 0)
        return -1;
    if ((size_t)snprintf(name, sizeof name, "%s.lock", path) >= sizeof name)
        return error_set(error, "the path %.100s... is too long: name another in EVOTILE_INDEX",
                         path);
    const int lock = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (lock < 0)
        return error_set(error, "cannot write %s: %s", name, strerror(errno));
    const double start = clock_seconds();
    while (flock(lock, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
        if (clock_seconds() - start > lock_patience_s) {
            close(lock);
            return error_set(error, "another process holds %s: end it", name);
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return lock; /* also where the file system has no locks */
}

int run_index_add(const char *path, const struct run_index_entry *entry, struct error *error) {
    struct run_index index = {0};
    const int lock = lock_index(path, error);
    if (lock < 0)
        return -1;
    int status = read_index(&index, path, error);
    if (status == 0) {
        drop_run(&index, entry->run);
        limit_count(&index);
        status = write_index(&index, path, entry, error);
    }
    release_index(&index);
    close(lock);
    return status;
}
