/* A run that is resumed under another driver: its elites are remeasured exactly once, even after
 * interruptions. */
#include "resume/fake_driver.h"

#include "base/random.h"

static struct run_check run_check; /* large */

static const char config_format[] =
    "{ \"template\": \"scaled_add\", \"device\": \"" TINY_DEVICE
    "\", \"objective\": \"per_case\",\n"
    "  \"cases\": [{\"ROWS\": 6, \"COLS\": 40}, {\"ROWS\": 3, \"COLS\": 7, \"BIAS\": 1}],\n"
    "  \"search\": {\"initial\": 12, \"population\": 8, \"share_goals\": false%s}, " TINY_GENES
    " }";

/* `search`: additional members of the config's search object. */
static void make_run(struct place *place, const char *search, const char *trials) {
    struct error error = {0};
    char config_text[1024];
    snprintf(config_text, sizeof config_text, config_format, search);
    tiny_make(&place->tiny, config_text);
    assert_int_equal(path_join(place->run_dir, place->tiny.folder, "run", &error), 0);
    run_check_init(&run_check, place->run_dir);
    const char *const arguments[] = {"--out", place->run_dir, "--trials", trials, NULL};
    run_and_expect(&place->tiny, "run", place->tiny.config, arguments, 0);
    check_run(&run_check);
}

static void resume_to(const struct place *place, int64_t trials, char log_path[PATH_SIZE]) {
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)trials);
    const char *const arguments[] = {"--trials", number, NULL};
    assert_int_equal(
        exit_status(start_evotile(&place->tiny, "resume", place->run_dir, arguments, log_path)), 0);
    check_run(&run_check);
    assert_int_equal(run_check.observed, trials);
}

/* Each trial that was a member before was remeasured `times` times, and no other trial. */
static void expect_remeasured(const bool *members, int times) {
    for (int i = 0; i < run_check.asked; i++)
        if (run_check.again[i] != (members[i] ? times : 0))
            fail_msg("trial %d, %sa member, was told again %d times, not %d", i,
                     members[i] ? "" : "not ", run_check.again[i], members[i] ? times : 0);
}

static int count_members(const bool *members) {
    int count = 0;
    for (int i = 0; i < RUN_TRIALS_MAX; i++)
        count += members[i];
    return count;
}

static bool log_contains(const char *log_path, const char *words) {
    char *text = read_log(log_path);
    bool has = strstr(text, words) != NULL;
    free(text);
    return has;
}

static void elites_are_timed_again_once(void **state) {
    (void)state;
    static bool members[RUN_TRIALS_MAX];
    struct place place;
    struct error error = {0};
    struct store_counts counts;
    char log_path[PATH_SIZE], message[80];
    make_run(&place, "", "40");
    assert_int_equal(run_check.remeasured, 0);
    memcpy(members, run_check.member, sizeof members);
    int elites = count_members(members);
    assert_in_range(elites, 8, 16); /* a population of 8 for each of two goals */
    fake_driver(&place, "570.1");
    /* A finished run starts and measures nothing. */
    resume_to(&place, 40, log_path);
    expect_log(log_path, "is finished");
    assert_int_equal(run_check.remeasured, 0);
    resume_to(&place, 45, log_path);
    expect_log(log_path, "driver was 570.1, is none");
    snprintf(message, sizeof message, "%d elites were timed again, 0 of them dropped", elites);
    expect_log(log_path, message);
    expect_remeasured(members, 1);
    resume_to(&place, 50, log_path);
    expect_remeasured(members, 1);
    assert_false(log_contains(log_path, "timed again"));
    struct store *store = store_open(place.run_dir, STORE_READ, &error);
    assert_int_equal(store_count(store, &counts, &error), 0);
    assert_true(counts.outdated > 0 && counts.outdated < 40 - elites + 1);
    struct store_trial *best = store_trial_read(store, store_ranked(store, 0, 1, &error), &error);
    assert_int_equal(best->number, run_check.champions[0]);
    assert_false(best->outdated);
    store_trial_free(best);
    store_close(store);
    tiny_remove(&place.tiny);
}

/* Kills at random moments while elites are remeasured: none is remeasured twice, and the search is
   the same as without kills. */
static void a_kill_while_remeasuring_costs_nothing(void **state) {
    (void)state;
    static bool members[RUN_TRIALS_MAX];
    struct random random;
    int hits = 0;
    random_seed(&random, (uint64_t)time(NULL), 7);
    for (int round = 0; round < 3; round++) {
        struct place place;
        char log_path[PATH_SIZE];
        make_run(&place, "", "30");
        memcpy(members, run_check.member, sizeof members);
        int count = 0; /* 16, less the genomes that failed */
        for (int i = 0; i < 30; i++)
            count += members[i];
        assert_in_range(count, 8, 16);
        fake_driver(&place, "570.1");
        run_check.champion_pending = true;
        for (int kills = 0; kills < 4; kills++) {
            const char *const arguments[] = {"--trials", "34", "--compile-workers", "1", NULL};
            pid_t pid = start_evotile(&place.tiny, "resume", place.run_dir, arguments, log_path);
            int status;
            for (int i = 0; i < 400 && !log_contains(log_path, "are timed again"); i++)
                pause_ms(5);
            pause_ms((int)random_below(&random, 250));
            kill(pid, SIGKILL);
            assert_int_equal(waitpid(pid, &status, 0), pid);
            check_run(&run_check);
            hits += run_check.remeasured > 0 && run_check.remeasured < count;
        }
        run_check.champion_pending = false;
        resume_to(&place, 34, log_path);
        for (int i = 0; i < 30; i++)
            assert_int_equal(run_check.again[i], members[i]);
        resume_to(&place, 36, log_path);
        assert_int_equal(run_check.remeasured, count);
        tiny_remove(&place.tiny);
    }
    print_message("%d of 12 kills came while elites were timed\n", hits);
}

