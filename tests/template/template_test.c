/* template: cases, sources, options, launch plans, probes and the hash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "template/example.h"

/* N=1000, kind 0, gain -1; N=10, M=2, kind 7; N=20, kind 0. */
static const struct shape shapes[3] = {
    {{1000, 4, 0, 0xbf800000}},
    {{10, 2, 7}},
    {{20, 4, 0}},
};
static const struct template_setting all = {
    .device = &example_device, .smem_limit = 49152, .cases = shapes, .case_count = 3};

static struct template *load(const struct template_setting *setting) {
    struct error error = {0};
    struct template *template = template_load(example.folder, setting, &error);
    if (template == NULL)
        fail_msg("%s", error.text);
    return template;
}

static struct genome genome_of(const struct template *template, const char *text) {
    struct genome genome;
    struct error error = {0};
    if (genome_parse(&genome, template->space, text, &error) < 0)
        fail_msg("%s", error.text);
    return genome;
}

static void reads_the_folder(void **state) {
    (void)state;
    struct template *template = load(&all);
    assert_string_equal(template->name, "example");
    assert_string_equal(template->about, "doubles numbers");
    assert_int_equal(template->dimension_count, 4);
    assert_true(template->dimensions[2].specialised);
    assert_true(template->dimensions[3].real);
    assert_int_equal(template->case_count, 3);
    assert_int_equal(template->space->gene_count, 3);
    assert_int_equal(template->space->environment_count, 3);
    assert_int_equal(template->tensor_count, 3);
    assert_int_equal(template->launches.count, 2);
    assert_int_equal(template->reference.count, 1);
    assert_int_equal(template->option_count, 2);
    assert_int_equal(template->compute_capability, 90);
    assert_true(template->architecture_variant);
    assert_null(template->cpu_reference);
    assert_string_equal(template->space->environments[1].name, "N=10,M=2,KIND=7");
    template_free(template);
}

static void without_a_case_knows_only_dimensions(void **state) {
    (void)state;
    struct template *template = load(NULL);
    assert_int_equal(template->dimension_count, 4);
    assert_int_equal(template->space->gene_count, 0);
    template_free(template);
}

static void reads_and_prints_shapes(void **state) {
    (void)state;
    static const struct {
        const char *json, *text; /* NULL: `text` is the expected error */
        int64_t values[4];
    } rows[] = {
        {"{ \"N\": 9 }", "N=9", {9, 4, 0}},
        {"{ \"N\": 3 }", "N=3", {3, 3, 0}},
        {"{ \"N\": 9, \"M\": 4 }", "N=9", {9, 4, 0}}, /* M has its default */
        {"{ \"M\": 5, \"N\": 9, \"KIND\": 7 }", "N=9,M=5,KIND=7", {9, 5, 7}},
        {"{ \"M\": 5 }", "s.json:1: N is missing (numbers)", {0}},
        {"{ \"N\": 0 }", "s.json:1: N: N is 0, but must lie between 1 and 100000", {0}},
        {"{ \"N\": 100001 }", "s.json:1: N: N is 100001, but must lie between 1 and 100000", {0}},
        {"{ \"N\": 9, \"KIND\": 2 }", "s.json:1: KIND: KIND is 2, but must be one of 0, 1, 7", {0}},
        {"{ \"N\": 9, \"kind\": 1 }", "s.json:1: kind: unknown key; did you mean \"KIND\"?", {0}},
        {"{ \"N\": \"many\" }", "s.json:1: N: must be a whole number", {0}},
        /* A real value is stored as its bits, and printed as the shortest text that parses back. */
        {"{ \"N\": 9, \"GAIN\": 0.1 }", "N=9,GAIN=0.1", {9, 4, 0, 0x3dcccccd}},
        {"{ \"N\": 9, \"GAIN\": -2.5 }", "N=9,GAIN=-2.5", {9, 4, 0, 0xc0200000}},
        {"{ \"N\": 9, \"GAIN\": 0.08838834764831845 }",
         "N=9,GAIN=0.088388346",
         {9, 4, 0, 0x3db504f3}},
        {"{ \"N\": 9, \"GAIN\": 3 }", "N=9,GAIN=3", {9, 4, 0, 0x40400000}},
        {"{ \"N\": 9, \"GAIN\": -3 }",
         "s.json:1: GAIN: GAIN is -3, but must lie between -2.5 and 3.40282e+38",
         {0}},
        {"{ \"N\": 9, \"GAIN\": 1e39 }", "s.json:1: GAIN: is beyond the range of a float", {0}},
        {"{ \"N\": 9, \"GAIN\": 1e-50 }", "s.json:1: GAIN: is beyond the range of a float", {0}},
        {"{ \"N\": 9, \"GAIN\": \"N\" }", "s.json:1: GAIN: must be a number", {0}},
        {"7", "s.json:1: must be an object: { ... }", {0}},
    };
    struct template *template = load(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct json_document document;
        struct error error = {0};
        struct shape shape = {0};
        char text[CASE_NAME_SIZE];
        assert_int_equal(json_read_text(&document, "s.json", rows[i].json, &error), 0);
        struct json root = json_root(&document);
        if (template_read_shape(template, &root, NULL, &shape, &error) < 0) {
            assert_string_equal(error.text, rows[i].text);
        } else {
            template_print_shape(template, &shape, text);
            assert_string_equal(text, rows[i].text);
            assert_memory_equal(shape.values, rows[i].values, sizeof rows[i].values);
        }
        json_release(&document);
    }
    template_free(template);
}

