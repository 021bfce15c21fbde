/* How devices share the shapes that kernels are timed at. The devices are this file's: they answer
   with invented times, in random order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/random.h"
#include "config/config.h"
#include "pool/local_pool.h"
#include "session/case_times.h"

enum { KERNELS = 4, SHAPES = 2 * CASES_MAX + 20, DEVICES = 4 };

static const struct timed_kernel kernels[KERNELS] = {{.genome = "THREADS=32,FAULT=none"},
                                                     {.genome = "THREADS=64,FAULT=none"},
                                                     {.genome = "THREADS=128,FAULT=none"},
                                                     {.genome = "THREADS=256,FAULT=none"}};

/* ---- devices ---- */

struct timed {
    int device, shape, kernel, count; /* its `count`th trial of the kernel at the shape */
};

static struct scripted_device {
    struct pool pool; /* first */
    struct trial_request request;
    bool is_started, is_ready;
    int waits; /* until its trial has a result */
} devices[DEVICES];

static struct script {
    struct random random;
    int started, freed;
    int start_fails, finish_fails; /* devices; -1: none */
    int fails_at;                  /* the trial at which its device fails; -1: none */
    int slowness[DEVICES];
    int timed_count;
    struct timed timed[SHAPES * KERNELS * CASE_TIMES_ROUNDS];
} script;

static bool fits(int shape, int kernel) {
    return (shape * 7 + kernel) % 11 != 0 && shape % 50 != 49;
}

static bool fails(int shape, int kernel) {
    return (shape * 5 + kernel) % 47 == 0;
}

/* From one kernel to the next 8 % more: some are within a fifth of the fastest, some not. A later
   round is slower. */
static double time_us(int shape, int kernel, int round) {
    return (100 + shape) * pow(1.08, (shape * 3 + kernel) % KERNELS) * (1 + 0.03 * round);
}

static void free_device(struct pool *pool) {
    struct scripted_device *device = (struct scripted_device *)pool;
    trial_request_release(&device->request);
    assert_true(device->is_started);
    device->is_started = false;
    script.freed++;
}

static void submit(struct pool *pool, const struct trial_request *request) {
    struct scripted_device *device = (struct scripted_device *)pool;
    const int shape = (int)request->number / KERNELS, kernel = (int)request->number % KERNELS;
    struct timed timed = {(int)(device - devices), shape, kernel, 0};
    assert_true(device->is_ready);
    assert_int_equal(pool->in_flight, 1);
    assert_true(request->no_race && request->no_promote);
    assert_int_equal(request->goal, shape % CASES_MAX);
    assert_int_equal(request->seed, 1000 + shape);
    for (int i = 0; i < script.timed_count; i++)
        timed.count += script.timed[i].shape == shape && script.timed[i].kernel == kernel;
    assert_in_range(script.timed_count, 0, SHAPES * KERNELS * CASE_TIMES_ROUNDS - 1);
    script.timed[script.timed_count++] = timed;
    device->request = *request;
    device->waits = (int)random_below(&script.random, 3) + script.slowness[timed.device];
}

static int wait_result(struct pool *pool, double timeout_s, struct trial_result *result,
                       struct error *error) {
    struct scripted_device *device = (struct scripted_device *)pool;
    const struct trial_request *request = &device->request;
    const int shape = (int)request->number / KERNELS, kernel = (int)request->number % KERNELS;
    int round = -1;
    assert_true(timeout_s == 0);
    if (device->waits-- > 0)
        return 0;
    if (request->number == script.fails_at)
        return error_set(error, "the GPU hangs");
    for (int i = 0; i < script.timed_count; i++)
        if (script.timed[i].shape == shape && script.timed[i].kernel == kernel)
            round = script.timed[i].count;
    trial_result_init(result, request);
    outcome_set_cases(&result->outcome, 1);
    if (fails(shape, kernel))
        trial_set_verdict(result, VERDICT_WRONG, "y: \033[31mwrong");
    result->outcome.cases[0].warm.p50_us = time_us(shape, kernel, round);
    trial_request_release(&device->request);
    return 1;
}

/* One that is always readable, so that no test waits. */
static int descriptors(const struct pool *pool, struct pollfd *polled, int limit) {
    static int zeros = -1;
    (void)pool;
    assert_true(limit > 0);
    if (zeros < 0)
        zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    polled[0] = (struct pollfd){.fd = zeros, .events = POLLIN};
    return 1;
}

static const struct pool_backend backend = {
    .free = free_device, .submit = submit, .wait = wait_result, .descriptors = descriptors};

