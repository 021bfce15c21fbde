#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"

static int saved = -1;

/* Standard error is a file, which never blocks, until shown_text. */
static FILE *capture(void) {
    FILE *file = tmpfile();
    assert_non_null(file);
    saved = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    return file;
}

/* What was written to standard error since; the caller frees it. */
static char *shown_text(FILE *file) {
    dup2(saved, STDERR_FILENO);
    close(saved);
    struct stat status;
    assert_int_equal(fstat(fileno(file), &status), 0);
    char *text = calloc(1, (size_t)status.st_size + 1);
    rewind(file);
    assert_int_equal(fread(text, 1, (size_t)status.st_size, file), status.st_size);
    fclose(file);
    return text;
}

/* Runs a shell script whose errors are relayed; it must end within 20 s. */
static void run_script(struct process *child, const char *script) {
    struct error error = {0};
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    assert_int_equal(process_start_relayed(child, argv, &error), 0);
    double end_s = clock_seconds() + 20;
    while (!child->ended && clock_seconds() < end_s) {
        process_read_output(child);
        usleep(500);
    }
    assert_true(child->ended);
}

static void control_characters_are_shown(void **state) {
    (void)state;
    struct process child;
    FILE *file = capture();
    run_script(&child, "printf 'a\\tb\\n\\033[31mred\\r\\007\\200\\377\\177~\\n' >&2");
    assert_int_equal(process_stop(&child, 1, NULL), 0);
    char *text = shown_text(file);
    assert_string_equal(text, "a\tb\n\\x1b[31mred\\x0d\\x07\\x80\\xff\\x7f~\n");
    free(text);
}

static int count_of(const char *text, const char *words) {
    int count = 0;
    for (; (text = strstr(text, words)) != NULL; text++)
        count++;
    return count;
}

/* A child that prints 40 MB ends, and one line says what was dropped; after a reset it shows as
   much again. */
static void output_without_end_is_dropped(void **state) {
    (void)state;
    struct process child;
    static const char flood[] = "head -c 40000000 /dev/zero | tr '\\0' 'x' >&2";
    FILE *file = capture();
    run_script(&child, flood);
    assert_true(child.errors.full);
    assert_int_equal(process_stop(&child, 1, NULL), 0);
    char *text = shown_text(file);
    size_t length = strlen(text);
    assert_int_equal(strspn(text, "x"), RELAY_BYTES_MAX);
    assert_in_range(length, RELAY_BYTES_MAX, RELAY_BYTES_MAX + 200);
    assert_int_equal(count_of(text, "the rest is dropped"), 1);
    assert_int_equal(text[length - 1], '\n');
    free(text);
}

static void reset_shows_again(void **state) {
    (void)state;
    int ends[2];
    static char many[RELAY_BYTES_MAX / 4 + 1];
    FILE *file = capture();
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    if (fcntl(ends[0], F_SETPIPE_SZ, sizeof many) < (int)sizeof many)
        skip();
    struct relay relay = {.from = ends[0]};
    memset(many, '\033', sizeof many); /* each is shown as four characters */
    assert_int_equal(write(ends[1], many, sizeof many), sizeof many);
    relay_copy(&relay);
    assert_true(relay.full);
    assert_int_equal(write(ends[1], "dropped\n", 8), 8);
    relay_copy(&relay);
    relay_reset(&relay);
    assert_int_equal(write(ends[1], "shown\n", 6), 6);
    relay_copy(&relay);
    close(ends[1]);
    relay_copy(&relay); /* the end of file closes it */
    assert_int_equal(relay.from, -1);
    relay_close(&relay);
    char *text = shown_text(file);
    assert_int_equal(count_of(text, "\\x1b"), RELAY_BYTES_MAX / 4);
    assert_null(strstr(text, "dropped\n"));
    assert_non_null(strstr(text, "shown\n"));
    free(text);
}

/* The reader shows what the child printed before it died. */
static void last_words_are_shown(void **state) {
    (void)state;
    struct process child;
    struct process_end end;
    FILE *file = capture();
    run_script(&child, "echo 'out of luck' >&2; kill -SEGV $$");
    assert_int_equal(process_stop(&child, 1, &end), 0);
    char *text = shown_text(file);
    assert_string_equal(text, "out of luck\n");
    assert_non_null(strstr(end.text, "signal 11"));
    assert_false(end.is_by_outside);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_shown),
        cmocka_unit_test(output_without_end_is_dropped),
        cmocka_unit_test(reset_shows_again),
        cmocka_unit_test(last_words_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
