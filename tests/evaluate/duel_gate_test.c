/* Whole trials on a device with scripted latencies: race, full timing, duel, final checks. The
   champion has blocks of 32 threads, its challengers of 64. */
#include "evaluate/scripted.h"

#include <math.h>

enum { CHAMPION = 1, CHALLENGER = 2 }; /* warps per block */

#define CHAMPION_US 10.0

static const struct trial_gate *find_gate(const struct trial_result *result, const char *name) {
    for (int i = 0; i < result->gate_count; i++)
        if (strcmp(result->gates[i].name, name) == 0)
            return &result->gates[i];
    return NULL;
}

static struct trial_request make_challenge(struct scripted *it) {
    struct trial_request request = scripted_request(it, "THREADS=64");
    request.champion_us = CHAMPION_US;
    request.opponent = (struct trial_opponent){
        .present = true, .trial = 7, .genome = scripted_genome(it, "THREADS=32")};
    return request;
}

/* Runs a challenger of `us` against the champion; the caller releases the result. */
static void challenge_at(struct scripted *it, double us, struct trial_result *result) {
    struct trial_request request = make_challenge(it);
    it->warm_us[CHAMPION] = CHAMPION_US;
    it->warm_us[CHALLENGER] = us;
    scripted_run_trial(it, &request, result);
}

static void race_drops_slow_candidate(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    int samples = it->warm_samples;
    int cold = it->cold_samples;
    challenge_at(it, 1.3 * CHAMPION_US, &result); /* the margin is 0.25 */
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_true(result.outcome.raced);
    assert_int_equal(result.outcome.cases[0].warm.sample_count, 5);
    assert_int_equal(result.outcome.cases[0].cold.sample_count, 0);
    assert_true(fabs(result.outcome.score_us - 13) < 0.01);
    assert_null(find_gate(&result, "timing"));
    assert_null(find_gate(&result, "duel"));
    assert_null(find_gate(&result, "flush memory"));
    assert_int_equal(result.opponent, -1);
    assert_int_equal(it->cold_samples, cold);
    assert_in_range(it->warm_samples - samples, 5, 100); /* warm-up, and at most five samples */
    trial_result_release(&result);
}

/* What a trial costs beside its kernels' own time. */
struct cost {
    int waits, allocations, modules, compilations;
};