static void a_case_like_another_keeps_what_is_specialised(void **state) {
    (void)state;
    struct template *template = load(NULL);
    struct json_document document;
    struct error error = {0};
    struct shape shape = {0};
    assert_int_equal(json_read_text(&document, "s.json", "{ \"N\": 2 }", &error), 0);
    struct json root = json_root(&document);
    assert_int_equal(template_read_shape(template, &root, &shapes[1], &shape, &error), 0);
    assert_int_equal(shape.values[2], 7);
    json_release(&document);
    assert_int_equal(json_read_text(&document, "s.json", "{ \"N\": 2, \"KIND\": 1 }", &error), 0);
    root = json_root(&document);
    assert_int_equal(template_read_shape(template, &root, &shapes[1], &shape, &error), -1);
    json_release(&document);
    template_free(template);
}

static void variants_share_a_compilation(void **state) {
    (void)state;
    struct template *template = load(&all);
    assert_int_equal(template_variant(template, 0), 0);
    assert_int_equal(template_variant(template, 1), 1);
    assert_int_equal(template_variant(template, 2), 0);
    template_free(template);
}

static void a_source_says_everything(void **state) {
    (void)state;
    struct template *template = load(&all);
    struct error error = {0};
    struct genome genome = genome_of(template, "THREADS=32,ORDER=z-curve");
    char *source = template_source(template, &genome, 1, &error);
    assert_non_null(source);
    char expected[2000];
    snprintf(expected, sizeof expected,
             "#define THREADS 32\n"
             "#define ORDER_ROW %d\n"
             "#define ORDER_COL %d\n"
             "#define ORDER_Z_CURVE %d\n"
             "#define ORDER ORDER_Z_CURVE\n"
             "#define SPLIT 1\n"
             "#define KIND 7\n"
             "\n"
             "// Read back from the loaded module: proof that it is this genome's.\n"
             "extern \"C\" __device__ unsigned long long evotile_genome = 0x%016llxull;\n"
             "\n",
             symbol_table_find_label(&template->space->symbols, "row"),
             symbol_table_find_label(&template->space->symbols, "col"),
             symbol_table_find_label(&template->space->symbols, "z-curve"),
             (unsigned long long)template_genome_tag(&genome));
    assert_ptr_equal(strstr(source, expected), source);
    /* Each file of the library is inlined once, at its first include; other includes stay. */
    assert_string_equal(source + strlen(expected), "#pragma once\n"
                                                   "// b\n"
                                                   "// a\n"
                                                   "// kernel\n"
                                                   "#include <cuda_fp16.h>\n");
    free(source);
    source = template_reference_source(template, &error);
    assert_string_equal(source, "// b\n// reference\n");
    free(source);
    template_free(template);
}

