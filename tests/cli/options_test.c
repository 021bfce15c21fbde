#include "cli/cli.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct given {
    bool json;
    const char *out;
    int64_t trials;
    double tolerance, time;
};

static const struct verb verb = {.name = "try", .arguments = "CONFIG [options]"};

static char complaint[4096];

/* Parses `command`, split at spaces, and captures stderr in `complaint`. */
static int parse(struct given *given, char *command, char **argv, int least, int most) {
    const struct option_row rows[] = {
        {"json", NULL, "print JSON", OPTION_FLAG, &given->json},
        {"out", "DIR", "output folder", OPTION_TEXT, &given->out},
        {"trials", "N", "number of trials", OPTION_INTEGER, &given->trials},
        {"tolerance", "X", "tolerance", OPTION_NUMBER, &given->tolerance},
        {"time", "T", "time limit", OPTION_DURATION, &given->time},
        {0},
    };
    int argc = 0;
    for (char *word = strtok(command, " "); word != NULL; word = strtok(NULL, " "))
        argv[argc++] = word;
    FILE *caught = tmpfile();
    assert_non_null(caught);
    fflush(stderr);
    int saved = dup(STDERR_FILENO);
    dup2(fileno(caught), STDERR_FILENO);
    int count = options_parse(&verb, rows, argc, argv, least, most);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(caught);
    complaint[fread(complaint, 1, sizeof complaint - 1, caught)] = '\0';
    fclose(caught);
    return count;
}

static void options_and_arguments_mix(void **state) {
    (void)state;
    struct given given = {.trials = 7};
    char command[] = "try --json a.json --out=here --tolerance 0.5 b.json --time 1h30m -";
    char *argv[16];
    assert_int_equal(parse(&given, command, argv, 1, 3), 3);
    assert_string_equal(complaint, "");
    assert_string_equal(argv[0], "a.json");
    assert_string_equal(argv[1], "b.json");
    assert_string_equal(argv[2], "-");
    assert_true(given.json);
    assert_string_equal(given.out, "here");
    assert_true(given.tolerance == 0.5);
    assert_true(given.time == 5400);
    assert_int_equal(given.trials, 7); /* not given: keeps its default */
}

static void double_dash_ends_options(void **state) {
    (void)state;
    struct given given = {0};
    char command[] = "try -- --json --out";
    char *argv[16];
    assert_int_equal(parse(&given, command, argv, 0, 9), 2);
    assert_string_equal(argv[0], "--json");
    assert_false(given.json);
}

static void empty_text_is_a_value(void **state) {
    (void)state;
    struct given given = {0};
    char command[] = "try --out=";
    char *argv[16];
    assert_int_equal(parse(&given, command, argv, 0, 0), 0);
    assert_string_equal(given.out, "");
}

static void a_mistake_gets_one_line_that_helps(void **state) {
    (void)state;
    static const struct {
        const char *command, *says;
    } rows[] = {
        {"try a --trails 5", "unknown option --trails; did you mean --trials?"},
        {"try a --trails=5", "unknown option --trails; did you mean --trials?"},
        {"try a -json", "unknown option -json; did you mean --json?"},
        {"try a -- b c", "unexpected argument \"b\"; usage: evotile try CONFIG [options]"},
        {"try", "an argument is missing; usage: evotile try CONFIG [options]"},
        {"try a --out", "--out needs a value: --out DIR"},
        {"try a --out --json", "--out needs a value: --out DIR"},
        {"try a --json=yes", "--json takes no value: remove \"=yes\""},
        {"try a --trials five", "--trials needs a whole number, not \"five\""},
        {"try a --trials 5k", "--trials needs a whole number, not \"5k\""},
        {"try a --trials 1.5", "--trials needs a whole number, not \"1.5\""},
        {"try a --trials=", "--trials needs a whole number, not \"\""},
        {"try a --trials -3", "--trials needs a number from 0 to"},
        {"try a --trials 99999999999999999999", "--trials needs a number from 0 to"},
        {"try a --tolerance 5%", "--tolerance needs a number such as 0.05, not \"5%\""},
        {"try a --tolerance nan", "--tolerance needs a number such as 0.05, not \"nan\""},
        {"try a --time 90", "--time: \"90\" is not a duration"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct given given = {0};
        char command[128];
        char *argv[16];
        strcpy(command, rows[i].command);
        assert_int_equal(parse(&given, command, argv, 1, 1), -1);
        assert_non_null(strstr(complaint, rows[i].says));
        assert_ptr_equal(strstr(complaint, "evotile: try: "), complaint);
        assert_ptr_equal(strchr(complaint, '\n'), complaint + strlen(complaint) - 1);
    }
}

static void errors_have_the_status_of_their_kind(void **state) {
    (void)state;
    struct error failed = {.kind = ERROR_FAILED, .text = "(an example of a failure)"};
    struct error input = {.kind = ERROR_INPUT, .text = "(an example of bad input)"};
    assert_int_equal(error_report(&failed), STATUS_FAILED);
    assert_int_equal(error_report(&input), STATUS_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_and_arguments_mix),
        cmocka_unit_test(double_dash_ends_options),
        cmocka_unit_test(empty_text_is_a_value),
        cmocka_unit_test(a_mistake_gets_one_line_that_helps),
        cmocka_unit_test(errors_have_the_status_of_their_kind),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
