/* config: every key, and the error message of each mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "config/config.h"

static const char folder[] = "templates/softmax_rows";

static const struct device_info device = {
    .compute_capability = 89,
    .sm_count = 58,
    .registers_per_sm = 65536,
    .threads_per_sm = 1536,
};

static struct config *load(const char *text) {
    struct error error = {0};
    struct config *config = config_from_text("c.json", text, folder, &error);
    if (config == NULL)
        fail_msg("%s", error.text);
    return config;
}

static void defaults(void **state) {
    (void)state;
    static const char text[] =
        "{ \"template\": \"softmax_rows\", \"cases\": [{ \"ROWS\": 2, \"COLS\": 3 }] }";
    struct config *config = load(text);
    assert_string_equal(config->path, "c.json");
    assert_string_equal(config->text, text);
    assert_string_equal(config->template_folder, folder);
    assert_int_equal(config->objective, OBJECTIVE_JOINT);
    assert_int_equal(config->case_count, 1);
    assert_int_equal(config->cases[0].values[0], 2);
    assert_int_equal(config->cases[0].values[1], 3);
    assert_int_equal(config->cases[0].values[2], 0); /* default of F32 */
    assert_int_equal(config->smem_limit_bytes, 49152);
    assert_true(config->limited_range);
    assert_int_equal(config->held_out_count, 0);
    assert_int_equal(config->sanitize_every, 0);
    assert_false(config->keep_profiles);
    assert_true(config->share_goals);
    assert_true(config->goals_by_gain);
    assert_string_equal(config->learn_from, "index");
    assert_int_equal(config->restriction_count, 0);
    assert_string_equal(config->device, "auto");
    assert_int_equal(config->seed, 1);
    assert_int_equal(config->trials, 0);
    assert_true(config->seconds == 0);
    assert_string_equal(config->strategy, "auto");
    assert_int_equal(config->population, 24);
    assert_int_equal(config->initial, 32);
    assert_true(config->exploration == 0.1);
    assert_int_equal(config->timing.input_sets, 4);
    assert_int_equal(config->timing.launches, 20);
    assert_int_equal(config->timing.samples, 50);
    assert_string_equal(config->evolve.proposer, "");
    assert_int_equal(config->evolve.strategy, EVOLVE_FULL);
    assert_int_equal(config->evolve.tune, 12);
    assert_int_equal(config->evolve.ahead, 1);
    assert_int_equal(config->timing.race_samples, 5);
    assert_true(config->timing.race_margin == 0.25);
    assert_true(config->timing.warmup_ms == 5);
    assert_int_equal(config->timing.placements, 5);
    assert_int_equal(config->timing.inputs, 2);
    config_free(config);
}

