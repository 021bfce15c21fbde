#include "session/status_file.h"

#include "base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants them before it. */
#include <cmocka.h>

static struct run_status example(struct random *random) {
    static const char *const roles[] = {"compile", "device"};
    struct run_status it = run_status_empty();
    it.phase = (enum phase)random_below(random, PHASE_COUNT);
    snprintf(it.reason, sizeof it.reason, "\"%d\"\n", (int)random_below(random, 100));
    snprintf(it.device, sizeof it.device, "NVIDIA \"Test\"");
    it.pid = (int64_t)random_below(random, 1 << 22);
    it.updated = 1.8e9 + random_uniform(random);
    it.predicts = random_below(random, 2) == 0;
    it.observed = (int64_t)random_below(random, 1000000);
    it.asked = it.observed + 7;
    it.trials_per_s = random_uniform(random) * 1000;
    it.seconds = random_uniform(random) * 1e6;
    it.budget_seconds = random_uniform(random) * 1e5;
    it.budget_trials = (int64_t)random_below(random, 1000000);
    it.target_us = random_uniform(random);
    it.target_ratio = random_uniform(random);
    it.others = (int)random_below(random, 3) - 1;
    if (random_below(random, 2) == 0)
        it.gpu = (struct nvml_state){.sm_mhz = 1980,
                                     .sm_max_mhz = 1980,
                                     .memory_mhz = 2619,
                                     .memory_max_mhz = -1,
                                     .temperature_c = 56,
                                     .power_w = random_uniform(random) * 700,
                                     .power_limit_w = 700,
                                     .memory_used_bytes = INT64_C(1) << 37,
                                     .memory_bytes = -1,
                                     .slowdowns = 4};
    it.worker_count = (int)random_below(random, STATUS_WORKERS_MAX + 1);
    for (int w = 0; w < it.worker_count; w++) {
        it.workers[w] =
            (struct pool_worker){.role = roles[random_below(random, 2)],
                                 .state = (enum pool_worker_state)random_below(random, 4),
                                 .trial = -1,
                                 .since_s = random_uniform(random)};
        if (random_below(random, 2) == 0)
            strcpy(it.workers[w].host, "gpu1");
        else if (it.workers[w].state == POOL_BUSY)
            it.workers[w].trial = (int64_t)random_below(random, 1000000);
    }
    return it;
}

/* cJSON prints 15 digits if that is close enough, so equality holds up to rounding. */
static bool close_to(double a, double b) {
    return fabs(a - b) <= 1e-14 * fabs(b);
}

static char *print(const struct run_status *status) {
    cJSON *object = run_status_json(status);
    char *text = cJSON_Print(object);
    cJSON_Delete(object);
    assert_non_null(text);
    return text;
}

/* Printing, parsing and printing again gives the same text and the same values. */
static void print_and_parse_agree(void **state) {
    struct random random;
    (void)state;
    random_seed(&random, 1, 1);
    for (int i = 0; i < 500; i++) {
        struct run_status was = example(&random);
        struct run_status is;
        struct error error = {0};
        char *text = print(&was);
        if (run_status_parse(&is, "status.json", text, &error) < 0)
            fail_msg("%s", error.text);
        char *again = print(&is);
        assert_string_equal(again, text);
        assert_int_equal(is.phase, was.phase);
        assert_string_equal(is.reason, was.reason);
        assert_true(close_to(is.updated, was.updated) && close_to(is.seconds, was.seconds));
        assert_int_equal(is.observed, was.observed);
        assert_int_equal(is.others, was.others);
        assert_int_equal(is.gpu.sm_mhz, was.gpu.sm_mhz);
        assert_true(close_to(is.gpu.power_w, was.gpu.power_w));
        assert_int_equal(is.gpu.memory_used_bytes, was.gpu.memory_used_bytes);
        assert_int_equal(is.worker_count, was.worker_count);
        for (int w = 0; w < is.worker_count; w++) {
            assert_string_equal(is.workers[w].host, was.workers[w].host);
            assert_int_equal(is.workers[w].trial, was.workers[w].trial);
        }
        cJSON_free(text);
        cJSON_free(again);
    }
}

/* Text that is cut at any place is refused, with an error that names the file. */
static void truncated_text_is_refused(void **state) {
    struct random random;
    (void)state;
    random_seed(&random, 2, 1);
    struct run_status whole = example(&random);
    struct run_status is;
    char *text = print(&whole);
    for (size_t length = strlen(text) - 1; length > 0; length--) {
        struct error error = {0};
        text[length] = '\0';
        assert_int_equal(run_status_parse(&is, "status.json", text, &error), -1);
        assert_non_null(strstr(error.text, "status.json"));
    }
    cJSON_free(text);
}

static void other_json_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "[]",
        "{}",
        "{\"phase\": \"dancing\", \"workers\": []}",
        "{\"phase\": \"searching\"}",
        "{\"phase\": \"searching\", \"workers\": {}}",
        "{\"phase\": \"searching\", \"workers\": [1]}",
        "{\"phase\": \"searching\", \"workers\": [{\"role\": \"cook\", \"state\": \"idle\"}]}",
        "{\"phase\": \"searching\", \"told\": -1, \"workers\": []}",
        "{\"phase\": \"searching\", \"restarts\": 1e12, \"workers\": []}",
        "{\"phase\": \"searching\", \"told\": \"many\", \"workers\": []}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct run_status is;
        struct error error = {0};
        assert_int_equal(run_status_parse(&is, "status.json", texts[i], &error), -1);
        assert_non_null(strstr(error.text, "status.json"));
    }
}

static void file_is_in_the_run_folder(void **state) {
    (void)state;
    char folder[] = "/tmp/evotile-status-XXXXXX";
    struct run_status was = run_status_empty();
    struct run_status is;
    struct error error = {0};
    assert_non_null(mkdtemp(folder));
    assert_int_equal(status_file_read(&is, folder, &error), 0);
    was.observed = 12;
    assert_int_equal(status_file_write(&was, folder, &error), 0);
    was.observed = 13;
    assert_int_equal(status_file_write(&was, folder, &error), 0);
    assert_int_equal(status_file_read(&is, folder, &error), 1);
    assert_int_equal(is.observed, 13);
    assert_int_equal(is.gpu.temperature_c, -1);
    assert_int_equal(path_remove_tree(folder, &error), 0);
    assert_int_equal(status_file_write(&was, folder, &error), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(print_and_parse_agree),
        cmocka_unit_test(truncated_text_is_refused),
        cmocka_unit_test(other_json_is_refused),
        cmocka_unit_test(file_is_in_the_run_folder),
    };
    return cmocka_run_group_tests_name("status_file", tests, NULL, NULL);
}