/* template_source_location finds each line that comes from a file. */
static void a_line_is_found_where_it_came_from(void **state) {
    (void)state;
    struct template *template = load(&all);
    struct error error = {0};
    struct genome genome = genome_default(template->space);
    char *source = template_source(template, &genome, 1, &error);
    int number = 0, found = 0;
    for (const char *line = source; *line != '\0';) {
        char name[NAME_SIZE], path[PATH_SIZE];
        int at;
        size_t length = strcspn(line, "\n");
        if (template_source_location(template, &genome, 1, ++number, name, &at, &error) == 1) {
            bool of_library = strncmp(name, "lib/", 4) == 0;
            assert_int_equal(
                path_join(path, of_library ? example.top : example.folder, name, &error), 0);
            char *file = path_read_file(path, 1 << 20, NULL, &error);
            const char *its_line = file;
            for (int i = 1; i < at; i++)
                its_line = strchr(its_line, '\n') + 1;
            assert_int_equal(strcspn(its_line, "\n"), length);
            assert_memory_equal(its_line, line, length);
            free(file);
            found++;
        }
        line += length + 1;
    }
    assert_int_equal(found, 5);
    char name[NAME_SIZE];
    int at;
    assert_int_equal(template_source_location(template, &genome, 1, 1, name, &at, &error), 0);
    assert_int_equal(template_source_location(template, &genome, 1, number + 1, name, &at, &error),
                     0);
    free(source);
    template_free(template);
}

static void a_missing_include_is_named(void **state) {
    (void)state;
    example_put(&example, "lib/a.cuh", "#include \"lib/gone.cuh\"\n");
    struct template *template = load(&all);
    struct error error = {0};
    struct genome genome = genome_default(template->space);
    assert_null(template_source(template, &genome, 0, &error));
    assert_non_null(strstr(error.text, "lib/gone.cuh"));
    template_free(template);
}

/* A template's own files are inlined too; a missing file is left to NVRTC. */
static void own_files_are_included(void **state) {
    (void)state;
    example_put(&example, "example/part.cuh", "#include \"lib/b.cuh\"\n// part\n");
    example_put(&example, "example/reference.cu",
                "#include \"part.cuh\"\n#include \"elsewhere.h\"\n#include \"part.cuh\"\n");
    struct template *template = load(&all);
    struct error error = {0};
    char *source = template_reference_source(template, &error);
    assert_string_equal(source, "// b\n// part\n#include \"elsewhere.h\"\n");
    free(source);
    template_free(template);
}

static void includes_in_a_circle_end(void **state) {
    (void)state;
    example_put(&example, "lib/b.cuh", "#include \"lib/a.cuh\"\n// b\n");
    struct template *template = load(&all);
    struct error error = {0};
    char *source = template_reference_source(template, &error);
    assert_string_equal(source, "#pragma once\n// a\n// b\n// reference\n");
    free(source);
    template_free(template);
}

static void options_follow_genes(void **state) {
    (void)state;
    static const struct {
        const char *genome;
        bool for_emulation;
        const char *options;
    } rows[] = {
        {"ORDER=col", false,
         "--gpu-architecture=sm_90a --std=c++17 --ptxas-options=-v --use_fast_math -DX=1 "},
        {"ORDER=row", true,
         "--gpu-architecture=sm_90a --std=c++17 --ptxas-options=-v -lineinfo -DX=1 "},
    };
    struct template *template = load(&all);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct compile_options options;
        struct error error = {0};
        char text[1000] = "";
        struct genome genome = genome_of(template, rows[i].genome);
        assert_int_equal(
            template_options(template, &genome, rows[i].for_emulation, &options, &error), 0);
        for (int k = 0; k < options.count; k++)
            sprintf(text + strlen(text), "%s ", options.items[k]);
        assert_string_equal(text, rows[i].options);
        assert_null(options.items[options.count]);
    }
    template_free(template);
}