static void every_key(void **state) {
    (void)state;
    struct config *config = load(
        "{ \"about\": \"x\", \"template\": \"softmax_rows\", \"objective\": \"per_case\",\n"
        "\"cases\": [{ \"ROWS\": 2, \"COLS\": 3 }, { \"ROWS\": 2, \"COLS\": 3, \"F32\": 1 }],\n"
        "\"genes\": { \"THREADS\": [64, 128] }, \"limits\": { \"smem_bytes\": 2048,\n"
        "  \"limited_range\": false }, \"held_out\": [{ \"ROWS\": 5, \"COLS\": 7 }],\n"
        "\"budget\": { \"trials\": 7, \"time\": \"1h30m\", \"patience\": 9, \"target_us\": 2.5, "
        "\"target_ratio\": 1.5 },\n"
        "\"search\": { \"strategy\": \"random\", \"population\": 2, \"initial\": 3,\n"
        "  \"exploration\": 0.5, \"sanitize_every\": 9, \"keep_profiles\": true,\n"
        "  \"share_goals\": false, \"goals_by_gain\": false, \"learn_from\": \"none\" },\n"
        "\"timing\": { \"input_sets\": 1, \"launches\": 2, \"samples\": 3, \"race_samples\": 4,\n"
        "  \"race_margin\": 0.5, \"warmup_ms\": 6, \"inputs\": 7, \"energy_ms\": 450 },\n"
        "\"evolve\": { \"proposer\": \"p 1\", \"strategy\": \"insight\", \"proposals\": 45,\n"
        "  \"tune\": 0, \"ahead\": 16, \"timeout\": \"2m\" },\n"
        "\"seed\": \"9223372036854775807\", \"device\": \"cuda:3\" }");
    assert_string_equal(config->evolve.proposer, "p 1");
    assert_int_equal(config->evolve.strategy, EVOLVE_INSIGHT);
    assert_int_equal(config->evolve.proposals, 45);
    assert_int_equal(config->evolve.tune, 0);
    assert_int_equal(config->evolve.ahead, 16);
    assert_true(config->evolve.timeout_s == 120);
    assert_int_equal(config->objective, OBJECTIVE_PER_CASE);
    assert_int_equal(config->case_count, 2);
    assert_int_equal(config->cases[1].values[2], 1);
    assert_int_equal(config->restriction_count, 1);
    assert_string_equal(config->restrictions[0].gene, "THREADS");
    assert_int_equal(config->restrictions[0].count, 2);
    assert_string_equal(config->restrictions[0].values[1], "128");
    assert_int_equal(config->smem_limit_bytes, 2048);
    assert_false(config->limited_range);
    assert_int_equal(config->sanitize_every, 9);
    assert_true(config->keep_profiles);
    assert_false(config->share_goals);
    assert_false(config->goals_by_gain);
    assert_string_equal(config->learn_from, "none");
    assert_int_equal(config->held_out_count, 1);
    assert_int_equal(config->held_out[0].values[1], 7);
    assert_int_equal(config->trials, 7);
    assert_true(config->seconds == 5400);
    assert_string_equal(config->strategy, "random");
    assert_int_equal(config->population, 2);
    assert_int_equal(config->initial, 3);
    assert_true(config->exploration == 0.5);
    assert_int_equal(config->timing.input_sets, 1);
    assert_int_equal(config->timing.launches, 2);
    assert_int_equal(config->timing.samples, 3);
    assert_int_equal(config->timing.race_samples, 4);
    assert_true(config->timing.race_margin == 0.5);
    assert_true(config->timing.warmup_ms == 6);
    assert_int_equal(config->timing.inputs, 7);
    assert_true(config->timing.energy_ms == 450);
    assert_int_equal(config->minimise, MINIMISED_LATENCY);
    assert_int_equal(config->patience, 9);
    assert_true(config->target_us == 2.5);
    assert_true(config->target_ratio == 1.5);
    assert_true(config->seed == INT64_MAX);
    assert_string_equal(config->device, "cuda:3");
    config_free(config);
}

#define CASE       "\"cases\": [{ \"ROWS\": 2, \"COLS\": 3 }]"
#define WITH(more) "{ \"template\": \"softmax_rows\", " CASE ",\n" more " }"

static void what_is_minimised(void **state) {
    (void)state;
    struct config *config = load(WITH("\"minimise\": \"energy_delay\""));
    assert_int_equal(config->minimise, MINIMISED_ENERGY_DELAY);
    assert_true(config->timing.energy_ms == 300);
    config_free(config);
}

