#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>

#include <cjson/cJSON.h>

#include "base/path.h"
#include "evaluate/messages.h"

enum { ROUNDS = 200 };

/* Too large for the stack under AddressSanitizer. */
static struct trial_result result;
static struct protocol_message message;

static void read_line(const char *line, enum protocol_message_kind kind) {
    struct error error = {0};
    if (protocol_read(line, &message, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(message.kind, kind);
    assert_null(strchr(line, '\n'));
}

static void requests_round_trip(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 1, 1);
    for (int round = 0; round < ROUNDS; round++) {
        struct trial_request request;
        example_request(&random, &request);
        char *line = protocol_print_request(&request);
        read_line(line, PROTOCOL_REQUEST);
        const struct trial_request *read = &message.request;
        assert_int_equal(read->number, request.number);
        assert_int_equal(read->goal, request.goal);
        assert_true(genome_equal(&read->genome, &request.genome));
        assert_int_equal(read->full, request.full);
        assert_int_equal(read->no_race, request.no_race);
        assert_int_equal(read->promote, request.promote);
        assert_int_equal(read->no_promote, request.no_promote);
        assert_int_equal(read->under_tool, request.under_tool);
        assert_int_equal(read->profiled, request.profiled);
        assert_int_equal(read->duel_blocks, request.duel_blocks);
        assert_memory_equal(&read->champion_us, &request.champion_us, sizeof(double));
        assert_memory_equal(&read->within_default_smem_us, &request.within_default_smem_us,
                            sizeof(double));
        assert_true(read->seed == request.seed);
        assert_int_equal(read->level, request.level);
        assert_int_equal(read->diagnosed, request.diagnosed);
        assert_int_equal(read->config != NULL, request.config != NULL);
        if (request.config != NULL) {
            assert_string_equal(read->config, request.config);
            assert_string_equal(read->template_folder, request.template_folder);
        }
        assert_false(read->opponent.present);
        for (int c = 0; c < CASES_MAX; c++)
            if (request.sources[c] != NULL)
                assert_string_equal(read->sources[c], request.sources[c]);
            else
                assert_null(read->sources[c]);
        free(line);
        protocol_message_release(&message);
        trial_request_release(&request);
    }
}

static void baseline_round_trips(void **state) {
    (void)state;
    struct trial_request request = {.opponent.present = true};
    request.opponent.baseline = (struct baseline_command){
        .count = 2, .words = {strdup("python3"), strdup("a \"b\".py")}, .limit_s = 0.1};
    request.opponent.implementation = strdup("fused");
    char *line = protocol_print_request(&request);
    read_line(line, PROTOCOL_REQUEST);
    const struct trial_opponent *read = &message.request.opponent;
    assert_true(read->present);
    assert_int_equal(read->baseline.count, 2);
    assert_string_equal(read->baseline.words[0], "python3");
    assert_string_equal(read->baseline.words[1], "a \"b\".py");
    assert_true(read->baseline.limit_s == 0.1);
    assert_string_equal(read->implementation, "fused");
    free(line);
    protocol_message_release(&message);
    trial_request_release(&request);
}

static bool same_double(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

static bool diagnostics_equal(const struct diagnostics *a, const struct diagnostics *b) {
    if (a == NULL || b == NULL)
        return a == b;
    bool equal = strcmp(a->log, b->log) == 0 && strcmp(a->case_name, b->case_name) == 0 &&
                 a->wrong_count == b->wrong_count && a->fault_count == b->fault_count &&
                 a->cost_count == b->cost_count;
    for (int i = 0; i < a->wrong_count && equal; i++)
        equal = strcmp(a->wrong[i].tensor, b->wrong[i].tensor) == 0 &&
                strcmp(a->wrong[i].index, b->wrong[i].index) == 0 &&
                same_double(a->wrong[i].got, b->wrong[i].got) &&
                same_double(a->wrong[i].wanted, b->wrong[i].wanted);
    for (int i = 0; i < a->fault_count && equal; i++)
        equal = strcmp(a->faults[i].kind, b->faults[i].kind) == 0 &&
                strcmp(a->faults[i].file, b->faults[i].file) == 0 &&
                strcmp(a->faults[i].text, b->faults[i].text) == 0 &&
                a->faults[i].line == b->faults[i].line &&
                a->faults[i].other_line == b->faults[i].other_line;
    for (int i = 0; i < a->cost_count && equal; i++)
        equal = strcmp(a->costs[i].kind, b->costs[i].kind) == 0 &&
                strcmp(a->costs[i].file, b->costs[i].file) == 0 &&
                strcmp(a->costs[i].text, b->costs[i].text) == 0 &&
                a->costs[i].line == b->costs[i].line && a->costs[i].count == b->costs[i].count &&
                a->costs[i].degree == b->costs[i].degree;
    return equal;
}

/* Every field of the tables has a value of its own. */
static void results_round_trip_bit_for_bit(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 2, 1);
    for (int round = 0; round < ROUNDS; round++) {
        example_result(&random, round % 5 == 0 ? CASES_MAX : round % 4, &result);
        for (int c = 0; c < result.outcome.case_count; c++)
            result.outcome.cases[c].weight = round % 2 * (c + 1 / 3.0);
        char *line = protocol_print_result(&result);
        assert_true((strstr(line, "\"weight\"") != NULL) ==
                    (round % 2 == 1 && result.outcome.case_count > 0));
        read_line(line, PROTOCOL_RESULT);
        const struct trial_result *read = &message.result;
        for (int c = 0; c < result.outcome.case_count; c++)
            assert_true(read->outcome.cases[c].weight == result.outcome.cases[c].weight);
        assert_int_equal(read->number, result.number);
        assert_int_equal(read->goal, result.goal);
        assert_true(genome_equal(&read->genome, &result.genome));
        assert_string_equal(read->worker, result.worker);
        assert_int_equal(read->opponent, result.opponent);
        assert_true(outcomes_equal(&read->outcome, &result.outcome));
        assert_int_equal(read->gate_count, GATES_MAX);
        for (int g = 0; g < GATES_MAX; g++) {
            assert_string_equal(read->gates[g].name, result.gates[g].name);
            assert_string_equal(read->gates[g].text, result.gates[g].text);
            assert_int_equal(read->gates[g].passed, result.gates[g].passed);
            assert_memory_equal(&read->gates[g].seconds, &result.gates[g].seconds, sizeof(double));
        }
        assert_string_equal(read->baseline, result.baseline);
        assert_int_equal(read->final_checks, result.final_checks);
        assert_int_equal(read->other_code, result.other_code);
        assert_int_equal(read->case_result_count, result.case_result_count);
        for (int b = 0; b < result.case_result_count; b++)
            assert_memory_equal(&read->case_results[b], &result.case_results[b],
                                sizeof(struct case_result));
        assert_true(diagnostics_equal(read->diagnostics, result.diagnostics));
        assert_int_equal(read->has_key, result.has_key);
        for (int part = 0; part < KEY_PART_COUNT && result.has_key; part++) {
            assert_string_equal(read->key.parts[part], result.key.parts[part]);
            assert_string_equal(read->opponent_key.parts[part], result.opponent_key.parts[part]);
        }
        free(line);
        protocol_message_release(&message);
        trial_result_release(&result);
    }
}

static void opponents_round_trip(void **state) {
    (void)state;
    struct trial_request request = {.opponent = {.present = true,
                                                 .trial = INT64_C(9007199254740993),
                                                 .goal = 5,
                                                 .genome = {{1, 2, 255}},
                                                 .config = strdup("a config"),
                                                 .template_folder = strdup("a template"),
                                                 .sources[2] = strdup("kernel.cu"),
                                                 .cubins[2] = strdup("kernel.cubin")}};
    request.cubins[1] = strdup("its own.cubin");
    char *line = protocol_print_request(&request);
    read_line(line, PROTOCOL_REQUEST);
    const struct trial_opponent *read = &message.request.opponent;
    assert_true(read->present);
    assert_int_equal(read->trial, request.opponent.trial);
    assert_int_equal(read->goal, 5);
    assert_true(genome_equal(&read->genome, &request.opponent.genome));
    assert_string_equal(read->config, "a config");
    assert_string_equal(read->template_folder, "a template");
    assert_string_equal(read->sources[2], "kernel.cu");
    assert_string_equal(read->cubins[2], "kernel.cubin");
    assert_string_equal(message.request.cubins[1], "its own.cubin");
    assert_int_equal(read->baseline.count, 0);
    free(line);
    protocol_message_release(&message);
    trial_request_release(&request);
}

static void champions_round_trip(void **state) {
    (void)state;
    const struct trial_champion champion = {.goal = 5,
                                            .trial = INT64_C(9007199254740993),
                                            .genome = {{1, 2, 255}},
                                            .score_us = 1.0 / 3,
                                            .within_default_smem_us = 2.0 / 3};
    char *line = protocol_print_champion(&champion);
    read_line(line, PROTOCOL_CHAMPION);
    assert_int_equal(message.champion.goal, champion.goal);
    assert_int_equal(message.champion.trial, champion.trial);
    assert_true(genome_equal(&message.champion.genome, &champion.genome));
    assert_true(message.champion.score_us == champion.score_us);
    assert_true(message.champion.within_default_smem_us == champion.within_default_smem_us);
    free(line);
}

static void devices_round_trip(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 3, 1);
    for (int round = 0; round < ROUNDS; round++) {
        struct device_info device = example_device_info(&random);
        char *line = protocol_print_device(&device);
        read_line(line, PROTOCOL_DEVICE);
        /* The example sets every member, and both structs are zeroed before. */
        assert_memory_equal(&message.device, &device, sizeof device);
        free(line);
    }
}

