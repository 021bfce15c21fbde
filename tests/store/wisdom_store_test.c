/* The wisdom store: two writers at once, which of two figures stays, and damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "store/wisdom_store.h"

static char folder[] = "/tmp/evotile-wisdom-store-XXXXXX";

static const char *at(const char *name) {
    static char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static struct wisdom_store *open_store(const char *name, enum store_mode mode) {
    struct error error = {0};
    struct wisdom_store *store = wisdom_store_open(at(name), mode, &error);
    if (store == NULL)
        fail_msg("%s", error.text);
    return store;
}

static const int64_t values[3] = {4, 4, 4};

static struct wisdom_figure figure_of(const char *case_name, double us) {
    return (struct wisdom_figure){.template_name = "rows",
                                  .template_hash = "00000000000000000000000000000001",
                                  .device = "NVIDIA H200",
                                  .case_name = case_name,
                                  .code = "c0de",
                                  .driver = "580.1",
                                  .toolkit = "13.0",
                                  .compute_capability = 90,
                                  .sm_count = 132,
                                  .solution = "",
                                  .shape = "{}",
                                  .genome = "A=1",
                                  .architecture = "sm_90",
                                  .options = "-arch=sm_90",
                                  .checks = "",
                                  .conditions = "",
                                  .smem_limit = 49152,
                                  .p10_us = us,
                                  .p50_us = us,
                                  .p90_us = us,
                                  .low_us = us,
                                  .high_us = 1.01 * us,
                                  .measured_at = 1000,
                                  .values = values,
                                  .values_bytes = sizeof values,
                                  .stale = "",
                                  .checked_driver = ""};
}

static enum wisdom_put put(struct wisdom_store *store, const struct wisdom_figure *figure) {
    struct error error = {0};
    enum wisdom_put outcome;
    if (wisdom_store_begin(store, &error) < 0 ||
        wisdom_store_put_code(store, WISDOM_CODES_TABLE, figure->code, "", "bytes", 5, &error) <
            0 ||
        wisdom_store_end(store, wisdom_store_put(store, figure, &outcome, &error), &error) < 0)
        fail_msg("%s", error.text);
    return outcome;
}

/* A figure of each case. Another process does the same meanwhile. */
static void write_many(const char *prefix, int count) {
    struct wisdom_store *store = open_store("two.db", STORE_WRITE);
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s%d", prefix, i);
        const struct wisdom_figure figure = figure_of(name, 3);
        put(store, &figure);
    }
    wisdom_store_close(store);
}

enum { EACH = 25 };

static void two_writers_lose_nothing(void **state) {
    pid_t children[2];
    struct wisdom_figures figures;
    struct error error = {0};
    (void)state;
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            write_many(i == 0 ? "a" : "b", EACH); /* makes the store, too, if it is first */
            _exit(0);
        }
    }
    for (int i = 0; i < 2; i++) {
        int status;
        waitpid(children[i], &status, 0);
        assert_int_equal(status, 0);
    }
    struct wisdom_store *store = open_store("two.db", STORE_READ);
    assert_int_equal(wisdom_store_read(store, &figures, &error), 0);
    assert_int_equal(figures.count, 2 * EACH);
    wisdom_figures_release(&figures);
    wisdom_store_close(store);
}

/* Another writer makes the store before the opener's statement of this number. */
static int statements_left;

static int make_store_between(unsigned event, void *context, void *statement, void *detail) {
    (void)event, (void)context, (void)statement, (void)detail;
    if (--statements_left == 0)
        wisdom_store_close(open_store("between.db", STORE_WRITE));
    return 0;
}

static int trace_statements(sqlite3 *database, const char **message,
                            const struct sqlite3_api_routines *routines) {
    (void)message, (void)routines;
    return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, make_store_between, NULL);
}

static void a_store_made_while_it_is_opened_is_taken(void **state) {
    (void)state;
    sqlite3_auto_extension((void (*)(void))trace_statements);
    for (int before = 1; before <= 3; before++) {
        unlink(at("between.db"));
        statements_left = before;
        wisdom_store_close(open_store("between.db", STORE_WRITE));
        assert_true(statements_left <= 0);
    }
    sqlite3_reset_auto_extension();
}

static double stored_us(struct wisdom_store *store, int count) {
    struct wisdom_figures figures;
    struct error error = {0};
    assert_int_equal(wisdom_store_read(store, &figures, &error), 0);
    assert_int_equal(figures.count, count);
    const double us = figures.items[0].p50_us;
    wisdom_figures_release(&figures);
    return us;
}