/* Appends a line to the kernel of the run's own copy. */
static void edit_template(const struct place *place, const char *line) {
    char path[PATH_SIZE];
    struct error error = {0};
    assert_int_equal(path_join(path, place->run_dir, "template/scaled_add/kernel.cu", &error), 0);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fputs(line, file);
    fclose(file);
}

/* Simulates a compiler that no longer accepts the kernels for which `condition` holds. */
static void reject_kernels(const struct place *place, const char *condition) {
    struct error error = {0};
    char line[512], folder[PATH_SIZE], hash[HASH_TEXT_SIZE];
    snprintf(line, sizeof line, "#if %s\n#error not any more\n#endif\n", condition);
    edit_template(place, line);
    assert_int_equal(path_join(folder, place->run_dir, "template/scaled_add", &error), 0);
    struct device_info device;
    assert_int_equal(device_describe(TINY_DEVICE, &device, &error), 0);
    struct config *config = config_load(place->tiny.config, "tests/templates", &error);
    assert_non_null(config);
    char *own = config->template_folder;
    config->template_folder = folder;
    struct template *template = config_load_template(config, 0, &device, &error);
    assert_non_null(template);
    change(place, "UPDATE meta SET value = ?1 WHERE name = 'template_hash'",
           hash_print(template->hash, hash), NULL);
    template_free(template);
    config->template_folder = own;
    config_free(config);
}

/* A condition that holds for a genome's kernel and for one other at most: ORDER, which has two
   values, and FAULT are left out. */
static void write_condition(const char *genome, char *condition, size_t size) {
    const char *end = strstr(genome, ",ORDER=");
    size_t length = 0;
    assert_non_null(end);
    for (const char *at = genome; at < end; at++) {
        const char *text = *at == '=' ? " == " : *at == ',' ? " && " : (char[]){*at, '\0'};
        length += (size_t)snprintf(condition + length, size - length, "%s", text);
        assert_true(length < size);
    }
}

static void an_elite_that_fails_now_is_dropped(void **state) {
    (void)state;
    static bool members[RUN_TRIALS_MAX];
    struct place place;
    struct error error = {0};
    char log_path[PATH_SIZE], condition[400];
    make_run(&place, "", "40");
    memcpy(members, run_check.member, sizeof members);
    int64_t champion = run_check.champions[0];
    edit_template(&place, "// edited\n");
    const char *const arguments[] = {"--trials", "42", NULL};
    assert_int_equal(
        exit_status(start_evotile(&place.tiny, "resume", place.run_dir, arguments, log_path)), 2);
    expect_log(log_path, "was changed since the run began");
    struct store *store = store_open(place.run_dir, STORE_READ, &error);
    struct store_trial *best = store_trial_read(store, champion, &error);
    write_condition(best->genome, condition, sizeof condition);
    store_trial_free(best);
    store_close(store);
    reject_kernels(&place, condition);
    fake_driver(&place, "570.1");
    resume_to(&place, 42, log_path);
    expect_log(log_path, "an elite, is now compile_failed and dropped");
    expect_remeasured(members, 1);
    assert_false(run_check.member[champion]);
    assert_int_not_equal(run_check.champions[0], champion);
    resume_to(&place, 44, log_path);
    expect_remeasured(members, 1);
    tiny_remove(&place.tiny);
}

/* Nothing compiles any more: the run goes on without a champion. */
static void all_elites_may_be_dropped(void **state) {
    (void)state;
    static bool members[RUN_TRIALS_MAX];
    struct place place;
    char log_path[PATH_SIZE], message[80];
    make_run(&place, "", "30");
    memcpy(members, run_check.member, sizeof members);
    int elites = count_members(members);
    reject_kernels(&place, "1");
    fake_driver(&place, "570.1");
    resume_to(&place, 34, log_path);
    snprintf(message, sizeof message, "%d elites were timed again, %d of them dropped", elites,
             elites);
    expect_log(log_path, message);
    expect_remeasured(members, 1);
    assert_int_equal(count_members(run_check.member), 0);
    tiny_remove(&place.tiny);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elites_are_timed_again_once),
        cmocka_unit_test(a_kill_while_remeasuring_costs_nothing),
        cmocka_unit_test(an_elite_that_fails_now_is_dropped),
        cmocka_unit_test(all_elites_may_be_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