static void starts_round_trip(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 6, 1);
    struct worker_start start = {.device = example_device_info(&random),
                                 .config_path = (char *)"a \"run\"/config.json",
                                 .template_folder = (char *)"a run/rows\n"};
    for (int round = 0; round < 4; round++) {
        start.has_device = round & 1;
        start.under_tool = round & 2;
        start.threads = 1 << round;
        char *line = protocol_print_start(&start);
        read_line(line, PROTOCOL_START);
        assert_int_equal(message.start.has_device, start.has_device);
        assert_int_equal(message.start.under_tool, start.under_tool);
        assert_int_equal(message.start.threads, start.threads);
        assert_string_equal(message.start.device.name, start.device.name);
        assert_string_equal(message.start.config_path, start.config_path);
        assert_string_equal(message.start.template_folder, start.template_folder);
        free(line);
        protocol_message_release(&message);
    }
}

static void images_round_trip(void **state) {
    (void)state;
    const struct worker_images images[] = {{"/proc/1/fd/9", ""}, {"", "/proc/1/fd/10"}};
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        char *line = protocol_print_images(&images[i]);
        read_line(line, PROTOCOL_IMAGES);
        assert_string_equal(message.images.candidate, images[i].candidate);
        assert_string_equal(message.images.champion, images[i].champion);
        free(line);
    }
}