static struct cost cost_of_challenge(struct scripted *it, double us) {
    struct trial_result result;
    struct cost before = {it->waits, it->allocations, it->modules, it->compilations};
    challenge_at(it, us, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    trial_result_release(&result);
    return (struct cost){it->waits - before.waits, it->allocations - before.allocations,
                         it->modules - before.modules, it->compilations - before.compilations};
}

/* Most candidates lose the race: they must cost less than any other, and each the same. */
static void race_makes_losers_cheap(void **state) {
    struct scripted *it = *state;
    struct cost lost = cost_of_challenge(it, 1.3 * CHAMPION_US);
    struct cost lost_again = cost_of_challenge(it, 2 * CHAMPION_US);
    struct cost timed = cost_of_challenge(it, 1.1 * CHAMPION_US);
    struct cost duelled = cost_of_challenge(it, 0.998 * CHAMPION_US);
    assert_int_equal(lost.modules, 1);
    assert_int_equal(lost.compilations, 1);
    assert_int_equal(lost.allocations, lost_again.allocations);
    assert_true(lost.waits >= lost_again.waits); /* fewer of slow samples warm it up */
    assert_true(lost.waits < timed.waits && timed.waits < duelled.waits);
    assert_true(lost.allocations <= timed.allocations && timed.allocations < duelled.allocations);
}

static void slower_candidate_is_timed_without_duel(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    challenge_at(it, 1.1 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_false(result.outcome.raced);
    assert_non_null(find_gate(&result, "timing"));
    assert_int_equal(result.outcome.cases[0].warm.sample_count, 50);
    assert_true(result.outcome.cases[0].cold.sample_count > 0);
    assert_true(fabs(result.outcome.score_us - 11) < 0.01);
    assert_int_equal(result.outcome.duel.result, DUEL_NONE);
    assert_null(find_gate(&result, "flush memory"));
    trial_result_release(&result);
}

/* The challengers use no shared memory, the champion is assumed to. */
static void default_smem_candidates_race_their_own_best(void **state) {
    struct scripted *it = *state;
    struct trial_request request = make_challenge(it);
    struct trial_result result;
    it->warm_us[CHAMPION] = CHAMPION_US;
    it->warm_us[CHALLENGER] = 1.3 * CHAMPION_US;
    request.within_default_smem_us = 1.2 * CHAMPION_US;
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_false(result.outcome.raced);
    assert_true(fabs(result.outcome.score_us - 13) < 0.01);
    trial_result_release(&result);
    it->warm_us[CHALLENGER] = 1.6 * CHAMPION_US;
    scripted_run_trial(it, &request, &result);
    assert_true(result.outcome.raced);
    trial_result_release(&result);
}

/* Two of three samples are 60 % late, so their median is beyond the race's margin of 25 %. */
static void race_keeps_disturbed_candidate(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    it->interference = 0.6;
    for (int phase = 0; phase < 3; phase++) {
        it->warm_samples = phase;
        challenge_at(it, 0.95 * CHAMPION_US, &result);
        assert_int_equal(result.outcome.verdict, VERDICT_OK);
        assert_false(result.outcome.raced);
        assert_non_null(find_gate(&result, "timing"));
        trial_result_release(&result);
    }
    it->interference = 0;
}

static void no_race_without_champion(void **state) {
    struct scripted *it = *state;
    struct trial_request request = scripted_request(it, "THREADS=64");
    struct trial_result result;
    it->warm_us[CHALLENGER] = 40; /* no long call, however slow this host is */
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_null(find_gate(&result, "race"));
    assert_int_equal(result.outcome.cases[0].warm.sample_count, 50);
    assert_int_equal(result.outcome.cases[0].cold.sample_count, 50);
    assert_non_null(find_gate(&result, "flush memory")); /* it becomes champion */
    trial_result_release(&result);
}

/* A trial of no search: whatever its score, it is timed as a candidate. */
static void nothing_is_promoted_where_asked_so(void **state) {
    struct scripted *it = *state;
    struct trial_request request = scripted_request(it, "THREADS=64");
    struct trial_result result;
    request.no_promote = true;
    it->warm_us[CHALLENGER] = 40;
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_non_null(find_gate(&result, "cases"));
    assert_non_null(find_gate(&result, "timing"));
    assert_null(find_gate(&result, "hard inputs"));
    assert_null(find_gate(&result, "flush memory"));
    assert_null(find_gate(&result, "final timing"));
    assert_false(result.final_checks);
    trial_result_release(&result);
}

static void duel_is_won(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    challenge_at(it, 0.95 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_int_equal(result.outcome.duel.result, DUEL_WON);
    assert_true(result.outcome.duel.high < 0.995);
    assert_int_equal(result.opponent, 7);
    assert_true(fabs(result.outcome.score_us - 9.5) < 0.01);
    assert_non_null(find_gate(&result, "held out"));
    assert_non_null(find_gate(&result, "flush memory"));
    assert_non_null(strstr(result.outcome.checks, "held-out cases (1 case), "));
    assert_int_equal(result.outcome.cases[0].cold.sample_count, 50);
    trial_result_release(&result);
}

/* Faster in its own timing, but 2 % slower than the champion in the duel. */
static void duel_is_lost(void **state) {
    struct scripted *it = *state;
    struct trial_request request = make_challenge(it);
    struct trial_result result;
    it->warm_us[CHALLENGER] = 9.9;
    it->warm_us[CHAMPION] = 9.7;
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_int_equal(result.outcome.duel.result, DUEL_LOST);
    assert_true(result.outcome.score_us > CHAMPION_US); /* ranks behind the champion for any
                                                           timing */
    assert_null(find_gate(&result, "flush memory"));
    assert_string_equal(result.outcome.checks, "");
    trial_result_release(&result);
}

static void duel_is_undecided(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    challenge_at(it, 0.998 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.duel.result, DUEL_UNDECIDED);
    assert_int_equal(result.outcome.duel.blocks, 10);
    assert_true(result.outcome.score_us > CHAMPION_US);
    assert_null(find_gate(&result, "flush memory"));
    trial_result_release(&result);
    it->scatter = 0.2;
    challenge_at(it, 0.998 * CHAMPION_US, &result);
    it->scatter = 1e-4;
    assert_int_equal(result.outcome.duel.result, DUEL_UNDECIDED);
    assert_int_equal(result.outcome.duel.blocks, 40); /* four rounds, then the champion stays */
    assert_true(result.outcome.score_us > CHAMPION_US);
    trial_result_release(&result);
}

/* The device becomes 1 % faster from each sample to the next. The challenger is timed after the
   champion was, so that it seems faster; but the two are alike. */
static void drift_decides_no_duel(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    it->drifted = 0;
    it->drift = -0.01;
    challenge_at(it, CHAMPION_US, &result);
    it->drift = 0;
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_true(result.outcome.cases[0].warm.p50_us < 0.9 * CHAMPION_US);
    assert_int_equal(result.outcome.duel.result, DUEL_UNDECIDED);
    assert_true(fabs(result.outcome.duel.ratio - 1) < 0.001);
    assert_true(result.outcome.score_us > CHAMPION_US);
    trial_result_release(&result);
}

/* A candidate that computes while it is verified, and nothing while it is timed. */
static void timed_calls_must_compute(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    it->skips_timed_calls = true;
    challenge_at(it, 1.1 * CHAMPION_US, &result);
    it->skips_timed_calls = false;
    assert_int_equal(result.outcome.verdict, VERDICT_WRONG);
    assert_true(result.outcome.score_us == 0);
    trial_result_release(&result);
}

static void impossible_figure_is_rejected(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    challenge_at(it, 1e-5, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_IMPOSSIBLE);
    assert_non_null(strstr(result.outcome.reason, "warm"));
    assert_true(result.outcome.score_us == 0);
    trial_result_release(&result);
    it->cold_us[CHALLENGER] = 1e-5;
    challenge_at(it, 0.95 * CHAMPION_US, &result);
    it->cold_us[CHALLENGER] = CHAMPION_US;
    assert_int_equal(result.outcome.verdict, VERDICT_IMPOSSIBLE);
    assert_non_null(strstr(result.outcome.reason, "cold"));
    trial_result_release(&result);
}

/* The candidate's source with a fault in one shape. */
static char *source_failing_at(struct scripted *it, const struct genome *genome, int rows,
                               char path[PATH_SIZE]) {
    struct error error = {0};
    static const char from[] = "const int count = ROWS * COLS;";
    char *source = template_source(it->template, genome, 0, &error);
    char *at = source != NULL ? strstr(source, from) : NULL;
    const char *temporary = getenv("TMPDIR");
    assert_non_null(at);
    snprintf(path, PATH_SIZE, "%s/evotile-contest-XXXXXX", temporary != NULL ? temporary : "/tmp");
    int handle = mkstemp(path);
    FILE *file = fdopen(handle, "w");
    assert_non_null(file);
    fprintf(file, "%.*sconst int count = ROWS == %d ? 1 : ROWS * COLS;%s", (int)(at - source),
            source, rows, at + strlen(from));
    fclose(file);
    free(source);
    return strdup(path);
}

static void champion_must_pass_held_out_cases(void **state) {
    struct scripted *it = *state;
    char path[PATH_SIZE];
    struct trial_request request = make_challenge(it);
    struct trial_result result;
    request.sources[0] = source_failing_at(it, &request.genome, 9, path);
    it->warm_us[CHAMPION] = CHAMPION_US;
    it->warm_us[CHALLENGER] = 0.9 * CHAMPION_US;
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.duel.result, DUEL_WON);
    assert_int_equal(result.outcome.verdict, VERDICT_WRONG);
    assert_non_null(strstr(result.outcome.reason, "ROWS=9"));
    assert_true(result.outcome.score_us == 0); /* it does not become champion */
    assert_false(find_gate(&result, "held out")->passed);
    trial_result_release(&result);

    it->warm_us[CHALLENGER] = 1.1 * CHAMPION_US; /* held-out cases are for champions only */
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_null(find_gate(&result, "held out"));
    trial_result_release(&result);
    unlink(path);
    trial_request_release(&request);
}

static void requested_duel_runs_for_slow_candidate(void **state) {
    struct scripted *it = *state;
    struct trial_request request = make_challenge(it);
    struct trial_result result;
    request.full = true;
    request.duel_blocks = 12;
    it->warm_us[CHAMPION] = CHAMPION_US;
    it->warm_us[CHALLENGER] = 3 * CHAMPION_US;
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.duel.result, DUEL_LOST);
    assert_int_equal(result.outcome.duel.blocks, 12);
    assert_true(fabs(result.outcome.duel.ratio - 3) < 0.01);
    assert_true(fabs(result.outcome.score_us - 30) < 0.1); /* its own timing is kept */
    trial_result_release(&result);
}

/* A replay, a try and a champion are timed with samples from several placements. */
static void requested_timing_uses_several_placements(void **state) {
    struct scripted *it = *state;
    struct trial_request request = scripted_request(it, "THREADS=64");
    struct trial_result result;
    int modules = it->modules;
    int graphs = it->graphs;
    request.full = true;
    it->warm_us[CHALLENGER] = CHAMPION_US;
    it->spread = 0.03;
    scripted_run_trial(it, &request, &result);
    const struct latency *warm = &result.outcome.cases[0].warm;
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_int_equal(it->graphs - graphs, 5 + 3 + 1); /* three of fewer calls, one with changes */
    assert_int_equal(it->modules - modules, 5);
    assert_int_equal(warm->sample_count, 50);
    assert_int_equal(result.outcome.cases[0].cold.sample_count, 50);
    assert_true(fabs(warm->p50_us - CHAMPION_US) < 0.01);
    assert_true(warm->p10_us < 0.975 * CHAMPION_US && warm->p90_us > 1.025 * CHAMPION_US);
    trial_result_release(&result);
    it->spread = 0;
}

/* The search compares by one placement and continues with the race's measurement; a new champion
   is timed again. */
static void champion_is_timed_in_several_placements(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    int modules = it->modules;
    challenge_at(it, 0.9 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.duel.result, DUEL_WON);
    assert_non_null(find_gate(&result, "final timing"));
    assert_int_equal(it->modules - modules, 1 + 1 + 4); /* its own, the champion's, four
                                                           placements */
    trial_result_release(&result);
    modules = it->modules;
    int graphs = it->graphs;
    challenge_at(it, 1.1 * CHAMPION_US, &result);
    assert_null(find_gate(&result, "final timing"));
    assert_int_equal(it->modules - modules, 1);
    assert_int_equal(it->graphs - graphs, 1);
    assert_int_equal(result.outcome.cases[0].cold.sample_count, 10);
    trial_result_release(&result);
}

/* A kernel whose calls return what is in the output already, as long as the graph is the same. */
static void kept_results_are_found(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    it->keeps_results = true;
    challenge_at(it, 1.1 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_WRONG);
    assert_non_null(strstr(result.outcome.reason, "keeps results between calls: wrong after"));
    assert_true(result.outcome.score_us == 0);
    trial_result_release(&result);
    it->keeps_results = false;
}

/* The same in cold graphs, which warm ones follow. */
static void results_kept_while_cold_are_found(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    it->keeps_cold = true;
    challenge_at(it, 1.1 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_WRONG);
    assert_non_null(strstr(result.outcome.reason, "keeps results between calls: wrong after"));
    trial_result_release(&result);
    it->keeps_cold = false;
}

/* A kernel that computes the calls at the end of a timed graph only; a champion cannot. */
static void idle_calls_of_timed_graph_are_found(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    it->skips_shorter = true;
    challenge_at(it, 0.9 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.duel.result, DUEL_WON);
    assert_int_equal(result.outcome.verdict, VERDICT_WRONG);
    assert_non_null(strstr(result.outcome.reason, "in a timed graph on hard inputs"));
    trial_result_release(&result);
    it->skips_shorter = false;
}

/* A kernel that is right but slower where it does not know its inputs. */
static void known_inputs_are_found(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    struct trial_request request = scripted_request(it, "THREADS=64");
    request.full = true;
    it->change_delay = 0.4;
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_WRONG);
    assert_non_null(strstr(result.outcome.reason, "1.40 times as slow when its inputs change"));
    trial_result_release(&result);
    it->change_delay = 0.2; /* might be noise */
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    trial_result_release(&result);
    it->change_delay = 0;
}

