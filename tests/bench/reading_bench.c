/* Speed of the commands that read a run: generates a run of 200,000 trials and measures each
   command's wall time on it.

       make bench-reading
       build/tests/bench/reading_bench FOLDER [TRIALS [CONFIG]]     only generates the run there
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "made_run.h"

enum { TRIALS = 200000 };
static const char config[] = "configs/attention_h200.json";

/* The program's wall time in seconds, with its output discarded; negative if it fails. */
static double time_verb(const char *program, const char *const *arguments, struct rusage *usage) {
    double start = clock_seconds();
    int status;
    pid_t child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        execv(program, (char *const *)arguments);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, usage) < 0 || status != 0)
        return -1;
    return clock_seconds() - start;
}

static void bench(const char *program, const char *run) {
    char page[PATH_SIZE + 16];
    snprintf(page, sizeof page, "%s/report.html", run);
    const char *const verbs[][6] = {
        {"evotile", "board", run},
        {"evotile", "summary", run},
        {"evotile", "report", run, "-o", page},
    };
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        struct rusage usage = {0};
        double seconds = time_verb(program, verbs[i], &usage);
        struct stat file;
        if (seconds < 0)
            BUG("evotile %s failed", verbs[i][1]);
        printf("%-8s %6.2f s, CPU time %5.2f s, %4ld MB", verbs[i][1], seconds,
               (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6,
               usage.ru_maxrss / 1024);
        if (verbs[i][3] != NULL && stat(page, &file) == 0)
            printf(", file size %.2f MB", (double)file.st_size * 1e-6);
        printf("\n");
    }
}

/* build/evotile beside build/tests/bench. */
static void find_program(char program[PATH_SIZE]) {
    struct error error = {0};
    if (path_program_folder(program, &error) < 0 ||
        path_join(program, program, "../../evotile", &error) < 0)
        BUG("%s", error.text);
}

int main(int argc, char **argv) {
    char program[PATH_SIZE], folder[PATH_SIZE], run[PATH_SIZE];
    struct error error = {0};
    if (argc > 1) {
        if (made_run(argc > 3 ? argv[3] : config, argv[1],
                     argc > 2 ? strtoll(argv[2], NULL, 10) : TRIALS, &error) == 0)
            return 0;
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    const char *temporary = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    find_program(program);
    if (path_join(folder, temporary, "evotile-reading-XXXXXX", &error) < 0 ||
        mkdtemp(folder) == NULL || path_join(run, folder, "run", &error) < 0)
        BUG("cannot make a folder in %s", temporary);
    double start = clock_seconds();
    if (made_run(config, run, TRIALS, &error) < 0)
        BUG("%s", error.text);
    printf("a run of %d trials over the cases of %s, generated in %.0f s\n", TRIALS, config,
           clock_seconds() - start);
    bench(program, run);
    path_remove_tree(folder, &error);
    return 0;
}
