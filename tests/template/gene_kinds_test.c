/* template: genes whose values are texts of the source or real numbers, and launches that name a
   kernel by a C++ name expression. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "template/example.h"

/* Loads the example with one piece replaced. */
static struct template *load_with(const char *piece, const char *other, struct error *error) {
    example_replace(piece, other);
    return template_load(example.folder, &example_setting, error);
}

static struct template *must_load(const char *piece, const char *other) {
    struct error error = {0};
    struct template *template = load_with(piece, other, &error);
    if (template == NULL)
        fail_msg("%s", error.text);
    return template;
}

/* `added` precedes the other genes. */
#define GENES(added) "\"genes\": {", "\"genes\": { " added ", "

static void macros_of_texts_and_reals(void **state) {
    (void)state;
    static const struct {
        const char *genome, *expected;
    } rows[] = {
        {"", "#define TYPE float\n#define WORD unsigned int\n#define REAL 0.5\n"},
        {"TYPE=float2,WORD=none,REAL=-2",
         "#define TYPE float2\n#define WORD \n#define REAL (-2.0)\n"},
        {"REAL=1e3", "#define TYPE float\n#define WORD unsigned int\n#define REAL 1000.0\n"},
        {"REAL=1.25e-07", "#define TYPE float\n#define WORD unsigned int\n#define REAL 1.25e-07\n"},
    };
    struct error error = {0};
    struct template *template = must_load(
        "\"genes\": {",
        "\"genes\": { \"TYPE\": { \"values\": [\"float\", \"float2\"], \"text\": true, "
        "\"default\": \"float\" }, \"WORD\": { \"values\": [\"none\", \"wide\"], \"text\": [\"\", "
        "\"unsigned int\"], \"default\": \"wide\" }, \"REAL\": { \"values\": [-2, 1.25e-7, 0.5, "
        "1000], \"real\": true, \"default\": 0.5 }, ");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct genome genome;
        assert_int_equal(genome_parse(&genome, template->space, rows[i].genome, &error), 0);
        char *macros = template_macros(template, &genome, 0, &error);
        assert_non_null(macros);
        if (strncmp(macros, rows[i].expected, strlen(rows[i].expected)) != 0)
            fail_msg("%s gives\n%s", rows[i].genome, macros);
        free(macros);
    }
    template_free(template);
}

/* A genome's text has each value in one spelling, and reads any. */
static void texts_of_genomes(void **state) {
    (void)state;
    static const struct {
        const char *given, *printed;
    } rows[] = {
        {"REAL=0.1", "TYPE=float,REAL=0.1,"},
        {"REAL=1e-1", "TYPE=float,REAL=0.1,"},
        {"REAL=.00125", "TYPE=float,REAL=0.00125,"},
        {"REAL=1.25e-3", "TYPE=float,REAL=0.00125,"},
        {"REAL=0.3333333333333333", "TYPE=float,REAL=0.3333333333333333,"},
    };
    struct error error = {0};
    struct genome genome;
    struct template *template =
        must_load(GENES("\"TYPE\": { \"values\": [\"float\", \"double\"], \"text\": true, "
                        "\"default\": \"float\" }, \"REAL\": { \"real\": true, \"values\": "
                        "[0.00125, 0.1, 0.3333333333333333], \"default\": 0.1 }"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[GENOME_TEXT_SIZE];
        assert_int_equal(genome_parse(&genome, template->space, rows[i].given, &error), 0);
        genome_print(&genome, template->space, text);
        assert_memory_equal(text, rows[i].printed, strlen(rows[i].printed));
    }
    assert_int_equal(genome_parse(&genome, template->space, "REAL=0.10001", &error), -1);
    assert_string_equal(
        error.text, "gene REAL has no value '0.10001'; it has 0.00125, 0.1, 0.3333333333333333");
    assert_int_equal(genome_parse(&genome, template->space, "REAL=0.1x", &error), -1);
    assert_int_equal(genome_parse(&genome, template->space, "REAL=", &error), -1);
    template_free(template);
}

/* The words of a text gene are labels: constraints read them. */
static void expressions_read_texts(void **state) {
    (void)state;
    struct error error = {0};
    struct genome genome;
    struct template *template =
        must_load("\"genes\": { \"THREADS\": { \"about\": \"a block\", \"values\": [32, 64, 128], "
                  "\"default\": 64 },",
                  "\"genes\": { \"THREADS\": { \"values\": [32, 64, 128], \"default\": 64, "
                  "\"when\": \"TYPE == float2\" }, \"TYPE\": { \"values\": [\"float\", "
                  "\"float2\"], \"text\": true, \"default\": \"float\" },");
    assert_int_equal(genome_parse(&genome, template->space, "THREADS=32", &error), 0);
    assert_int_equal(genome.value[0], 1);
    assert_int_equal(genome_parse(&genome, template->space, "THREADS=32,TYPE=float2", &error), 0);
    assert_int_equal(genome.value[0], 0);
    template_free(template);
}

/* A config's "genes" and an insight's "favour" may name real numbers. */
static void real_values_elsewhere(void **state) {
    (void)state;
    static struct gene_restriction restriction = {.gene = "REAL", .count = 1, .values = {"1e-1"}};
    struct template_setting only = example_setting;
    struct error error = {0};
    struct genome genome;
    template_free(must_load(
        GENES("\"REAL\": { \"real\": true, \"values\": [0.1, 0.5, 2], \"default\": 0.5 }")));
    only.restrictions = &restriction;
    only.restriction_count = 1;
    struct template *template = template_load(example.folder, &only, &error);
    assert_non_null(template);
    assert_int_equal(genome_parse(&genome, template->space, "REAL=0.1", &error), 0);
    assert_true(space_check(template->space, &genome, NULL));
    assert_int_equal(genome_parse(&genome, template->space, "REAL=2", &error), 0);
    assert_false(space_check(template->space, &genome, NULL));
    template_free(template);
    strcpy(restriction.gene, "THREADS");
    strcpy(restriction.values[0], "64.5");
    assert_null(template_load(example.folder, &only, &error));
    assert_string_equal(error.text,
                        "gene THREADS of example has no value 64.5: `evotile space` lists them");
}

static void name_expressions(void **state) {
    (void)state;
    static const struct {
        const char *genome;
        int count;
        const char *last;
    } rows[] = {
        {"ORDER=col", 1, "ns::twice<THREADS, (1 > 0)>"}, /* SPLIT is 1 */
        {"ORDER=row,SPLIT=2", 2, "sum<float, SPLIT>"},
    };
    struct error error = {0};
    char json[2 * sizeof example_json];
    const char *first = strstr(example_json, "\"twice\""), *second = strstr(first, "\"sum\"");
    snprintf(json, sizeof json, "%.*s\"ns::twice<THREADS, (1 > 0)>\"%.*s\"sum<float, SPLIT>\"%s",
             (int)(first - example_json), example_json, (int)(second - first - 7), first + 7,
             second + 5);
    example_put(&example, "example/template.json", json);
    struct template *template = template_load(example.folder, &example_setting, &error);
    if (template == NULL)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct genome genome;
        struct kernel_list kernels;
        assert_int_equal(genome_parse(&genome, template->space, rows[i].genome, &error), 0);
        assert_int_equal(template_kernels(template, &genome, 0, &kernels, &error), 0);
        assert_int_equal(kernels.count, rows[i].count);
        assert_string_equal(kernels.items[kernels.count - 1], rows[i].last);
    }
    struct kernel_list none;
    launch_list_kernels(&template->reference, &none);
    assert_int_equal(none.count, 0); /* extern "C" */
    template_free(template);
}