static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"[]", "c.json:1: must be an object: { ... }"},
        {"{ \"template\": \"softmax_rows\" }", "c.json:1: the key \"cases\" is missing"},
        {"{ " CASE " }", "c.json:1: the key \"template\" is missing"},
        {"{ \"template\": 3, " CASE " }", "c.json:1: template: must be a string in double quotes"},
        {WITH("\"bugdet\": {}"), "c.json:2: bugdet: unknown key; did you mean \"budget\"?"},
        {"{ \"template\": \"softmax_rows\", \"cases\": [] }",
         "c.json:1: cases: must have 1 to 64 cases"},
        {"{ \"template\": \"softmax_rows\", \"cases\": {} }",
         "c.json:1: cases: must be a list: [ ... ]"},
        {"{ \"template\": \"softmax_rows\", \"cases\": [3] }",
         "c.json:1: cases[0]: must be an object: { ... }"},
        {"{ \"template\": \"softmax_rows\", \"cases\": [\n{ \"ROWS\": 2, \"COLS\": 3 },\n{ "
         "\"ROWS\": 2 }] }",
         "c.json:3: cases[1]: COLS is missing (elements per row)"},
        {"{ \"template\": \"softmax_rows\", \"cases\": [{ \"ROWS\": 2, \"COLS\": 3, \"f32\": 1 }] "
         "}",
         "c.json:1: cases[0].f32: unknown key; did you mean \"F32\"?"},
        {"{ \"template\": \"softmax_rows\", \"cases\": [{ \"ROWS\": 0, \"COLS\": 3 }] }",
         "c.json:1: cases[0].ROWS: ROWS is 0, but must lie between 1 and 1048576"},
        {"{ \"template\": \"softmax_rows\", \"cases\": [{ \"ROWS\": 1, \"COLS\": 3, \"F32\": 2 }] "
         "}",
         "c.json:1: cases[0].F32: F32 is 2, but must be one of 0, 1"},
        {"{ \"template\": \"softmax_rows\", \"cases\": [{ \"ROWS\": 1.5, \"COLS\": 3 }] }",
         "c.json:1: cases[0].ROWS: must be a whole number"},
        {"{ \"template\": \"softmax_rows\", \"cases\": [{ \"ROWS\": 2, \"COLS\": 3 },\n"
         "{ \"COLS\": 3, \"ROWS\": 2, \"F32\": 0 }] }",
         "c.json:2: cases[1]: is the same as cases[0]"},
        {WITH("\"objective\": \"jiont\""),
         "c.json:2: objective: must be \"joint\" or \"per_case\""},
        {WITH("\"objective\": \"a rather long word\""),
         "c.json:2: objective: must be shorter than 16 characters"},
        {WITH("\"minimise\": \"heat\""),
         "c.json:2: minimise: must be \"latency\", \"energy\", \"energy_delay\" or \"pareto\""},
        {WITH("\"minimise\": \"energy\", \"budget\": { \"target_us\": 5 }"),
         "c.json:2: minimise: goes without budget.target_us and budget.target_ratio, which are of "
         "latency: remove them"},
        {WITH("\"minimise\": \"energy\", \"timing\": { \"energy_ms\": 0 }"),
         "c.json:2: minimise: needs a timing.energy_ms of more than 0"},
        {WITH("\"limits\": { \"smem\": 1 }"),
         "c.json:2: limits.smem: unknown key; did you mean \"smem_bytes\"?"},
        {WITH("\"held_out\": []"), "c.json:2: held_out: must have 1 to 64 cases"},
        {WITH("\"held_out\": [{ \"ROWS\": 2, \"COLS\": 3, \"F32\": 1 }]"),
         "c.json:2: held_out[0]: has specialised dimensions that match no case, so no kernel is "
         "compiled for it"},
        {WITH("\"limits\": { \"limited_range\": 1 }"),
         "c.json:2: limits.limited_range: must be true or false"},
        {WITH("\"limits\": { \"smem_bytes\": 12 }"),
         "c.json:2: limits.smem_bytes: must lie between 1024 and 1048576"},
        {WITH("\"limits\": []"), "c.json:2: limits: must be an object: { ... }"},
        {WITH("\"budget\": { \"trials\": 0 }"), "c.json:2: budget.trials: must be at least 1"},
        {WITH("\"budget\": { \"patience\": 0 }"), "c.json:2: budget.patience: must be at least 1"},
        {WITH("\"budget\": { \"target_us\": 0 }"),
         "c.json:2: budget.target_us: must be more than 0"},
        {WITH("\"budget\": { \"time\": \"soon\" }"),
         "c.json:2: budget.time: must be a duration: 90s, 15m, 8h or hh:mm:ss"},
        {WITH("\"budget\": { \"time\": 60 }"),
         "c.json:2: budget.time: must be a string in double quotes"},
        {WITH("\"budget\": { \"trial\": 1 }"),
         "c.json:2: budget.trial: unknown key; did you mean \"trials\"?"},
        {WITH("\"search\": { \"population\": 1 }"),
         "c.json:2: search.population: must lie between 2 and 4096"},
        {WITH("\"search\": { \"exploration\": 1.5 }"),
         "c.json:2: search.exploration: must lie between 0 and 1"},
        {WITH("\"search\": { \"stratgy\": \"x\" }"),
         "c.json:2: search.stratgy: unknown key; did you mean \"strategy\"?"},
        {WITH("\"timing\": { \"samples\": 1000 }"),
         "c.json:2: timing.samples: must lie between 3 and 256"},
        {WITH("\"timing\": { \"samples\": \"many\" }"),
         "c.json:2: timing.samples: must be a whole number"},
        {WITH("\"seed\": -0.5"), "c.json:2: seed: must be a whole number"},
        {WITH("\"device\": 3"), "c.json:2: device: must be a string in double quotes"},
        {WITH("\"genes\": []"), "c.json:2: genes: must be an object: { ... }"},
        {WITH("\"genes\": { \"THREADS\": 64 }"),
         "c.json:2: genes.THREADS: must list the allowed values of a gene"},
        {WITH("\"genes\": { \"THREADS\": [] }"),
         "c.json:2: genes.THREADS: must list the allowed values of a gene"},
        {WITH("\"genes\": { \"THREADS\": [true] }"),
         "c.json:2: genes.THREADS[0]: must be a whole number"},
        {WITH("\"seed\": 1, \"seed\": 2"), "c.json:2: seed: duplicate key: remove one"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        struct config *config = config_from_text("c.json", rows[i].text, folder, &error);
        if (config != NULL)
            fail_msg("accepted: %s", rows[i].text);
        assert_string_equal(error.text, rows[i].message);
        assert_int_equal(error.kind, ERROR_INPUT);
    }
}

