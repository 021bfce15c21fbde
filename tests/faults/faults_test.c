/*
 * Planted faults: each .cu here is a kernel that is wrong, or slow, at marked lines, and the race
 * checker must report exactly these. README.md documents the format of a file.
 */
#include "ptx/harness.h"

#include "device/ptxas_report.h"
#include "ptx/racecheck.h"

#include <glob.h>

enum { MARKS_MAX = 16, SOURCE_BYTES_MAX = 1 << 16, TESTS_MAX = 128 };

/* A finding, or the mark of an expected one. */
struct mark {
    char kind[32];
    int line;
    bool is_found;
};

static char *read_source(const char *path) {
    char *text = calloc(1, SOURCE_BYTES_MAX);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, SOURCE_BYTES_MAX - 1, file) < SOURCE_BYTES_MAX - 1);
    fclose(file);
    return text;
}

/* The word after "// KEY: " on the line that starts at `line`, or NULL. */
static const char *value_after_key(const char *line, const char *key) {
    char wanted[32];
    const char *end = strchr(line, '\n');
    snprintf(wanted, sizeof wanted, "// %s: ", key);
    const char *found = strstr(line, wanted);
    return found && (!end || found < end) ? found + strlen(wanted) : NULL;
}

static const char *next_line(const char *line) {
    const char *end = strchr(line, '\n');
    return end ? end + 1 : NULL;
}

static int read_marks(const char *source, struct mark *marks) {
    int count = 0, number = 1;
    for (const char *line = source; line; line = next_line(line), number++) {
        const char *word = value_after_key(line, "expect");
        for (int used = 0; word && sscanf(word, "%31[a-z-]%n", marks[count].kind, &used) == 1;) {
            assert_true(count < MARKS_MAX - 1);
            marks[count++].line = number;
            word = word[used] == ' ' ? word + used + 1 : NULL;
        }
    }
    return count;
}

/* Adds a buffer or a number. */
static void add_argument(struct harness *harness, const char *line) {
    char name[64], state[32];
    size_t bytes;
    long long value;
    const char *buffer = value_after_key(line, "buffer"), *number = value_after_key(line, "value");
    if (buffer) {
        uint8_t *host;
        assert_int_equal(sscanf(buffer, "%63s %zu %31s", name, &bytes, state), 3);
        uint64_t address = harness_buffer(harness, name, bytes, &host);
        if (strcmp(state, "empty") != 0) {
            for (size_t i = 0; i < bytes; i++)
                host[i] = 0;
            ptx_memory_mark_written(harness->memory, address, bytes);
        }
        ptx_memory_set_read_only(harness->memory, address, !strcmp(state, "input"));
        harness_argument(harness, &address, 8);
    } else if (number) {
        assert_int_equal(sscanf(number, "%lld", &value), 1);
        harness_argument(harness, &(int){(int)value}, 4);
    }
}

static void run_source(const char *source, struct harness *harness) {
    unsigned blocks = 1, threads = 32, smem_bytes = 0;
    for (const char *line = source; line; line = next_line(line)) {
        const char *run = value_after_key(line, "run");
        if (run)
            assert_int_equal(
                sscanf(run, "%u blocks of %u threads, %u", &blocks, &threads, &smem_bytes), 3);
        add_argument(harness, line);
    }
    const char *before = strstr(source, "\n// before: ");
    char kernel[64];
    harness->launch.smem_bytes = smem_bytes;
    harness->launch.step_limit = 1 << 20;
    if (before && sscanf(before + 12, "%63s", kernel) == 1)
        harness_run(harness, kernel, blocks, threads);
    harness->launch.early = before != NULL;
    harness->launch.cooperative = strstr(source, "\n// cooperative\n") != NULL;
    harness_try(harness, "faulty", blocks, threads);
}