static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *piece, *other, *message;
    } rows[] = {
        {"\"values\": [32, 64, 128]", "\"values\": [32, 64.5, 128]",
         "9: genes.THREADS.values[1]: must be a whole number: a gene of real numbers has \"real\": "
         "true"},
        {GENES("\"R\": { \"real\": true, \"values\": [0.5, 0.25], \"default\": 0.5 }"),
         "9: genes.R: the values of gene R are not in ascending order"},
        {GENES("\"R\": { \"real\": true, \"values\": [0.5, 1e999], \"default\": 0.5 }"),
         "9: genes.R.values[1]: must be a number"},
        {GENES("\"R\": { \"real\": true, \"values\": [\"a\"], \"default\": \"a\" }"),
         "9: genes.R.values: are words: only numbers are \"real\""},
        {GENES("\"R\": { \"text\": true, \"values\": [1], \"default\": 1 }"),
         "9: genes.R.text: the gene's values are numbers: only words are texts"},
        {GENES("\"R\": { \"text\": [\"x\"], \"values\": [\"a\", \"b\"], \"default\": \"a\" }"),
         "9: genes.R.text: must have as many texts as the gene has values: 2"},
        {GENES("\"R\": { \"text\": true, \"values\": [\"unsigned int\"], \"default\": \"unsigned "
               "int\" }"),
         "9: genes.R.text: \"unsigned int\" cannot be the name of a value in a genome: name the "
         "values by words, and list what the source gets as \"text\": [...]"},
        {GENES("\"R\": { \"text\": [\"int\\n#include </etc/hosts>\"], \"values\": [\"a\"], "
               "\"default\": \"a\" }"),
         "9: genes.R.text[0]: has a line break, a tab, a backslash or a comment: the source gets "
         "it within one line"},
        {GENES("\"R\": { \"text\": [\"int /*\"], \"values\": [\"a\"], \"default\": \"a\" }"),
         "9: genes.R.text[0]: has a line break, a tab, a backslash or a comment: the source gets "
         "it within one line"},
        {"\"kernel\": \"twice\"", "\"kernel\": \"twice<2>\\n#include </etc/hosts>\"",
         "20: launches[0].kernel: '\\n' is part of no kernel's name: write the name of a kernel "
         "that is extern \"C\", or a C++ name expression such as copy<float, TILE>"},
        {"\"kernel\": \"twice\"", "\"kernel\": \"twice<'x'>\"",
         "20: launches[0].kernel: ''' is part of no kernel's name: write the name of a kernel that "
         "is extern \"C\", or a C++ name expression such as copy<float, TILE>"},
        {"\"kernel\": \"twice\"", "\"kernel\": \"twice<(2>\"",
         "20: launches[0].kernel: is no C++ name expression: write one such as copy<float, TILE>, "
         "space::copy<4> or ::copy"},
        {"\"kernel\": \"twice\"", "\"kernel\": \"<2>\"",
         "20: launches[0].kernel: is no C++ name expression: write one such as copy<float, TILE>, "
         "space::copy<4> or ::copy"},
        {"\"kernel\": \"twice\"", "\"kernel\": \"2wice\"",
         "20: launches[0].kernel: \"2wice\" is no name of a kernel"},
        {"\"name\": \"example\"", "\"name\": \"example\", \"objective\": \"operations\"",
         "3: objective: must be \"operations / us\" or \"bytes / us\", which a search makes as "
         "large as it can, or \"us\", which it makes small: write other work as \"operations\""},
        {"\"kernel\": \"twice\"",
         "\"kernel\": \"a12345678901234567890123456789012345678901234567\"",
         "20: launches[0].kernel: a kernel's name has at most 47 letters"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        char expected[sizeof example.folder + 600];
        struct template *template = load_with(rows[i].piece, rows[i].other, &error);
        snprintf(expected, sizeof expected, "%s/template.json:%s", example.folder, rows[i].message);
        if (template != NULL || strcmp(error.text, expected) != 0)
            fail_msg("for %s\n  expected: %s\n  actual:   %s", rows[i].other, expected, error.text);
    }
}