/* A champion that another process compiled is not compiled here. */
static void handed_champion_is_not_compiled(void **state) {
    struct scripted *it = *state;
    struct error error = {0};
    struct trial_result result;
    const struct trial_request champion = scripted_request(it, "THREADS=32");
    const struct trial_request other = scripted_request(it, "THREADS=128");
    struct device_image images[CASES_MAX];
    trial_result_init(&result, &champion);
    assert_int_equal(compiler_build(it->compiler, &champion, images, &result, &error), 0);
    trial_result_release(&result);
    evaluator_set_champion(it->evaluator, 0, &champion.genome, images);
    assert_true(evaluator_has_champion(it->evaluator, 0, &champion.genome));
    assert_false(evaluator_has_champion(it->evaluator, 1, &champion.genome));
    assert_false(evaluator_has_champion(it->evaluator, 0, &other.genome));
    int compilations = it->compilations;
    challenge_at(it, 0.998 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.duel.result, DUEL_UNDECIDED);
    assert_int_equal(it->compilations - compilations, 1); /* the challenger */
    trial_result_release(&result);
}

/* Images that another process built give the same result as building them here. */
static void adopted_images_are_not_compiled(void **state) {
    struct scripted *it = *state;
    struct error error = {0};
    struct trial_result built, adopted;
    const struct trial_request request = scripted_request(it, "THREADS=64");
    const struct trial_request invalid = scripted_request(it, "THREADS=128,ITEMS=4");
    struct device_image images[CASES_MAX];
    trial_result_init(&built, &request);
    trial_result_init(&adopted, &request);
    assert_int_equal(compiler_build(it->compiler, &request, images, &built, &error), 0);
    int compilations = it->compilations;
    assert_int_equal(compiler_adopt(it->compiler, &request, images, &adopted, &error), 0);
    assert_int_equal(it->compilations, compilations);
    assert_int_equal(adopted.gate_count, built.gate_count);
    for (int g = 0; g < built.gate_count; g++)
        assert_string_equal(adopted.gates[g].text, built.gates[g].text);
    assert_true(adopted.has_key);
    for (int part = 0; part < KEY_PART_COUNT; part++)
        assert_string_equal(adopted.key.parts[part], built.key.parts[part]);
    assert_int_equal(adopted.outcome.resources.spill_bytes, built.outcome.resources.spill_bytes);
    trial_result_release(&adopted);
    trial_result_release(&built);
    trial_result_init(&adopted, &invalid);
    assert_int_equal(compiler_adopt(it->compiler, &invalid, images, &adopted, &error), 1);
    assert_int_equal(adopted.outcome.verdict, VERDICT_INVALID);
    assert_null(images[0].cubin); /* they were released */
    trial_result_release(&adopted);
}

