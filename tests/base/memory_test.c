/* memory: copies, arrays that grow, and the end of a process that asks for too much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"

#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void copies_end_with_nul(void **state) {
    (void)state;
    char *whole = xstrdup("abcdef");
    char *prefix = xstrndup("abcdef", 3);
    char *shorter = xstrndup("ab", 10);
    assert_string_equal(whole, "abcdef");
    assert_string_equal(prefix, "abc");
    assert_string_equal(shorter, "ab");
    free(whole);
    free(prefix);
    free(shorter);
}

static void arrays_grow(void **state) {
    (void)state;
    int *numbers = NULL;
    size_t count = 0;
    for (int i = 0; i < 1000; i++) {
        numbers = xgrow(numbers, count, sizeof *numbers);
        assert_true(malloc_usable_size(numbers) > count * sizeof *numbers);
        numbers[count++] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(numbers[i], i);
    free(numbers);
}

static void no_bytes_are_a_pointer(void **state) {
    (void)state;
    char *array = xcalloc(0, 8);
    array = xrealloc(array, 0);
    assert_non_null(array);
    free(array);
}

static void ask_too_much(void) {
    xgrow(NULL, (SIZE_MAX >> 2) + 1, 4096);
}

static void too_much_aborts(void **state) {
    int status = 0;
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        close(STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        ask_too_much();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_end_with_nul),
        cmocka_unit_test(arrays_grow),
        cmocka_unit_test(no_bytes_are_a_pointer),
        cmocka_unit_test(too_much_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