/* The work of a call depends on the genome and the case. */
static void work_of_calls(void **state) {
    (void)state;
    static const struct {
        const char *objective, *genome;
        double work;
    } rows[] = {
        {"us", "THREADS=128", 1},
        {"operations / us", "THREADS=128", 128000},
        {" operations/us ", "THREADS=32", 32000},
        {"bytes / us", "THREADS=32", 2000},
    };
    const char *at = strstr(example_json, "\"operations\": "), *bytes = strstr(at, "\"bytes\": ");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        struct genome genome;
        double work;
        char json[2 * sizeof example_json];
        snprintf(json, sizeof json,
                 "%.*s\"objective\": \"%s\", \"operations\": \"N * THREADS\", \"bytes\": \"2 * "
                 "N\"%s",
                 (int)(at - example_json), example_json, rows[i].objective,
                 bytes + strcspn(bytes, ",}\n"));
        example_put(&example, "example/template.json", json);
        struct template *template = template_load(example.folder, &example_setting, &error);
        if (template == NULL)
            fail_msg("%s", error.text);
        assert_int_equal(genome_parse(&genome, template->space, rows[i].genome, &error), 0);
        assert_int_equal(template_work(template, &genome, 0, &work, &error), 0);
        assert_true(work == rows[i].work);
        template_free(template);
    }
}

/* Every kind of expression refuses a real gene. */
static void no_expression_reads_a_real(void **state) {
    (void)state;
    static const struct {
        const char *piece, *other, *where;
    } rows[] = {
        {"ORDER == row\" } }", "R > 1\" } }", "11: genes.SPLIT.when"},
        {"ceil_div(N, THREADS)", "N + R", "12: derived.BLOCKS"},
        {"BLOCKS <= 100", "R < 1", "13: constraints[0].require"},
        {"\"smem\": \"THREADS * 4\"", "\"smem\": \"R\"", "21: launches[0].smem"},
        {"{ \"i32\": \"N\" }", "{ \"i32\": \"R\" }", "21: launches[0].arguments[3].i32"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        char json[2 * sizeof example_json], expected[1200];
        const char *genes = strstr(example_json, "\"THREADS\": {");
        const char *at = strstr(example_json, rows[i].piece);
        assert_true(genes != NULL && at != NULL && genes < at);
        snprintf(json, sizeof json,
                 "%.*s\"R\": { \"real\": true, \"values\": [0.5], \"default\": 0.5 }, %.*s%s%s",
                 (int)(genes - example_json), example_json, (int)(at - genes), genes, rows[i].other,
                 at + strlen(rows[i].piece));
        example_put(&example, "example/template.json", json);
        struct template *template = template_load(example.folder, &example_setting, &error);
        snprintf(expected, sizeof expected,
                 "%s/template.json:%s: R is a gene of real numbers, which only the source can "
                 "read, as a macro: let a gene of whole numbers stand in the expression, in "
                 "thousandths or as the number of a choice",
                 example.folder, rows[i].where);
        if (template != NULL || strcmp(error.text, expected) != 0)
            fail_msg("for %s\n  expected: %s\n  actual:   %s", rows[i].other, expected, error.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(macros_of_texts_and_reals),  cmocka_unit_test(texts_of_genomes),
        cmocka_unit_test(expressions_read_texts),     cmocka_unit_test(real_values_elsewhere),
        cmocka_unit_test(name_expressions),           cmocka_unit_test(mistakes),
        cmocka_unit_test(no_expression_reads_a_real), cmocka_unit_test(work_of_calls),
    };
    return cmocka_run_group_tests(tests, example_setup, example_teardown);
}