static void compare_findings(const char *path, struct mark *marks, int count,
                             struct ptx_racecheck *racecheck) {
    int mismatches = 0;
    for (int i = 0; i < ptx_racecheck_finding_count(racecheck); i++) {
        const struct ptx_finding *finding = ptx_racecheck_finding(racecheck, i);
        bool is_expected = false;
        for (int m = 0; m < count; m++)
            if ((marks[m].line == finding->line || marks[m].line == finding->other_line) &&
                !strcmp(marks[m].kind, ptx_finding_name(finding->kind)))
                is_expected = marks[m].is_found = true;
        print_message("%s %s, %llu times: %s\n", is_expected ? "     " : "EXTRA",
                      ptx_finding_name(finding->kind), (unsigned long long)finding->count,
                      finding->text);
        mismatches += !is_expected;
    }
    for (int m = 0; m < count; m++)
        if (!marks[m].is_found) {
            print_message("MISSING %s at line %d\n", marks[m].kind, marks[m].line);
            mismatches++;
        }
    if (mismatches)
        fail_msg("%s: %d missing or unexpected findings", path, mismatches);
}

/* The same kinds of errors at least once each, and no others: what a GPU's PTX, which has no line
   information, must still show. */
static void compare_kinds(const char *path, const struct mark *marks, int count,
                          struct ptx_racecheck *racecheck) {
    unsigned expected = 0, found = 0;
    for (int kind = 0; kind < PTX_FINDING_KINDS; kind++)
        for (int m = 0; m < count && !ptx_finding_is_cost(kind); m++)
            if (!strcmp(marks[m].kind, ptx_finding_name(kind)))
                expected |= 1u << kind;
    for (int i = 0; i < ptx_racecheck_finding_count(racecheck); i++) {
        const struct ptx_finding *finding = ptx_racecheck_finding(racecheck, i);
        if (!ptx_finding_is_cost(finding->kind))
            found |= 1u << finding->kind;
    }
    if (found != expected)
        fail_msg("%s without line information: kinds 0x%x instead of 0x%x", path, found, expected);
}

static void judge(const char *path, const char *source, const char *ptx, const char *log,
                  bool has_lines) {
    struct mark marks[MARKS_MAX] = {0};
    int count = read_marks(source, marks);
    struct harness harness = {.memory = ptx_memory_new()};
    struct ptx_racecheck *racecheck = ptx_racecheck_new(harness.memory);
    struct error error = {0};
    harness.module = ptx_module_new(ptx, harness.memory, &error);
    if (!harness.module)
        fail_msg("%s: %s", path, error.text);
    struct ptxas_report report;
    harness.launch.racecheck = racecheck;
    harness.launch.serial_wgmma = ptxas_report_find(log, "faulty", &report) && report.serialised;
    if (strstr(source, "\n// skips unsupported\n"))
        ptx_racecheck_skip_unsupported(racecheck);
    run_source(source, &harness);
    (has_lines ? compare_findings(path, marks, count, racecheck)
               : compare_kinds(path, marks, count, racecheck));
    ptx_racecheck_free(racecheck);
    harness_close(&harness);
}

static void remove_line_information(char *ptx) {
    for (char *at = ptx; (at = strstr(at, "\n\t.loc\t")) != NULL;)
        memmove(at, at + 1 + strcspn(at + 1, "\n"), strlen(at + 1 + strcspn(at + 1, "\n")) + 1);
}

static void finding_matches_mark(void **state) {
    const char *path = *state;
    char log[8192], *source = read_source(path);
    char *ptx = compile_cuda(source, "sm_90a", log, sizeof log);
    if (!ptx && !log[0])
        skip();
    if (!ptx)
        fail_msg("%s: %s", path, log);
    judge(path, source, ptx, log, true);
    remove_line_information(ptx);
    judge(path, source, ptx, log, false);
    free(ptx);
    free(source);
}

int main(int argc, char **argv) {
    glob_t files;
    static struct CMUnitTest tests[TESTS_MAX];
    if (glob(argc > 1 ? argv[1] : "tests/faults/*.cu", 0, NULL, &files) != 0 ||
        files.gl_pathc > TESTS_MAX)
        return 1;
    for (size_t i = 0; i < files.gl_pathc; i++)
        tests[i] = (struct CMUnitTest){.name = files.gl_pathv[i],
                                       .test_func = finding_matches_mark,
                                       .initial_state = files.gl_pathv[i]};
    int failed = _cmocka_run_group_tests("faults", tests, files.gl_pathc, NULL, NULL);
    globfree(&files);
    return failed;
}