static void mistakes_in_genes_come_to_light_with_the_template(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {WITH("\"genes\": {\n\"THREAD\": [64] }"),
         "c.json:3: genes.THREAD: there is no gene THREAD in softmax_rows; did you mean THREADS?"},
        {WITH("\"genes\": { \"VECTOR\": [3] }"),
         "c.json:2: genes.VECTOR: gene VECTOR of softmax_rows has no value 3: `evotile space` "
         "lists "
         "them"},
        {WITH("\"genes\": { \"VECTOR\": [\"two\"] }"),
         "c.json:2: genes.VECTOR: gene VECTOR of softmax_rows has no value two: `evotile space` "
         "lists them"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        struct config *config = load(rows[i].text);
        assert_null(config_load_template(config, 0, &device, &error));
        assert_string_equal(error.text, rows[i].message);
        assert_int_equal(error.kind, ERROR_INPUT);
        config_free(config);
    }
}

static void weights(void **state) {
    (void)state;
#define CASES(objective, first, second, more)                                                      \
    "{ \"template\": \"softmax_rows\", \"objective\": \"" objective "\", \"cases\": [\n"           \
    "{ \"ROWS\": 2, \"COLS\": 3" first " },\n{ \"ROWS\": 4, \"COLS\": 3" second " }]" more " }"
    static const struct {
        const char *text;
        double first, second;
        bool scored;
    } rows[] = {
        {CASES("joint", "", "", ""), 1, 1, false},
        {CASES("joint", ", \"weight\": 2.5", "", ""), 2.5, 1, true},
        {CASES("joint", ", \"weight\": 1", ", \"weight\": 1e6", ""), 1, 1e6, true},
        {CASES("per_case", "", ", \"weight\": 1e-6", ""), 1, 1e-6, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct config *config = load(rows[i].text);
        assert_true(config->weights[0] == rows[i].first && config->weights[1] == rows[i].second);
        assert_ptr_equal(config_weights(config), rows[i].scored ? config->weights : NULL);
        config_free(config);
    }
    static const char *const mistakes[][2] = {
        {CASES("joint", ", \"weight\": 0", "", ""),
         "c.json:2: cases[0].weight: must lie between 1e-06 and 1e+06"},
        {CASES("joint", "", ", \"weight\": -1", ""),
         "c.json:3: cases[1].weight: must lie between 1e-06 and 1e+06"},
        {CASES("joint", "", ", \"weight\": 1.1e6", ""),
         "c.json:3: cases[1].weight: must lie between 1e-06 and 1e+06"},
        {CASES("joint", "", ", \"weight\": 1e999", ""),
         "c.json:3: cases[1].weight: must be a number"},
        {CASES("joint", "", ", \"weight\": NaN", ""), "c.json:3: "},
        {CASES("joint", "", ", \"weight\": \"2\"", ""),
         "c.json:3: cases[1].weight: must be a number"},
        {CASES("joint", "", ", \"wieght\": 2", ""),
         "c.json:3: cases[1].wieght: unknown key; did you mean \"weight\"?"},
        {"{ \"template\": \"softmax_rows\", \"cases\": [{ \"ROWS\": 2, \"COLS\": 3 },\n"
         "{ \"ROWS\": 2, \"COLS\": 3, \"weight\": 2 }] }",
         "c.json:2: cases[1]: is the same as cases[0]"},
        {CASES("joint", "", "", ", \"held_out\": [\n{ \"ROWS\": 8, \"COLS\": 3, \"weight\": 2 }]"),
         "c.json:4: held_out[0]"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct error error = {0};
        assert_null(config_from_text("c.json", mistakes[i][0], folder, &error));
        if (strncmp(error.text, mistakes[i][1], strlen(mistakes[i][1])) != 0)
            fail_msg("%s", error.text);
        assert_null(strchr(error.text, '\n'));
    }
#undef CASES
}

static void too_many_cases(void **state) {
    (void)state;
    char text[8192] = "{ \"template\": \"softmax_rows\", \"cases\": [";
    for (int i = 1; i <= CASES_MAX + 1; i++)
        sprintf(text + strlen(text), "%s{ \"ROWS\": %d, \"COLS\": 1 }", i > 1 ? "," : "", i);
    strcat(text, "] }");
    struct error error = {0};
    assert_null(config_from_text("c.json", text, folder, &error));
    assert_string_equal(error.text, "c.json:1: cases: must have 1 to 64 cases");
}

static void missing_things(void **state) {
    (void)state;
    struct error error = {0};
    assert_null(config_load("nowhere.json", NULL, &error));
    assert_string_equal(error.text, "cannot read nowhere.json: No such file or directory");
    assert_null(config_from_text("c.json", WITH("\"seed\": 1"), "templates/none", &error));
    assert_non_null(strstr(error.text, "templates/none/template.json"));
    char path[] = "/tmp/evotile-config-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(path_write_file(path, "{\n\"template\": \"none\" }", 22, &error), 0);
    error = (struct error){0};
    assert_null(config_load(path, "templates", &error));
    assert_int_equal(error.kind, ERROR_INPUT);
    assert_non_null(strstr(error.text, ":2: template: no template \"none\" in templates/"));
    remove(path);
}

static void goals(void **state) {
    (void)state;
    char name[CASE_NAME_SIZE];
    int first;
    int count;
    static const char *const texts[] = {
        "{ \"template\": \"softmax_rows\", \"objective\": \"per_case\", \"cases\": "
        "[{ \"ROWS\": 2, \"COLS\": 3 }, { \"ROWS\": 2, \"COLS\": 3, \"F32\": 1 }] }",
        "{ \"template\": \"softmax_rows\", \"cases\": "
        "[{ \"ROWS\": 2, \"COLS\": 3 }, { \"ROWS\": 2, \"COLS\": 3, \"F32\": 1 }] }",
    };
    struct config *config = load(texts[0]);
    assert_int_equal(config_goal_count(config), 2);
    config_goal_cases(config, 1, &first, &count);
    assert_int_equal(first, 1);
    assert_int_equal(count, 1);
    config_goal_name(config, 0, name);
    assert_string_equal(name, "ROWS=2,COLS=3");
    config_goal_name(config, 1, name);
    assert_string_equal(name, "ROWS=2,COLS=3,F32=1");
    struct error error = {0};
    struct template *template = config_load_template(config, 1, &device, &error);
    assert_non_null(template);
    assert_int_equal(template->case_count, 1);
    assert_int_equal(template_dimension(template, &template->cases[0], "F32", -1), 1);
    struct template_setting setting = config_setting(config, 1, &device);
    struct template *probes = template_load_probes(template, &setting, &error);
    assert_non_null(probes);
    for (int c = 0; c < probes->case_count; c++)
        assert_int_equal(template_dimension(probes, &probes->cases[c], "F32", -1), 1);
    template_free(probes);
    template_free(template);
    config_free(config);

    config = load(texts[1]);
    assert_int_equal(config_goal_count(config), 1);
    config_goal_cases(config, 0, &first, &count);
    assert_int_equal(first, 0);
    assert_int_equal(count, 2);
    config_goal_name(config, 0, name);
    assert_string_equal(name, "all 2 cases");
    config_free(config);
}

/* Sums in half precision have a limited range, so they are forbidden. */
static void a_config_forbids_limited_ranges(void **state) {
    (void)state;
    static const char *const limits[] = {"", ", \"limits\": { \"limited_range\": false }"};
    for (int forbidden = 0; forbidden < 2; forbidden++) {
        struct error error = {0};
        struct problem problem;
        struct genome genome;
        char text[512];
        snprintf(text, sizeof text,
                 "{ \"template\": \"attention_fwd\", \"cases\": [{ \"B\": 1, \"H\": 1, \"S\": 64, "
                 "\"D\": 64 }],\n\"held_out\": [{ \"B\": 2, \"H\": 1, \"S\": 99, \"D\": 64 }]%s }",
                 limits[forbidden]);
        struct config *config = config_from_text("c.json", text, "templates/attention_fwd", &error);
        assert_non_null(config);
        struct template *template = config_load_template(config, 0, &device, &error);
        assert_non_null(template);
        assert_int_equal(genome_parse(&genome, template->space, "ACC_PV=f16", &error), 0);
        assert_int_equal(space_check(template->space, &genome, &problem), !forbidden);
        if (forbidden)
            assert_non_null(strstr(problem.text, "forbids genomes of a limited input range"));
        const struct template_setting setting = config_held_out_setting(config, 0, &device);
        struct template *held_out = template_load(config->template_folder, &setting, &error);
        assert_non_null(held_out);
        assert_int_equal(held_out->case_count, 1);
        assert_int_equal(template_dimension(held_out, &held_out->cases[0], "S", 0), 99);
        template_free(held_out);
        template_free(template);
        config_free(config);
    }
}

static void durations(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double seconds; /* 0: an error is expected */
    } rows[] = {
        {"90s", 90},     {"15m", 900},  {"8h", 28800},      {"2d", 172800},     {"1h30m", 5400},
        {"1.5h", 5400},  {"0.5s", 0.5}, {"01:30:00", 5400}, {"00:00:05", 5},    {"", 0},
        {"90", 0},       {"s", 0},      {"-5s", 0},         {"0s", 0},          {"1e3s", 0},
        {"0x10s", 0},    {"1e999s", 0}, {"1:2", 0},         {"1:2:3:4", 0},     {"1:2:", 0},
        {"00:00:00", 0}, {" 5s", 0},    {"5 s", 0},         {"5S", 0},          {"1h 30m", 0},
        {"infs", 0},     {"nans", 0},   {"1..5s", 0},       {"99999999999d", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        double seconds = 0;
        int result = config_parse_duration(rows[i].text, &seconds, &error);
        if (seconds != rows[i].seconds || (result == 0) != (rows[i].seconds > 0))
            fail_msg("\"%s\" gives %d, %g s", rows[i].text, result, seconds);
        assert_int_equal(error.kind, result == 0 ? ERROR_NONE : ERROR_INPUT);
    }
}

static void shipped_configs_are_valid(void **state) {
    (void)state;
    static const char *const names[] = {"demo",
                                        "attention_l4",
                                        "attention_h200",
                                        "attention_grid",
                                        "softmax",
                                        "attention_random",
                                        "attention_hopper",
                                        "attention_hopper_random",
                                        "attention_decode_random"};
    static const char *const for_hopper = "attention_hopper";
    struct device_info devices[2] = {device, device};
    devices[1].compute_capability = 90;
    devices[1].sm_count = 132;
    devices[1].threads_per_sm = 2048;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int d = strncmp(names[i], for_hopper, strlen(for_hopper)) == 0; d < 2; d++) {
            struct error error = {0};
            char path[PATH_SIZE];
            snprintf(path, sizeof path, "configs/%s.json", names[i]);
            struct config *config = config_load(path, "templates", &error);
            if (config == NULL)
                fail_msg("%s", error.text);
            int goals = config_goal_count(config);
            for (int g = 0; g < goals; g++) {
                if (g > 0 && g < goals - 1 && getenv("EVOTILE_LONG") == NULL)
                    continue; /* the first and the last stand for all */
                struct template *template = config_load_template(config, g, &devices[d], &error);
                if (template == NULL)
                    fail_msg("%s", error.text);
                struct problem why = {0};
                if (space_is_empty(template->space, &why))
                    fail_msg("%s, goal %d: %s", path, g, why.text);
                template_free(template);
            }
            config_free(config);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(every_key),
        cmocka_unit_test(what_is_minimised),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(mistakes_in_genes_come_to_light_with_the_template),
        cmocka_unit_test(weights),
        cmocka_unit_test(too_many_cases),
        cmocka_unit_test(missing_things),
        cmocka_unit_test(goals),
        cmocka_unit_test(a_config_forbids_limited_ranges),
        cmocka_unit_test(durations),
        cmocka_unit_test(shipped_configs_are_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