static void failures_round_trip(void **state) {
    (void)state;
    struct error failure = {0};
    error_input(&failure, "template.json:3: genes:\n  a + )\n      ^");
    char *line = protocol_print_failure(&failure);
    read_line(line, PROTOCOL_FAILURE);
    assert_int_equal(message.failure.kind, ERROR_INPUT);
    assert_string_equal(message.failure.text, failure.text);
    free(line);
}

/* JSON cannot express these: they are read as 0, and the message still parses. */
static void non_finite_numbers_become_zero(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 4, 1);
    example_result(&random, 1, &result);
    result.outcome.score_us = NAN;
    result.outcome.cases[0].errors.max_absolute = INFINITY;
    result.outcome.cases[0].warm.sample_count = 0;
    latency_reserve(&result.outcome.cases[0].warm, 2);
    result.outcome.cases[0].warm.sample_count = 2;
    result.outcome.cases[0].warm.samples_us[0] = -INFINITY;
    result.outcome.cases[0].warm.samples_us[1] = 2.5;
    char *line = protocol_print_result(&result);
    read_line(line, PROTOCOL_RESULT);
    assert_true(message.result.outcome.score_us == 0);
    assert_true(message.result.outcome.cases[0].errors.max_absolute == 0);
    assert_int_equal(message.result.outcome.cases[0].warm.sample_count, 2);
    assert_true(message.result.outcome.cases[0].warm.samples_us[0] == 0);
    assert_true(message.result.outcome.cases[0].warm.samples_us[1] == 2.5);
    free(line);
    protocol_message_release(&message);
    trial_result_release(&result);
}