/* The size of a strided tensor includes the gaps between rows, but not one after the last row. */
static void strides_part_rows(void **state) {
    (void)state;
    static const struct shape apart = {{1000, 4, 1}};
    struct template_setting setting = all;
    struct error error = {0};
    struct launch_plan plan;
    setting.cases = &apart;
    setting.case_count = 1;
    struct template *template = load(&setting);
    struct genome genome = genome_default(template->space);
    assert_int_equal(template_launch_plan(template, &genome, 0, &plan, &error), 0);
    assert_int_equal(plan.tensors[0].elements, 3 * 1040 + 1000);
    assert_int_equal(plan.tensors[0].row, 1000);
    assert_int_equal(plan.tensors[1].elements, 4000);
    assert_int_equal(plan.maps[0].extents[0], 1000);
    assert_int_equal(plan.maps[0].extents[1], 4);
    assert_int_equal(plan.maps[0].strides[0], 2080);
    template_free(template);
}

static void plans_geometry(void **state) {
    (void)state;
    struct template *template = load(&all);
    struct error error = {0};
    struct launch_plan plan;
    struct genome genome = genome_of(template, "THREADS=128,ORDER=col");
    assert_int_equal(template_launch_plan(template, &genome, 0, &plan, &error), 0);
    assert_int_equal(plan.launch_count, 1);
    assert_string_equal(planned_launch(&plan, 0).kernel, "twice");
    assert_int_equal(planned_launch(&plan, 0).grid[0], 8);
    assert_int_equal(planned_launch(&plan, 0).grid[1], 4);
    assert_int_equal(planned_launch(&plan, 0).grid[2], 1);
    assert_int_equal(planned_launch(&plan, 0).block[0], 128);
    assert_int_equal(planned_launch(&plan, 0).smem_bytes, 512);
    assert_int_equal(planned_launch(&plan, 0).argument_count, 7);
    assert_int_equal(planned_launch(&plan, 0).arguments[1].tensor, 1);
    assert_int_equal(planned_launch(&plan, 0).arguments[1].size, 8);
    assert_int_equal(planned_launch(&plan, 0).arguments[3].tensor, -1);
    assert_int_equal(planned_launch(&plan, 0).arguments[3].size, 4);
    assert_int_equal(planned_launch(&plan, 0).arguments[3].value, 1000);
    assert_int_equal(planned_launch(&plan, 0).arguments[4].size, 8);
    assert_int_equal(planned_launch(&plan, 0).arguments[4].value, 1000000000);
    assert_int_equal(planned_launch(&plan, 0).arguments[4].map, -1);
    assert_int_equal(planned_launch(&plan, 0).arguments[5].tensor, -1);
    assert_int_equal(planned_launch(&plan, 0).arguments[5].map, 0);
    assert_int_equal(planned_launch(&plan, 0).arguments[5].size, TENSOR_MAP_BYTES);
    assert_int_equal(planned_launch(&plan, 0).arguments[6].size, 4);
    assert_int_equal((uint32_t)planned_launch(&plan, 0).arguments[6].value, 0xbf800000); /* -1 */
    const struct tensor_map map = {.rank = 2,
                                   .element_bytes = 2,
                                   .extents = {1000, 4},
                                   .strides = {2000},
                                   .box = {64, 1},
                                   .swizzle = SWIZZLE_128B};
    assert_memory_equal(&plan.maps[0], &map, sizeof map);
    assert_int_equal(tensor_map_box_bytes(&map), 128);
    assert_true(plan.tensors[0].present);
    assert_int_equal(plan.tensors[0].elements, 4000);
    assert_int_equal(plan.tensors[0].bytes, 8000);
    assert_int_equal(plan.tensors[0].row, 1000);
    assert_int_equal(plan.tensors[1].dtype, DTYPE_F16);
    assert_int_equal(plan.tensors[0].precision, DTYPE_F16);
    assert_int_equal(plan.tensors[1].precision, DTYPE_BF16);
    assert_true(plan.stressed[0] && plan.stressed[1]);
    assert_false(plan.tensors[2].present);
    assert_int_equal(plan.operations, 4000);
    assert_int_equal(plan.bytes, 16000);
    assert_false(plan.limited_range);
    assert_true(plan.dropped_tile == 0);
    assert_true(isinf(plan.input_range));

    genome = genome_of(template, "ORDER=row,SPLIT=2");
    assert_int_equal(template_launch_plan(template, &genome, 1, &plan, &error), 0);
    assert_int_equal(plan.launch_count, 2);
    assert_int_equal(planned_launch(&plan, 1).smem_bytes, 0);
    assert_true(!planned_launch(&plan, 0).early && planned_launch(&plan, 1).early);
    assert_true(!planned_launch(&plan, 0).cooperative && planned_launch(&plan, 1).cooperative);
    assert_true(plan.stressed[0] && !plan.stressed[1]);
    assert_int_equal(plan.tensors[1].dtype, DTYPE_F32);
    assert_int_equal(plan.tensors[1].bytes, 80);
    assert_true(plan.tensors[2].present);
    assert_int_equal(plan.maps[0].rank, 0);
    assert_int_equal(plan.tensors[2].elements, 6);
    assert_true(plan.limited_range);
    assert_true(plan.dropped_tile == sqrt(2.0 / 80)); /* a tile of 2 in a length of 80 */
    assert_true(plan.input_range == 10);

    assert_int_equal(template_plain_launch_plan(template, &genome, 1, &plan, &error), 0);
    assert_int_equal(plan.launch_count, 1);
    assert_string_equal(planned_launch(&plan, 0).kernel, "flat");
    assert_int_equal(plan.tensors[1].dtype, DTYPE_F32);

    assert_int_equal(template_reference_launch_plan(template, 1, &plan, &error), 0);
    assert_int_equal(plan.launch_count, 1);
    assert_string_equal(planned_launch(&plan, 0).kernel, "ref");
    assert_int_equal(plan.tensors[0].dtype, DTYPE_F16);
    assert_int_equal(plan.tensors[1].dtype, DTYPE_F64);
    assert_int_equal(plan.tensors[1].bytes, 160);
    template_free(template);
}