static void the_better_measured_figure_stays(void **state) {
    struct wisdom_store *store = open_store("better.db", STORE_WRITE);
    struct wisdom_figure figure = figure_of("a", 9);
    (void)state;
    figure.predicted = 1;
    assert_int_equal(put(store, &figure), WISDOM_ADDED);
    figure = figure_of("a", 10); /* measured */
    assert_int_equal(put(store, &figure), WISDOM_BETTER);
    figure.p50_us = 8;
    figure.low_us = 7;
    figure.high_us = 9; /* faster, and known less well */
    figure.measured_at = 9000;
    assert_int_equal(put(store, &figure), WISDOM_KEPT);
    assert_true(stored_us(store, 1) == 10);
    figure.low_us = figure.high_us = 0; /* not known at all */
    assert_int_equal(put(store, &figure), WISDOM_KEPT);
    figure = figure_of("a", 11);
    figure.low_us = 11;
    figure.high_us = 11.01;
    assert_int_equal(put(store, &figure), WISDOM_BETTER);
    figure.p50_us = 11.002;
    assert_int_equal(put(store, &figure), WISDOM_BETTER); /* relative to the median */
    figure.measured_at++;
    assert_int_equal(put(store, &figure), WISDOM_BETTER); /* as good, and newer */
    figure.predicted = 1;
    assert_int_equal(put(store, &figure), WISDOM_KEPT);
    /* Another kernel, driver or device has figures of its own. */
    figure = figure_of("a", 1);
    figure.code = "other";
    assert_int_equal(put(store, &figure), WISDOM_ADDED);
    figure.driver = "590";
    assert_int_equal(put(store, &figure), WISDOM_ADDED);
    figure.sm_count = 114;
    assert_int_equal(put(store, &figure), WISDOM_ADDED);
    assert_true(stored_us(store, 4) == 1);
    wisdom_store_close(store);
}

static void run_on(const char *name, const char *sql) {
    sqlite3 *database;
    assert_int_equal(sqlite3_open(at(name), &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static void damage_is_found(void **state) {
    static const struct {
        const char *sql, *says;
    } rows[] = {
        {"UPDATE codes SET bytes = x'00'", "another digest"},
        {"DELETE FROM codes", "no machine code"},
        {"UPDATE figures SET p50_us = -1", "a figure does not hold"},
        {"UPDATE figures SET \"values\" = x'00'", "a figure does not hold"},
        {"UPDATE figures SET high_us = 0.5, low_us = 1", "a figure does not hold"},
        {"DROP TABLE figures", "no such table"},
        {"PRAGMA user_version = 2", "has format 2"},
        {"PRAGMA application_id = 5", "another program"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wisdom_figure figure = figure_of("a", 3);
        struct wisdom_figures figures = {0};
        struct error error = {0};
        unlink(at("damaged.db"));
        struct wisdom_store *store = open_store("damaged.db", STORE_WRITE);
        put(store, &figure);
        wisdom_store_close(store);
        run_on("damaged.db", rows[i].sql);
        store = wisdom_store_open(at("damaged.db"), STORE_READ, &error);
        int status = store != NULL ? wisdom_store_read(store, &figures, &error) : -1;
        if (status == 0) {
            size_t size;
            assert_null(wisdom_store_code(store, WISDOM_CODES_TABLE, "c0de", &size, &error));
        }
        if (strstr(error.text, rows[i].says) == NULL)
            fail_msg("%s: %s", rows[i].sql, error.text);
        wisdom_figures_release(&figures);
        wisdom_store_close(store);
    }
}

static void a_failed_transaction_leaves_nothing(void **state) {
    struct wisdom_store *store = open_store("rolled.db", STORE_WRITE);
    const struct wisdom_figure first = figure_of("a", 3), second = figure_of("b", 3);
    struct error error = {0};
    enum wisdom_put outcome;
    (void)state;
    put(store, &first);
    assert_int_equal(wisdom_store_begin(store, &error), 0);
    assert_int_equal(wisdom_store_put(store, &second, &outcome, &error), 0);
    assert_int_equal(wisdom_store_end(store, -1, &error), -1);
    stored_us(store, 1);
    /* What no figure has is swept. */
    assert_int_equal(wisdom_store_begin(store, &error), 0);
    assert_int_equal(wisdom_store_put_code(store, WISDOM_CODES_TABLE, "x", "", "b", 1, &error), 0);
    assert_int_equal(wisdom_store_sweep(store, &error), 1);
    assert_int_equal(wisdom_store_end(store, 0, &error), 0);
    wisdom_store_close(store);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state) {
    struct error ignored;
    (void)state;
    return path_remove_tree(folder, &ignored);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_writers_lose_nothing),
        cmocka_unit_test(a_store_made_while_it_is_opened_is_taken),
        cmocka_unit_test(the_better_measured_figure_stays),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(a_failed_transaction_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