/* ---- damage ---- */

static void assert_rejected(const char *line, const char *damage) {
    struct error error = {0};
    if (protocol_read(line, &message, &error) == 0)
        fail_msg("accepted although %s: %.300s", damage, line);
    assert_int_equal(error.kind, ERROR_FAILED);
    assert_non_null(strstr(error.text, "damaged"));
}

/* A line of each kind, short enough to be truncated at every position. */
static char *short_line(enum protocol_message_kind kind) {
    struct random random;
    random_seed(&random, 5, 1);
    struct trial_request request;
    struct device_info device = example_device_info(&random);
    struct error failure = {.kind = ERROR_FAILED, .text = "no GPU"};
    char *line = NULL;
    switch (kind) {
    case PROTOCOL_START:
        line = protocol_print_start(&(struct worker_start){.has_device = true,
                                                           .threads = 3,
                                                           .device = device,
                                                           .config_path = (char *)"c.json",
                                                           .template_folder = (char *)"t"});
        break;
    case PROTOCOL_IMAGES:
        line = protocol_print_images(&(struct worker_images){"/proc/1/fd/9", "/proc/1/fd/10"});
        break;
    case PROTOCOL_REQUEST:
        example_request(&random, &request);
        line = protocol_print_request(&request);
        trial_request_release(&request);
        break;
    case PROTOCOL_RESULT:
        example_result(&random, 2, &result);
        for (int c = 0; c < 2; c++)
            result.outcome.cases[c].warm.sample_count = result.outcome.cases[c].cold.sample_count =
                1;
        result.gate_count = 2;
        result.has_key = true;
        for (int part = 0; part < KEY_PART_COUNT; part++)
            key_set(&result.key, part, "part");
        line = protocol_print_result(&result);
        trial_result_release(&result);
        break;
    case PROTOCOL_DEVICE:
        line = protocol_print_device(&device);
        break;
    case PROTOCOL_CHAMPION:
        line = protocol_print_champion(&(struct trial_champion){.goal = 1,
                                                                .trial = 7,
                                                                .genome = {{1, 2}},
                                                                .score_us = 2.5,
                                                                .within_default_smem_us = 3});
        break;
    case PROTOCOL_FAILURE:
        line = protocol_print_failure(&failure);
        break;
    }
    return line;
}

/* Of two such weights the sum has no finite value. */
static void weights_beyond_a_config_s_are_rejected(void **state) {
    static const double bad[] = {1e300, 1e-300, -1};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct random random;
        random_seed(&random, 7, 1);
        example_result(&random, 1, &result);
        result.outcome.cases[0].weight = 1;
        char *line = protocol_print_result(&result);
        cJSON *object = cJSON_Parse(line);
        cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(object, "cases"), 0);
        assert_true(
            cJSON_ReplaceItemInObjectCaseSensitive(first, "weight", cJSON_CreateNumber(bad[i])));
        char *changed = cJSON_PrintUnformatted(object);
        assert_rejected(changed, "a weight is out of range");
        cJSON_free(changed);
        cJSON_Delete(object);
        free(line);
        trial_result_release(&result);
    }
}

static void truncated_message_is_rejected(void **state) {
    (void)state;
    for (int kind = 0; kind <= PROTOCOL_FAILURE; kind++) {
        char *line = short_line((enum protocol_message_kind)kind);
        for (size_t length = strlen(line); length-- > 0;) {
            line[length] = '\0';
            assert_rejected(line, "it was cut");
        }
        free(line);
    }
}

static void two_messages_on_a_line_are_rejected(void **state) {
    (void)state;
    char *line = short_line(PROTOCOL_FAILURE);
    char twice[1024];
    snprintf(twice, sizeof twice, "%s%s", line, line);
    assert_rejected(twice, "there are two");
    free(line);
}