static void opponent_is_compiled_once(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    challenge_at(it, 0.998 * CHAMPION_US, &result);
    trial_result_release(&result);
    int compilations = it->compilations;
    challenge_at(it, 0.998 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.duel.result, DUEL_UNDECIDED);
    assert_int_equal(it->compilations - compilations, 1); /* the challenger */
    trial_result_release(&result);
}

/* The verdict came from damaged kernels, so it is replaced. */
static void damaged_evaluator_is_reported(void **state) {
    struct scripted *it = *state;
    static const char *const own_kernels[] = {"scaled_add_reference", "scaled_add_plain"};
    struct trial_request request = scripted_request(it, "THREADS=64");
    struct trial_result result;
    for (int i = 0; i < 2; i++) {
        it->damaged_kernel = own_kernels[i];
        scripted_run_trial(it, &request, &result);
        it->damaged_kernel = NULL;
        assert_int_equal(result.outcome.verdict, VERDICT_CRASHED);
        assert_non_null(strstr(result.outcome.reason, "own kernels"));
        assert_true(result.outcome.score_us == 0);
        trial_result_release(&result);
    }
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    trial_result_release(&result);
}

static void write_to_freed_memory_is_found(void **state) {
    struct scripted *it = *state;
    struct trial_request request = scripted_request(it, "THREADS=64");
    struct trial_result result;
    it->writes_to_freed_memory = true;
    scripted_run_trial(it, &request, &result);
    it->writes_to_freed_memory = false;
    assert_int_equal(result.outcome.verdict, VERDICT_WROTE_OUTSIDE);
    assert_non_null(strstr(result.outcome.reason, "freed"));
    assert_true(result.outcome.score_us == 0);
    trial_result_release(&result);
}