struct pool *local_pool_start(const struct local_pool_settings *settings, struct error *error) {
    struct scripted_device *device = NULL;
    int number;
    assert_int_equal(sscanf(settings->devices, "cuda:%d", &number), 1);
    assert_in_range(number, 0, DEVICES - 1);
    assert_int_equal(settings->device_workers, 1);
    device = &devices[number];
    if (number == script.start_fails) {
        error_set(error, "no pipe for a child process");
        return NULL;
    }
    assert_false(device->is_started);
    *device = (struct scripted_device){.pool.backend = &backend, .is_started = true};
    script.started++;
    return &device->pool;
}

int local_pool_finish_start(struct pool *pool, struct error *error) {
    struct scripted_device *device = (struct scripted_device *)pool;
    assert_true(device->is_started && !device->is_ready);
    if (device - devices == script.finish_fails)
        return error_set(error, "the device worker does not start");
    device->is_ready = true;
    return device_describe("emulated:sm_90", &pool->device, error) < 0
               ? -1
               : (pool->device.predicts = false, 0);
}

/* ---- a measurement ---- */

struct callbacks {
    int prepare_fails_at; /* a shape; -1: none */
    int measured;
};

static int prepare(void *context, int kernel, int shape, struct trial_request *request,
                   struct error *error) {
    const struct callbacks *callbacks = context;
    if (shape == callbacks->prepare_fails_at)
        return error_set(error, "a file is missing");
    request->sources[0] = xstrdup("owned by the request");
    return fits(shape, kernel);
}

static void note_measured(void *context, int kernel, int shape, const struct trial_result *result) {
    struct callbacks *callbacks = context;
    callbacks->measured++;
    assert_int_equal(result->number, shape * KERNELS + kernel);
    if (fails(shape, kernel))
        assert_null(strchr(result->outcome.reason, '\033')); /* a terminal may show it */
}

static void start_script(uint64_t seed) {
    script = (struct script){.start_fails = -1, .finish_fails = -1, .fails_at = -1};
    random_seed(&script.random, seed, 1);
}

static struct config *new_config(void) {
    struct error error = {0};
    struct config *config = config_from_text(
        "c.json", "{ \"template\": \"rms_rows\", \"cases\": [{ \"ROWS\": 1, \"COLS\": 8 }] }",
        "tests/templates/rms_rows", &error);
    if (config == NULL)
        fail_msg("%s", error.text);
    return config;
}

static int measure(int device_count, int shape_count, struct callbacks *callbacks, double **us,
                   struct error *error) {
    struct config *config = new_config();
    struct shape *shapes = xcalloc((size_t)shape_count, sizeof *shapes);
    struct device_list list;
    bool predicted;
    assert_int_equal(device_list_read(&list, "cuda:0,cuda:1,cuda:2,cuda:3", error), 0);
    list.count = device_count;
    for (int s = 0; s < shape_count; s++) {
        shapes[s] = config->cases[0];
        shapes[s].values[0] = s + 1;
    }
    const struct case_times_request request = {.config = config,
                                               .devices = &list,
                                               .seed = 1000,
                                               .kernel_count = KERNELS,
                                               .kernels = kernels,
                                               .shape_count = shape_count,
                                               .shapes = shapes,
                                               .prepare = prepare,
                                               .measured = note_measured,
                                               .context = callbacks};
    const int status = case_times_measure(&request, us, &predicted, error);
    assert_int_equal(script.started, script.freed);
    if (status == 0)
        assert_false(predicted);
    free(shapes);
    config_free(config);
    return status;
}

static int count_files(const char *folder) {
    int count = 0;
    DIR *stream = opendir(folder);
    assert_non_null(stream);
    while (readdir(stream) != NULL)
        count++;
    closedir(stream);
    return count - 2;
}

static int new_folder(void **state) {
    static char folder[] = "/tmp/evotile-case-times-XXXXXX";
    *state = folder;
    return mkdtemp(folder) == NULL || setenv("TMPDIR", folder, 1) != 0;
}

static int remove_folder(void **state) {
    return rmdir(*state);
}

/* ---- what must hold ---- */

/* The trials of a shape, as one device would run them: all kernels, then in reverse those that are
   near the fastest. Returns the expected time of each kernel. */
static void check_shape(int shape, int *at, double us[KERNELS]) {
    bool is_left[KERNELS];
    int expected[2 * KERNELS], count = 0;
    double least = INFINITY;
    for (int k = 0; k < KERNELS; k++) {
        if (fits(shape, k))
            expected[count++] = k;
        is_left[k] = fits(shape, k) && !fails(shape, k);
        us[k] = is_left[k] ? time_us(shape, k, 0) : NAN;
        if (is_left[k])
            least = fmin(least, us[k]);
    }
    for (int k = KERNELS - 1; k >= 0; k--)
        if (is_left[k] && us[k] <= 1.2 * least) {
            expected[count++] = k;
            us[k] = sqrt(us[k] * time_us(shape, k, 1));
        }
    *at = 0;
    for (int i = 0; i < script.timed_count; i++)
        if (script.timed[i].shape == shape) {
            assert_in_range(*at, 0, count - 1);
            assert_int_equal(script.timed[i].kernel, expected[(*at)++]);
        }
    assert_int_equal(*at, count);
}

