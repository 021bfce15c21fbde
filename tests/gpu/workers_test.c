/* The cost of a candidate that hangs the GPU or loses the context: its trial and one worker. The
   correct trial that waits behind it finishes within 5 s, and correct trials before and after it
   give the same results. */
#include "exploits/harness.h"

#include "base/clock.h"
#include "pool/local_pool.h"

enum { NEXT_S = 5, ROUNDS = 2 };

static const char *const fatal_exploits[] = {"infinite_loop", "deadlock",      "registers_deadlock",
                                             "illegal_load",  "illegal_store", "traps"};
enum { FATAL_COUNT = sizeof fatal_exploits / sizeof *fatal_exploits };

static const struct exploit *find_exploit(const char *name) {
    for (int i = 0; i < CORPUS_COUNT; i++)
        if (strcmp(corpus[i].name, name) == 0)
            return &corpus[i];
    fail_msg("no exploit has the name %s", name);
    return NULL;
}

static void submit_exploit(struct pool *pool, struct scene *scene, const struct exploit *exploit) {
    struct trial_request request;
    scene_request(scene, exploit, &request);
    pool_submit(pool, &request);
}

/* The next result must be this exploit's, with the expected verdict. */
static void take_result(struct pool *pool, const struct exploit *exploit) {
    struct trial_result result = {0};
    struct error error = {0};
    const char *expected = exploit->cuda != NULL ? exploit->cuda : exploit->emulated;
    if (pool_wait(pool, 300, &result, &error) <= 0)
        fail_msg("%s: no result: %s", exploit->name, error.text);
    if (!is_expected(expected, got_of(&result)))
        fail_msg("%s is %s, not %s: %s", exploit->name, got_of(&result), expected,
                 result.outcome.reason);
    trial_result_release(&result);
}

static void each_costs_one_worker(void **state) {
    struct error error = {0};
    struct scene scene;
    char folder[] = "/tmp/evotile-workers-XXXXXX";
    struct device_info *device = *state;
    const struct exploit *honest = find_exploit("honest_rows");
    assert_non_null(mkdtemp(folder));
    scene_open(&scene, folder, BASE_ROWS, device);
    const struct local_pool_settings settings = {.program = getenv("EVOTILE"),
                                                 .config_path = scene.config_path,
                                                 .template_folder = scene.config->template_folder,
                                                 .devices = "cuda:0",
                                                 .compile_workers = 1,
                                                 .device_workers = 1};
    if (settings.program == NULL)
        fail_msg("EVOTILE must name the program");
    struct pool *pool = local_pool_new(&settings, &error);
    must(pool == NULL ? -1 : 0, &error);
    submit_exploit(pool, &scene, honest);
    take_result(pool, honest);
    int late = 0;
    for (int i = 0; i < ROUNDS * FATAL_COUNT; i++) {
        const struct exploit *exploit = find_exploit(fatal_exploits[i % FATAL_COUNT]);
        double start = clock_seconds();
        submit_exploit(pool, &scene, exploit);
        submit_exploit(pool, &scene, honest);
        take_result(pool, exploit);
        double ended = clock_seconds();
        take_result(pool, honest);
        double next = clock_seconds();
        printf("%s: verdict after %.2f s; the next trial's %.2f s later; %d restarts\n",
               exploit->name, ended - start, next - ended, pool_restarts(pool));
        fflush(stdout);
        late += next - ended > NEXT_S;
        assert_int_equal(pool_restarts(pool), i + 1);
    }
    pool_free(pool);
    scene_close(&scene);
    must(path_remove_tree(folder, &error), &error);
    assert_int_equal(late, 0);
}

int main(void) {
    struct error error = {0};
    struct device_info device;
    if (device_describe("cuda:0", &device, &error) < 0) {
        printf("no GPU: %s\n", error.text);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(each_costs_one_worker, &device),
    };
    return cmocka_run_group_tests_name("workers", tests, NULL, NULL);
}