static void constraints_hold_for_every_case(void **state) {
    (void)state;
    static const struct shape two[2] = {{{10, 4, 0}}, {{5000, 4, 0}}};
    struct template_setting setting = all;
    struct problem problem;
    setting.cases = two;
    setting.case_count = 2;
    struct template *template = load(&setting);
    struct genome genome = genome_of(template, "THREADS=32");
    assert_false(space_check(template->space, &genome, &problem));
    assert_int_equal(problem.environment, 1);
    assert_non_null(strstr(problem.text, "N=5000"));
    assert_non_null(strstr(problem.text, "the grid has an end"));
    assert_true(template_genome_is_valid(template, &genome, 0));
    assert_false(template_genome_is_valid(template, &genome, 1));
    genome = genome_of(template, "THREADS=64");
    assert_true(space_check(template->space, &genome, &problem));
    template_free(template);
}

static void narrows_genes(void **state) {
    (void)state;
    struct gene_restriction restrictions[2] = {
        {.gene = "ORDER", .count = 2, .values = {"row", "z-curve"}},
        {.gene = "SPLIT", .count = 1, .values = {"2"}},
    };
    struct template_setting setting = all;
    setting.restrictions = restrictions;
    setting.restriction_count = 2;
    struct template *template = load(&setting);
    static const struct {
        const char *genome;
        bool valid;
    } rows[] = {{"ORDER=row,SPLIT=2", true},
                {"ORDER=row,SPLIT=1", false},
                {"ORDER=col", false},
                {"ORDER=z-curve", true}}; /* SPLIT is inactive */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct genome genome = genome_of(template, rows[i].genome);
        assert_int_equal(space_check(template->space, &genome, NULL), rows[i].valid);
    }
    uint64_t count;
    assert_true(space_count(template->space, 0, &count));
    assert_int_equal(count, 6);
    template_free(template);
}

static void probes_have_the_variants_of_the_cases(void **state) {
    (void)state;
    struct template *template = load(&all);
    struct error error = {0};
    struct template *probes = template_load_probes(template, &all, &error);
    assert_non_null(probes);
    assert_int_equal(probes->case_count, 4); /* two probes, two variants */
    static const int64_t expected[4][3] = {{5, 4, 0}, {64, 1, 0}, {5, 4, 7}, {64, 1, 7}};
    for (int c = 0; c < 4; c++)
        assert_memory_equal(probes->cases[c].values, expected[c], sizeof expected[c]);
    template_free(probes);
    template_free(template);
}

