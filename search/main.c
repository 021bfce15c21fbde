/* main: finds the verb of the command line and runs it. */
#include "base/intervals.h"
#include "base/spelling.h"
#include "cli/describe.h"
#include "cli/diagnose.h"
#include "pool/profile_process.h"
#include "pool/worker_main.h"
#include "session/image_cache.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static const struct verb *const verbs[] = {
#define LIST_VERB(name) &verb_##name,
    VERBS(LIST_VERB)
#undef LIST_VERB
        NULL};

enum { VERB_COUNT = sizeof verbs / sizeof *verbs - 1 };

static void print_rows(const struct name_description *rows, int width, FILE *out) {
    for (; rows->name != NULL; rows++)
        fprintf(out, "  %-*s  %s\n", width, rows->name, rows->about);
}

static void print_verbs(FILE *out) {
    fprintf(out, "evotile evolves CUDA kernels.\n\nusage: evotile VERB [arguments]\n\n");
    for (int i = 0; i < VERB_COUNT; i++)
        if (!verbs[i]->hidden)
            fprintf(out, "  %-10s  %s\n", verbs[i]->name, verbs[i]->summary);
    fprintf(out, "\n`evotile help VERB` describes a verb, with examples.\n"
                 "`evotile --version` prints the versions of evotile, CUDA Toolkit and driver.\n"
                 "\nExit status:\n");
    print_rows(exit_statuses, 3, out);
    fprintf(out, "\nEnvironment:\n");
    print_rows(environment_variables, 17, out);
}

static const struct verb *find_verb(const char *name) {
    for (int i = 0; i < VERB_COUNT; i++)
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    return NULL;
}

static int unknown_verb(const char *name) {
    const char *names[VERB_COUNT + 1] = {"help"};
    int count = 1;
    for (int i = 0; i < VERB_COUNT; i++)
        if (!verbs[i]->hidden)
            names[count++] = verbs[i]->name;
    fprintf(stderr, "evotile: unknown verb \"%s\"; did you mean %s? `evotile help` lists them\n",
            name, spelling_nearest(name, names, count));
    return STATUS_USAGE;
}

static int run_verb(const struct verb *verb, int argc, char **argv) {
    struct verb called = *verb;
    called.all = verbs;
    return called.run(&called, argc, argv);
}

static int print_help(const char *name) {
    if (name == NULL) {
        print_verbs(stdout);
        return STATUS_DONE;
    }
    const struct verb *verb = find_verb(name);
    if (verb == NULL)
        return unknown_verb(name);
    /* The verb's own parser handles --help, because only it knows the verb's options. */
    char *arguments[] = {(char *)name, (char *)"--help", NULL};
    return run_verb(verb, 2, arguments);
}

/* This process is a child of a pool, which has no verb, or of `evotile try --diagnose`. */
static int run_pool_worker(int argc, char **argv) {
    if (argc > 2 && strcmp(argv[2], DIAGNOSE_WORKER) == 0)
        return run_verb(&verb_try, argc - 2, argv + 2);
    struct cache *cache = cache_new(NULL, 0);
    const struct image_cache images = image_cache_on_disk(cache);
    int status = worker_main(&images, cache_folder(cache));
    cache_free(cache);
    return status;
}

static int dispatch(int argc, char **argv) {
    struct error error;
    if (intervals_check(&error) < 0)
        return error_report(&error);
    if (argc < 2) {
        print_verbs(stderr);
        return STATUS_USAGE;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0)
        return print_help(argc > 2 ? argv[2] : NULL);
    if (strcmp(argv[1], "--version") == 0) {
        describe_version(stdout);
        return STATUS_DONE;
    }
    if (strcmp(argv[1], POOL_WORKER) == 0)
        return run_pool_worker(argc, argv);
    if (strcmp(argv[1], POOL_PROFILE) == 0)
        return profile_process_main();
    const struct verb *verb = find_verb(argv[1]);
    return verb != NULL ? run_verb(verb, argc - 1, argv + 1) : unknown_verb(argv[1]);
}

int main(int argc, char **argv) {
    /* Beyond a file size limit (ulimit -f), writes then fail with an error that is reported. */
    signal(SIGXFSZ, SIG_IGN);
    int status = dispatch(argc, argv);
    /* Output that did not reach its file, as on a full disk, is a failure. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "evotile: the results cannot be written: %s\n", strerror(errno));
        return STATUS_FAILED;
    }
    return status;
}