/* A device has one shape at a time, and a shape one device. */
static void check_sharing(int shape_count) {
    int device_of[SHAPES], shape_of[DEVICES], left[SHAPES] = {0};
    memset(device_of, -1, sizeof device_of);
    memset(shape_of, -1, sizeof shape_of);
    for (int i = 0; i < script.timed_count; i++)
        left[script.timed[i].shape]++;
    for (int i = 0; i < script.timed_count; i++) {
        const struct timed *timed = &script.timed[i];
        const int before = shape_of[timed->device];
        assert_in_range(timed->shape, 0, shape_count - 1);
        assert_true(device_of[timed->shape] < 0 || device_of[timed->shape] == timed->device);
        assert_true(before < 0 || before == timed->shape || left[before] == 0);
        device_of[timed->shape] = timed->device;
        shape_of[timed->device] = timed->shape;
        left[timed->shape]--;
    }
}

static void shapes_are_shared(void **state) {
    for (int round = 0; round < 16; round++) {
        const int device_count = 1 + round % DEVICES;
        const int shape_count = round < 8 ? 1 + round / 2 : SHAPES - round;
        struct callbacks callbacks = {.prepare_fails_at = -1};
        struct error error = {0};
        double *us;
        start_script((uint64_t)round);
        if (measure(device_count, shape_count, &callbacks, &us, &error) < 0)
            fail_msg("%s", error.text);
        assert_int_equal(callbacks.measured, script.timed_count);
        check_sharing(shape_count);
        for (int s = 0; s < shape_count; s++) {
            double expected[KERNELS];
            int trials;
            check_shape(s, &trials, expected);
            for (int k = 0; k < KERNELS; k++)
                if (isnan(expected[k]))
                    assert_true(isnan(us[s * KERNELS + k]));
                else
                    assert_float_equal(us[s * KERNELS + k] / expected[k], 1, 1e-12);
        }
        free(us);
        assert_int_equal(count_files(*state), 0);
    }
}

/* The next free device takes the next shape: a slow one takes few. */
static void a_slow_device_holds_up_no_other(void **state) {
    struct callbacks callbacks = {.prepare_fails_at = -1};
    struct error error = {0};
    int trials[DEVICES] = {0};
    double *us;
    (void)state;
    start_script(1);
    script.slowness[1] = 100;
    assert_int_equal(measure(3, CASES_MAX, &callbacks, &us, &error), 0);
    for (int i = 0; i < script.timed_count; i++)
        trials[script.timed[i].device]++;
    assert_in_range(trials[1], 1, script.timed_count / 20);
    assert_int_equal(trials[0] + trials[1] + trials[2], script.timed_count);
    free(us);
}

/* No more devices are started than there are shapes. */
static void devices_without_a_shape_are_not_started(void **state) {
    struct callbacks callbacks = {.prepare_fails_at = -1};
    struct error error = {0};
    double *us;
    (void)state;
    start_script(1);
    assert_int_equal(measure(DEVICES, 2, &callbacks, &us, &error), 0);
    assert_int_equal(script.started, 2);
    free(us);
}

static void an_error_ends_all(void **state) {
    static const struct {
        int devices, start_fails, finish_fails, fails_at, prepare_fails_at;
        const char *text;
    } rows[] = {
        {3, 1, -1, -1, -1, "cuda:1: no pipe for a child process"},
        {1, 0, -1, -1, -1, "no pipe for a child process"},
        {3, -1, 2, -1, -1, "cuda:2: the device worker does not start"},
        {1, -1, 0, -1, -1, "the device worker does not start"},
        {2, -1, -1, 1 * KERNELS + 1, -1, "cuda:1: the GPU hangs"},
        {1, -1, -1, 70 * KERNELS + 1, -1, "the GPU hangs"},
        {3, -1, -1, -1, 0, "a file is missing"},
        {3, -1, -1, -1, 75, "a file is missing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct callbacks callbacks = {.prepare_fails_at = rows[i].prepare_fails_at};
        struct error error = {0};
        double *us;
        start_script(i);
        script.start_fails = rows[i].start_fails;
        script.finish_fails = rows[i].finish_fails;
        script.fails_at = rows[i].fails_at;
        assert_int_equal(measure(rows[i].devices, 80, &callbacks, &us, &error), -1);
        assert_string_equal(error.text, rows[i].text);
        assert_null(us);
        assert_int_equal(count_files(*state), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_shared),
        cmocka_unit_test(a_slow_device_holds_up_no_other),
        cmocka_unit_test(devices_without_a_shape_are_not_started),
        cmocka_unit_test(an_error_ends_all),
    };
    return cmocka_run_group_tests(tests, new_folder, remove_folder);
}
