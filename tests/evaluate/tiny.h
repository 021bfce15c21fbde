/*
 * tiny: runs on tests/templates/scaled_add, a kernel that compiles and is interpreted quickly.
 * Shared by the tests of trials and of runs: a folder with a config, the program, and the worker
 * processes that it started.
 *
 * Tests run in the repository's root, as tests/run does.
 */
#ifndef EVOTILE_TESTS_TRIAL_TINY_H
#define EVOTILE_TESTS_TRIAL_TINY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "config/config.h"

#define TINY_TEMPLATE "tests/templates/scaled_add"
#define TINY_DEVICE   "emulated:sm_89"

/* A config of one case without the closing brace, so that tests can append to it. */
#define TINY_CONFIG                                                                                \
    "{ \"template\": \"scaled_add\", \"device\": \"" TINY_DEVICE "\",\n"                           \
    "  \"cases\": [{\"ROWS\": 6, \"COLS\": 40}]"

/* NVRTC leaks memory when it is unloaded. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

struct tiny {
    char folder[PATH_SIZE], config[PATH_SIZE], program[PATH_SIZE];
};

/* In TMPDIR; NULL paths there are none. `text` is the config. */
static inline void tiny_make(struct tiny *tiny, const char *text) {
    struct error error = {0};
    const char *temporary = getenv("TMPDIR");
    const char *program = getenv("EVOTILE");
    signal(SIGPIPE, SIG_IGN);
    setenv("EVOTILE_DEVICES", "configs/devices", 0);
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* for the workers */
    snprintf(tiny->folder, PATH_SIZE, "%s/evotile-tiny-XXXXXX",
             temporary != NULL ? temporary : "/tmp");
    assert_non_null(mkdtemp(tiny->folder));
    assert_int_equal(path_join(tiny->config, tiny->folder, "config.json", &error), 0);
    assert_int_equal(path_write_file(tiny->config, text, strlen(text), &error), 0);
    assert_non_null(realpath(program != NULL ? program : "build/evotile", tiny->program));
    if (getenv("EVOTILE_CACHE") == NULL) {
        char cache[PATH_SIZE];
        assert_int_equal(path_join(cache, tiny->folder, "cache", &error), 0);
        setenv("EVOTILE_CACHE", cache, 1);
    }
}

static inline void tiny_remove(struct tiny *tiny) {
    struct error error = {0};
    if (path_remove_tree(tiny->folder, &error) < 0)
        fail_msg("%s", error.text);
}

/* ---- child processes ---- */

enum { CHILDREN_MAX = 64 };

/* The parent of a process that runs, not one that is only to be waited for; else 0. */
static inline pid_t parent_of(pid_t pid) {
    char path[64], state = 'Z';
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*d (%*[^)]) %c %d", &state, &parent) != 2)
        parent = 0;
    fclose(file);
    return state == 'Z' ? 0 : parent;
}

/* The words a process was started with, each ended by its zero; how many bytes. Linux has none for
   one that is only just becoming its program (exec frees vfork's parent before it sets them) or is
   ending, so it looks until there are some or the process has ended. */
static inline size_t command_line(pid_t pid, char *line, size_t size) {
    char path[64];
    size_t length = 0;
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    do {
        FILE *file = fopen(path, "r");
        if (file == NULL)
            return 0;
        length = fread(line, 1, size - 1, file);
        fclose(file);
    } while (length == 0 && parent_of(pid) != 0);
    line[length] = '\0';
    return length;
}

/* Whether a worker's command line holds the word: its role, its device. */
static inline bool runs_as(pid_t pid, const char *word) {
    char line[4 * PATH_SIZE];
    size_t length = command_line(pid, line, sizeof line);
    for (size_t at = 0; at < length; at += strlen(line + at) + 1)
        if (strcmp(line + at, word) == 0)
            return true;
    return false;
}

/* The workers of `parent` in a role ("compile", "device"); how many. */
static inline int workers_of(pid_t parent, const char *role, pid_t pids[CHILDREN_MAX]) {
    int count = 0;
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    while (processes != NULL && (entry = readdir(processes)) != NULL && count < CHILDREN_MAX) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid > 0 && parent_of(pid) == parent && runs_as(pid, role))
            pids[count++] = pid;
    }
    if (processes != NULL)
        closedir(processes);
    return count;
}

#endif