/* A template without probe cases has no probes; that is not an error. */
static void probes_may_be_missing(void **state) {
    (void)state;
    char json[sizeof example_json];
    strcpy(json, example_json);
    char *last = strstr(json, ",\n\"probe_cases\"");
    strcpy(last, "\n}\n");
    example_put(&example, "example/template.json", json);
    struct template *template = load(&all);
    struct error error = {0};
    assert_null(template_load_probes(template, &all, &error));
    assert_int_equal(error.kind, ERROR_NONE);
    template_free(template);
}

static struct hash hash_now(void) {
    struct template *template = load(&all);
    struct hash hash = template->hash;
    template_free(template);
    return hash;
}

static char with_baseline[sizeof example_json + 128];

static void any_byte_changes_the_hash(void **state) {
    (void)state;
    snprintf(with_baseline, sizeof with_baseline,
             "{ \"baseline\": { \"command\": [\"python3\", \"lib/times.py\", \"baseline.py\", "
             "\"kernel.cu\", \"lib/b.cuh\"] },%s",
             strchr(example_json, '{') + 1);
    static const struct {
        const char *name, *text;
        bool changes;
    } rows[] = {
        {"example/kernel.cu", "// other\n", true},
        {"example/reference.cu", "// other\n", true},
        {"example/unused.h", "", true},
        {"lib/b.cuh", "// c", true},
        {"lib/unused.cuh", "", true},
        {"example/README.md", "prose", false},
        {"lib/README.md", "prose", false},
        {"example/template.json", with_baseline, true},
        {"example/baseline.py", "what we are compared with", false},
        {"lib/times.py", "how it is timed", false},
        {"example/kernel.cu", "// named by the command", true},
        {"lib/b.cuh", "// named, too", true},
        {"example/other.py", "", true},
    };
    struct hash before = hash_now();
    assert_true(hash_equal(before, hash_now()));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        example_put(&example, rows[i].name, rows[i].text);
        struct hash after = hash_now();
        if (hash_equal(before, after) == rows[i].changes)
            fail_msg("%s %s the hash", rows[i].name, rows[i].changes ? "leaves" : "changes");
        before = after;
    }
    char spaced[sizeof example_json + 2];
    snprintf(spaced, sizeof spaced, "%s ", example_json);
    example_put(&example, "example/template.json", spaced);
    assert_false(hash_equal(before, hash_now()));
}

static void finds_templates(void **state) {
    (void)state;
    struct error error = {0};
    char found[PATH_SIZE];
    assert_int_equal(template_find(found, "example", example.top, &error), 0);
    assert_string_equal(found, example.folder);
    assert_int_equal(template_find(found, example.folder, NULL, &error), 0);
    assert_string_equal(found, example.folder);
    setenv("EVOTILE_TEMPLATES", example.top, 1);
    assert_int_equal(template_find(found, "example", NULL, &error), 0);
    unsetenv("EVOTILE_TEMPLATES");
    assert_int_equal(template_find(found, "softmax_rows", example.top, &error), 0);
    assert_int_equal(template_find(found, "nothing", example.top, &error), -1);
    assert_int_equal(error.kind, ERROR_INPUT);
    assert_non_null(strstr(error.text, "no template \"nothing\""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_the_folder, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(without_a_case_knows_only_dimensions, example_setup,
                                        example_teardown),
        cmocka_unit_test_setup_teardown(reads_and_prints_shapes, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(a_case_like_another_keeps_what_is_specialised,
                                        example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(variants_share_a_compilation, example_setup,
                                        example_teardown),
        cmocka_unit_test_setup_teardown(a_source_says_everything, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(a_line_is_found_where_it_came_from, example_setup,
                                        example_teardown),
        cmocka_unit_test_setup_teardown(a_missing_include_is_named, example_setup,
                                        example_teardown),
        cmocka_unit_test_setup_teardown(own_files_are_included, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(includes_in_a_circle_end, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(options_follow_genes, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(strides_part_rows, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(plans_geometry, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(constraints_hold_for_every_case, example_setup,
                                        example_teardown),
        cmocka_unit_test_setup_teardown(narrows_genes, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(probes_have_the_variants_of_the_cases, example_setup,
                                        example_teardown),
        cmocka_unit_test_setup_teardown(probes_may_be_missing, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(any_byte_changes_the_hash, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(finds_templates, example_setup, example_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