enum type { BOOL = 1, ARRAY = 2, OBJECT = 4, TEXT = 8, NUMBER = 16, NOTHING = 32 };

/* Types that a reader accepts in place of a value: its own type; null for a number, which stands
   for a non-finite one, and for a source; a string for a missing source. */
static int is_acceptable_type(const cJSON *item) {
    if (cJSON_IsNumber(item))
        return NUMBER | NOTHING;
    if (item->string == NULL && (cJSON_IsString(item) || cJSON_IsNull(item)))
        return TEXT | NOTHING;
    return cJSON_IsBool(item) ? BOOL : cJSON_IsString(item) ? TEXT : 0;
}

/* Replaces each value of the message, one at a time, at any depth. */
static void replace_each_value(cJSON *root, cJSON *at) {
    static const struct {
        enum type type;
        const char *text;
    } others[] = {{BOOL, "true"},  {OBJECT, "{}"},    {TEXT, "\"text\""},
                  {NUMBER, "1.5"}, {NUMBER, "-3e99"}, {NOTHING, "null"},
                  {ARRAY, "[1]"},  {TEXT, "\"12x\""}, {0, "1e999"}};
    for (cJSON *item = at->child; item != NULL; item = item->next) {
        char name[256];
        cJSON saved = *item;
        snprintf(name, sizeof name, "%s was replaced",
                 item->string != NULL ? item->string : "an element");
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            if ((is_acceptable_type(&saved) & others[i].type) != 0)
                continue;
            item->type = cJSON_Raw; /* replaces the item while the message is printed */
            item->valuestring = (char *)others[i].text;
            char *line = cJSON_PrintUnformatted(root);
            *item = saved;
            assert_rejected(line, name);
            free(line);
        }
        replace_each_value(root, item);
    }
}

/* Invalid number strings, enum words and fractional integers. */
static void values_out_of_range_are_rejected(void **state) {
    (void)state;
    static const struct {
        enum protocol_message_kind kind;
        const char *was, *becomes;
    } changes[] = {
        {PROTOCOL_REQUEST, "\"number\":\"9", "\"number\":\"x9"},
        {PROTOCOL_REQUEST, "\"number\":\"9", "\"number\":\"99999"},
        {PROTOCOL_REQUEST, "\"goal\":63", "\"goal\":256"},
        {PROTOCOL_REQUEST, "\"goal\":63", "\"goal\":-1"},
        {PROTOCOL_REQUEST, "\"goal\":63", "\"goal\":6.3"},
        {PROTOCOL_REQUEST, "\"genome\":\"", "\"genome\":\"a"},
        {PROTOCOL_RESULT, "\"verdict\":\"", "\"verdict\":\"un"},
        {PROTOCOL_RESULT, "\"case_count\":2", "\"case_count\":3"},
        {PROTOCOL_RESULT, "\"case_count\":2", "\"case_count\":-2"},
        {PROTOCOL_RESULT, "\"checks\":\"", "\"checks\":\"\\u001b[2J"},
        {PROTOCOL_RESULT, "\"uses\":\"", "\"uses\":\"\\n"},
        {PROTOCOL_DEVICE, "\"sm_count\":132", "\"sm_count\":132000000000"},
        {PROTOCOL_DEVICE, "\"kind\":\"", "\"kind\":\"no "},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *line = short_line(changes[i].kind);
        char *at = strstr(line, changes[i].was);
        assert_non_null(at);
        char *changed = malloc(strlen(line) + 64);
        sprintf(changed, "%.*s%s%s", (int)(at - line), line, changes[i].becomes,
                at + strlen(changes[i].was));
        assert_rejected(changed, changes[i].becomes);
        free(changed);
        free(line);
    }
}

static void values_of_another_type_are_rejected(void **state) {
    (void)state;
    for (int kind = 0; kind <= PROTOCOL_FAILURE; kind++) {
        char *line = short_line((enum protocol_message_kind)kind);
        cJSON *root = cJSON_Parse(line);
        replace_each_value(root, root);
        cJSON_Delete(root);
        free(line);
    }
}