static void damaged_cache_costs_one_compilation(void **state) {
    struct scripted *it = *state;
    struct trial_request other = scripted_request(it, "THREADS=128");
    struct trial_request request = scripted_request(it, "THREADS=64");
    struct device_image images[CASES_MAX];
    struct trial_result result = {0};
    struct error error = {0};
    assert_int_equal(compiler_build(it->compiler, &other, images, &result, &error), 0);
    trial_result_release(&result);
    int compilations = it->compilations;
    it->warm_us[CHALLENGER] = CHAMPION_US;
    it->stale_image = &images[0];
    scripted_run_trial(it, &request, &result);
    it->stale_image = NULL;
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_int_equal(it->compilations, compilations + 1);
    trial_result_release(&result);
    nvrtc_image_release(&images[0]);
}

static int open_scripted(void **state) {
    static struct scripted it;
    scripted_open(&it, SCRIPTED_CONFIG ", \"held_out\": [{\"ROWS\": 9, \"COLS\": 7}]}");
    *state = &it;
    return 0;
}

static int close_scripted(void **state) {
    scripted_close(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(race_drops_slow_candidate),
        cmocka_unit_test(race_makes_losers_cheap),
        cmocka_unit_test(slower_candidate_is_timed_without_duel),
        cmocka_unit_test(default_smem_candidates_race_their_own_best),
        cmocka_unit_test(race_keeps_disturbed_candidate),
        cmocka_unit_test(no_race_without_champion),
        cmocka_unit_test(nothing_is_promoted_where_asked_so),
        cmocka_unit_test(duel_is_won),
        cmocka_unit_test(duel_is_lost),
        cmocka_unit_test(duel_is_undecided),
        cmocka_unit_test(drift_decides_no_duel),
        cmocka_unit_test(timed_calls_must_compute),
        cmocka_unit_test(impossible_figure_is_rejected),
        cmocka_unit_test(champion_must_pass_held_out_cases),
        cmocka_unit_test(requested_duel_runs_for_slow_candidate),
        cmocka_unit_test(requested_timing_uses_several_placements),
        cmocka_unit_test(champion_is_timed_in_several_placements),
        cmocka_unit_test(opponent_is_compiled_once),
        cmocka_unit_test(kept_results_are_found),
        cmocka_unit_test(results_kept_while_cold_are_found),
        cmocka_unit_test(idle_calls_of_timed_graph_are_found),
        cmocka_unit_test(known_inputs_are_found),
        cmocka_unit_test(handed_champion_is_not_compiled),
        cmocka_unit_test(adopted_images_are_not_compiled),
        cmocka_unit_test(damaged_evaluator_is_reported),
        cmocka_unit_test(write_to_freed_memory_is_found),
        cmocka_unit_test(damaged_cache_costs_one_compilation),
    };
    return cmocka_run_group_tests(tests, open_scripted, close_scripted);
}
