/* template: macros: the source gets numbers that depend on the genome, the specialised dimensions
   and the device, and on nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "template/example.h"

/* Of two variants. */
static const struct shape shapes[2] = {{{1000, 4, 0}}, {{10, 4, 7}}};
static const struct template_setting setting = {
    .device = &example_device, .smem_limit = 49152, .cases = shapes, .case_count = 2};

static struct template *load_macros_for(const struct device_info *device, const char *macros,
                                        struct error *error) {
    struct template_setting of_device = setting;
    of_device.device = device;
    char json[sizeof example_json + 1024];
    const char *at = strstr(example_json, "\"constraints\"");
    snprintf(json, sizeof json, "%.*s\"macros\": { %s }, %s", (int)(at - example_json),
             example_json, macros, at);
    example_put(&example, "example/template.json", json);
    return template_load(example.folder, &of_device, error);
}

static struct template *load_macros(const char *macros, struct error *error) {
    return load_macros_for(&example_device, macros, error);
}

static void macros_are_defined(void **state) {
    (void)state;
    static const struct {
        const char *genome;
        int variant;
        const char *expected;
    } rows[] = {
        {"THREADS=32,ORDER=row,SPLIT=2", 0,
         "#define KIND 0\n#define SMS 132\n#define HALF (-16)\n#define QUARTER (-8)\n#define KINDS "
         "2\n"},
        {"THREADS=128", 1,
         "#define KIND 7\n#define SMS 132\n#define HALF (-64)\n#define QUARTER (-32)\n#define "
         "KINDS "
         "8\n"},
    };
    struct error error = {0};
    struct template *template =
        load_macros("\"SMS\": \"SM_COUNT\", \"HALF\": \"-THREADS / 2\", "
                    "\"QUARTER\": \"HALF / 2\", \"KINDS\": \"KIND + SPLIT\"",
                    &error);
    if (template == NULL)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct genome genome;
        assert_int_equal(genome_parse(&genome, template->space, rows[i].genome, &error), 0);
        char *macros = template_macros(template, &genome, rows[i].variant, &error);
        char *source = template_source(template, &genome, rows[i].variant, &error);
        const char *found = macros != NULL ? strstr(macros, "#define KIND ") : NULL;
        assert_non_null(found);
        assert_string_equal(found, rows[i].expected);
        assert_memory_equal(source, macros, strlen(macros));
        free(macros);
        free(source);
    }
    template_free(template);
}

/* How many clusters run at once; as many as there are SMs for where the device does not say. */
static void clusters_of_the_device(void **state) {
    (void)state;
    struct device_info gpcs = example_device;
    gpcs.clusters_of_4 = 30, gpcs.clusters_of_8 = 15;
    const struct {
        const struct device_info *device;
        const char *expected;
    } rows[] = {{&example_device, "#define TWO 66\n#define FOUR 33\n#define EIGHT 16\n"},
                {&gpcs, "#define TWO 66\n#define FOUR 30\n#define EIGHT 15\n"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        struct genome genome;
        struct template *template =
            load_macros_for(rows[i].device,
                            "\"TWO\": \"CLUSTERS_OF_2\", \"FOUR\": \"CLUSTERS_OF_4\", "
                            "\"EIGHT\": \"CLUSTERS_OF_8\"",
                            &error);
        assert_non_null(template);
        assert_int_equal(genome_parse(&genome, template->space, "THREADS=128", &error), 0);
        char *macros = template_macros(template, &genome, 0, &error);
        assert_non_null(strstr(macros, rows[i].expected));
        free(macros);
        template_free(template);
    }
}

/* A macro that has no value makes the genome invalid, as any derived quantity does. */
static void a_value_is_needed(void **state) {
    (void)state;
    struct error error = {0};
    struct problem problem;
    struct genome genome;
    struct template *template = load_macros("\"PER\": \"100 / (THREADS - 32)\"", &error);
    assert_non_null(template);
    assert_int_equal(genome_parse(&genome, template->space, "THREADS=32", &error), 0);
    assert_false(space_check(template->space, &genome, &problem));
    assert_non_null(strstr(problem.text, "PER: division by zero"));
    assert_null(template_source(template, &genome, 0, &error));
    assert_non_null(strstr(error.text, "PER: division by zero"));
    template_free(template);
}

static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *macros, *message;
    } rows[] = {
        {"\"ROWS\": \"M * 2\"",
         "13: macros.ROWS: depends on M, a run-time argument, so that the source cannot have it: "
         "add M to \"specialised\", or pass the value as an argument"},
        {"\"BLOCKS\": \"BLOCKS\"", "13: macros.BLOCKS: depends on N, a run-time argument"},
        {"\"A\": \"SM_COUNT + BLOCKS\"", "13: macros.A: depends on N, a run-time argument"},
        {"\"THREADS\": \"64\"", "13: macros.THREADS: 'THREADS' is declared twice"},
        {"\"BLOCKS\": \"64\"", "13: macros.BLOCKS: 'BLOCKS' is declared twice"},
        {"\"A B\": \"64\"", "13: macros.A B: 'A B' is not a name"},
        {"\"A\": \"GAIN\"", "13: macros.A: GAIN is a real number"},
        {"\"A\": \"THREADS +\"", "13: macros.A: column 10: "},
        {"\"ORDER_COL\": \"1\"",
         "template.json: ORDER_COL is a macro, and the source would get another macro of that name "
         "for a gene and its value: rename one"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        if (load_macros(rows[i].macros, &error) != NULL)
            fail_msg("loaded: %s", rows[i].macros);
        if (strstr(error.text, rows[i].message) == NULL)
            fail_msg("for %s\n  expected: %s\n  actual:   %s", rows[i].macros, rows[i].message,
                     error.text);
    }
    char many[1024] = "";
    struct error error = {0};
    for (int i = 0; i <= MACROS_MAX; i++)
        sprintf(many + strlen(many), "%s\"A%d\": \"1\"", i > 0 ? ", " : "", i);
    assert_null(load_macros(many, &error));
    assert_non_null(strstr(error.text, "macros.A32: more than 32 macros"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(macros_are_defined, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(clusters_of_the_device, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(a_value_is_needed, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(mistakes, example_setup, example_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
