#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"

/* What ends the capture; no line has it. */
static const char end_mark = '\036';

/* Captures what `say` writes while stderr is `file`: reads `from` until the mark that is written
   behind it, because a terminal forwards its input with a delay. */
static void capture(int file, int from, void (*say)(void), char text[4096]) {
    int saved = dup(STDERR_FILENO);
    dup2(file, STDERR_FILENO);
    say();
    dup2(saved, STDERR_FILENO);
    close(saved);
    assert_int_equal(write(file, &end_mark, 1), 1);
    size_t length = 0;
    while (length == 0 || text[length - 1] != end_mark) {
        ssize_t more = read(from, text + length, 4096 - length);
        assert_true(more > 0);
        length += (size_t)more;
    }
    text[length - 1] = '\0';
}

static void say_all(void) {
    struct progress progress;
    progress_init(&progress, 60);
    for (int i = 0; i < 100; i++)
        progress_show(&progress, "%d trials, and more than fits", i);
    log_info("champion %s", "A");
    log_warn("no GPU: %s", "install one");
    progress_end(&progress);
}

static void say_slowly(void) {
    struct progress progress;
    progress_init(&progress, 0.02);
    for (int i = 0; i < 3; i++) {
        progress_show(&progress, "%d", i);
        usleep(30000);
    }
}

static void a_log_gets_lines_now_and_then(void **state) {
    (void)state;
    int ends[2];
    char text[4096];
    assert_int_equal(pipe(ends), 0);
    capture(ends[1], ends[0], say_all, text);
    assert_string_equal(text, "evotile: 0 trials, and more than fits\n"
                              "evotile: champion A\n"
                              "evotile: warning: no GPU: install one\n");
    capture(ends[1], ends[0], say_slowly, text);
    assert_string_equal(text, "evotile: 0\nevotile: 1\nevotile: 2\n");
    close(ends[0]);
    close(ends[1]);
}

static void a_terminal_line_is_rewritten(void **state) {
    (void)state;
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
        skip();
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    assert_int_equal(ioctl(slave, TIOCSWINSZ, &(struct winsize){.ws_row = 24, .ws_col = 11}), 0);
    char text[4096];
    capture(slave, master, say_all, text);
    assert_string_equal(text, "\r\x1b[K0 trials, \r\x1b[Kevotile: champion A\r\n"
                              "\r\x1b[Kevotile: warning: no GPU: install one\r\n\r\x1b[K");
    close(slave);
    close(master);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_gets_lines_now_and_then),
        cmocka_unit_test(a_terminal_line_is_rewritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