static void missing_members_are_rejected(void **state) {
    (void)state;
    for (int kind = 0; kind <= PROTOCOL_FAILURE; kind++) {
        char *line = short_line((enum protocol_message_kind)kind);
        cJSON *root = cJSON_Parse(line);
        int count = cJSON_GetArraySize(root);
        for (int i = 0; i < count; i++) {
            cJSON *less = cJSON_Duplicate(root, true);
            char name[128];
            cJSON *item = cJSON_GetArrayItem(less, i);
            snprintf(name, sizeof name, "%s is missing", item->string);
            bool optional = strcmp(item->string, "key") == 0;
            cJSON_Delete(cJSON_DetachItemViaPointer(less, item));
            char *without = cJSON_PrintUnformatted(less);
            if (!optional)
                assert_rejected(without, name);
            free(without);
            cJSON_Delete(less);
        }
        cJSON_Delete(root);
        free(line);
    }
}

/* Arrays that exceed their destination. */
static void oversized_arrays_are_rejected(void **state) {
    (void)state;
    static const char *const arrays[] = {"cases", "gates", "bouts", "sources"};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
        char *line = short_line(a == 3 ? PROTOCOL_REQUEST : PROTOCOL_RESULT);
        cJSON *root = cJSON_Parse(line);
        cJSON *array = cJSON_GetObjectItem(root, arrays[a]);
        cJSON *first = cJSON_GetArrayItem(array, 0);
        while (cJSON_GetArraySize(array) <= CASES_MAX)
            cJSON_AddItemToArray(array, cJSON_Duplicate(first, true));
        if (a == 0)
            cJSON_SetNumberValue(
                cJSON_GetObjectItem(cJSON_GetObjectItem(root, "outcome"), "case_count"),
                CASES_MAX + 1);
        char *more = cJSON_PrintUnformatted(root);
        assert_rejected(more, arrays[a]);
        free(more);
        cJSON_Delete(root);
        free(line);
    }
    char *line = short_line(PROTOCOL_RESULT);
    cJSON *root = cJSON_Parse(line);
    cJSON *samples =
        cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(root, "cases"), 0), "samples");
    while (cJSON_GetArraySize(samples) <= SAMPLES_MAX)
        cJSON_AddItemToArray(samples, cJSON_CreateNumber(1));
    char *more = cJSON_PrintUnformatted(root);
    assert_rejected(more, "there are too many samples");
    free(more);
    cJSON_Delete(root);
    free(line);
}

/* The fuzzer's seeds are valid messages. */
static void seeds_are_read(void **state) {
    (void)state;
    glob_t seeds;
    assert_int_equal(glob("tests/fuzz/seeds/protocol/*.json", 0, NULL, &seeds), 0);
    for (size_t s = 0; s < seeds.gl_pathc; s++) {
        struct error error = {0};
        char *line = path_read_file(seeds.gl_pathv[s], 1 << 20, NULL, &error);
        if (line == NULL || protocol_read(line, &message, &error) < 0)
            fail_msg("%s: %s", seeds.gl_pathv[s], error.text);
        protocol_message_release(&message);
        free(line);
    }
    globfree(&seeds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_round_trip),
        cmocka_unit_test(baseline_round_trips),
        cmocka_unit_test(results_round_trip_bit_for_bit),
        cmocka_unit_test(opponents_round_trip),
        cmocka_unit_test(champions_round_trip),
        cmocka_unit_test(devices_round_trip),
        cmocka_unit_test(starts_round_trip),
        cmocka_unit_test(images_round_trip),
        cmocka_unit_test(failures_round_trip),
        cmocka_unit_test(non_finite_numbers_become_zero),
        cmocka_unit_test(weights_beyond_a_config_s_are_rejected),
        cmocka_unit_test(truncated_message_is_rejected),
        cmocka_unit_test(two_messages_on_a_line_are_rejected),
        cmocka_unit_test(values_of_another_type_are_rejected),
        cmocka_unit_test(values_out_of_range_are_rejected),
        cmocka_unit_test(missing_members_are_rejected),
        cmocka_unit_test(oversized_arrays_are_rejected),
        cmocka_unit_test(seeds_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
