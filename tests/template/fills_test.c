/* template: fills of inputs, scalars and setup: what is refused and why, what they are for a case,
   and the files that inputs are read from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "template/example.h"

static const struct shape shape = {{40, 4, 0}};
static const struct template_setting setting = {
    .device = &example_device, .smem_limit = 49152, .cases = &shape, .case_count = 1};

static int make(void **state) {
    (void)state;
    example_new(&example);
    example_put(&example, "example/setup.cu", "// setup\n");
    return 0;
}

static int discard(void **state) {
    (void)state;
    example_free(&example);
    return 0;
}

/* The example with members of `tensors` and of the whole added. */
static struct template *load_with(const char *tensors, const char *others,
                                  const struct template_setting *with, struct error *error) {
    static char json[3 * sizeof example_json];
    const char *at = strstr(example_json, "\"tensors\": {");
    assert_non_null(at);
    *error = (struct error){0};
    snprintf(json, sizeof json, "%.*s%s \"tensors\": { %s%s", (int)(at - example_json),
             example_json, others, tensors, at + strlen("\"tensors\": {"));
    example_put(&example, "example/template.json", json);
    return template_load(example.folder, with, error);
}

struct mistake {
    const char *tensors, *others, *message;
};

static void expect_mistakes(const struct mistake *mistakes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct error error;
        struct template *template =
            load_with(mistakes[i].tensors, mistakes[i].others, &setting, &error);
        if (template != NULL)
            fail_msg("accepted: %s %s", mistakes[i].tensors, mistakes[i].others);
        assert_int_equal(error.kind, ERROR_INPUT);
        if (strstr(error.text, mistakes[i].message) == NULL)
            fail_msg("for %s %s\n  expected: %s\n  actual:   %s", mistakes[i].tensors,
                     mistakes[i].others, mistakes[i].message, error.text);
        if (strstr(mistakes[i].message, "column") == NULL) /* that shows the place */
            assert_null(strchr(error.text, '\n'));
    }
}

/* An input `i` of a dtype and a fill. */
#define INPUT(dtype, fill)                                                                         \
    "\"i\": { \"dtype\": \"" dtype                                                                 \
    "\", \"shape\": [\"M\", \"N\"], \"role\": \"input\", \"fill\": " fill " },"
#define SETUP(arguments)                                                                           \
    "\"setup\": { \"source\": \"setup.cu\", \"launches\": [ { \"kernel\": \"s\", \"grid\": [1, "   \
    "1, "                                                                                          \
    "1], \"block\": [1, 1, 1], \"arguments\": [" arguments "] } ] },"

static void mistakes_of_fills(void **state) {
    (void)state;
    static const struct mistake mistakes[] = {
        {INPUT("i32", "\"nomal\""), "", "14: tensors.i.fill: unknown fill \"nomal\": must be "},
        {INPUT("i32", "3"), "", "14: tensors.i.fill: must be \"normal\", \"arange\", "},
        {INPUT("i32", "{}"), "", "14: tensors.i.fill: must be \"normal\", "},
        {INPUT("i32", "{ \"integer\": 3 }"), "",
         "14: tensors.i.fill.integer: unknown key; did you mean \"integers\"?"},
        {INPUT("i32", "{ \"integers\": 3, \"constant\": 1 }"), "",
         "14: tensors.i.fill: must be \"normal\""},
        {INPUT("i32", "{ \"integers\": \"THREADS\" }"), "",
         "14: tensors.i.fill.integers: reads a gene: inputs are the same for every genome, so use "
         "dimensions"},
        {INPUT("i32", "{ \"integers\": \"2 * BLOCKS\" }"), "",
         "14: tensors.i.fill.integers: reads a gene"},
        {INPUT("i32", "{ \"integers\": \"NN\" }"), "", "14: tensors.i.fill.integers: column 1: "},
        {INPUT("i32", "{ \"integers\": \"GAIN\" }"), "",
         "14: tensors.i.fill.integers: GAIN is a real number"},
        {INPUT("f32", "{ \"uniform\": 1 }"), "", "14: tensors.i.fill.uniform: "},
        {INPUT("f32", "{ \"uniform\": [1] }"), "",
         "14: tensors.i.fill.uniform: must have 2 numbers"},
        {INPUT("f32", "{ \"file\": \"../x.npy\" }"), "",
         "14: tensors.i.fill.file: must name a file in the template's own folder"},
        {INPUT("f32", "{ \"file\": \"x.npy\" }"), "", "14: tensors.i.fill.file: there is no file "},
        {INPUT("f32", "{ \"tensor\": \"x\" }"), "",
         "14: tensors.i.fill.tensor: names a tensor of a \"file\", which is missing"},
        {"\"v\": { \"dtype\": \"f32\", \"shape\": [1], \"role\": \"workspace\", \"fill\": "
         "\"arange\" },",
         "", "14: tensors.v.fill: only an input or a tensor of setup is filled"},
        {"\"o\": { \"dtype\": \"f32\", \"shape\": [1], \"role\": \"output\", \"fill\": \"arange\" "
         "},",
         "",
         "14: tensors.o.fill: an output that holds nothing before a call is not filled: its role "
         "must be \"inout\", or its \"before\" \"random\""},
        {"\"o\": { \"dtype\": \"f32\", \"shape\": [1], \"role\": \"output\", \"before\": \"zero\", "
         "\"fill\": \"arange\" },",
         "", "14: tensors.o.fill: an output that holds nothing before a call is not filled"},
        {"\"o\": { \"dtype\": \"f32\", \"shape\": [1], \"role\": \"inout\", \"fill\": \"setup\" },",
         "", "14: tensors.o.fill: setup writes inputs alone"},
        {"\"s\": { \"dtype\": \"f32\", \"shape\": [1, \"N\"], \"role\": \"input\", \"fill\": "
         "\"permutation\", \"strides\": [\"STEP\"] },",
         "", "14: tensors.s.strides: has strides, so that its rows may lie anywhere: fill it by "},
        {INPUT("f32", "\"arange\""),
         "\"stress\": [ { \"name\": \"s\", \"normal\": { \"i\": 2 } } ],", "duplicate key"},
    };
    expect_mistakes(mistakes, sizeof mistakes / sizeof *mistakes);
}

static void mistakes_of_scalars(void **state) {
    (void)state;
#define SCALAR(name, dtype, fill)                                                                  \
    "\"scalars\": { \"" name "\": { \"dtype\": \"" dtype "\", \"fill\": " fill " } },"
    static const struct mistake mistakes[] = {
        {"", SCALAR("N", "i32", "{ \"integers\": 3 }"),
         "14: scalars.N: is also the name of something else"},
        {"", SCALAR("x", "i32", "{ \"integers\": 3 }"),
         "14: scalars.x: is also the name of something else"},
        {"", SCALAR("S", "f16", "{ \"uniform\": [0, 1] }"),
         "14: scalars.S.dtype: a scalar is i32, i64, f32 or f64"},
        {"", SCALAR("S", "f32", "\"normal\""),
         "14: scalars.S.fill: a scalar is drawn for each set of inputs, by \"uniform\" or "
         "\"integers\"; one that stays is a dimension"},
        {"", SCALAR("S", "f32", "{ \"constant\": 2 }"), "14: scalars.S.fill: a scalar is drawn "},
        {"", "\"scalars\": { \"S\": { \"dtype\": \"i32\" } },",
         "14: scalars.S: the key \"fill\" is missing"},
        {"", SCALAR("S", "i32", "{ \"integers\": 0 }"),
         "the fill of S, i32 integers 0 to -1: its range is empty: change its numbers or its "
         "dtype"},
        {"", SCALAR("S", "f32", "{ \"uniform\": [0, 1] }") SETUP("\"x\", { \"i32\": \"S\" }"),
         "launches[0].arguments[1].i32: S is a scalar of f32: write { \"f32\": \"S\" }"},
    };
    expect_mistakes(mistakes, sizeof mistakes / sizeof *mistakes);
}

static void mistakes_of_setup(void **state) {
    (void)state;
#define OWN(fill)                                                                                  \
    "\"o\": { \"dtype\": \"i32\", \"shape\": [4], \"role\": \"setup\", \"fill\": " fill " },"
    static const struct mistake mistakes[] = {
        {INPUT("i32", "\"setup\""), "",
         "14: tensors: i needs \"setup\", with \"source\" and \"launches\""},
        {OWN("{ \"constant\": 0 }"), "", "14: tensors: o needs \"setup\", with \"source\""},
        {OWN("\"setup\""), "", "14: tensors.o.fill: a tensor of role \"setup\" has another fill"},
        {INPUT("i32", "\"setup\"") OWN("\"normal\""), SETUP("\"o\""),
         "tensors: i is no argument of setup's launches"},
        {INPUT("i32", "\"setup\"") OWN("\"normal\""), SETUP("\"i\""),
         "tensors: o is no argument of setup's launches"},
        {INPUT("i32", "\"setup\""), SETUP("\"i\", \"y\""),
         "setup: y is no input: setup takes inputs and tensors of role \"setup\""},
        {INPUT("i32", "\"setup\""), SETUP("\"i\", \"x_map\""),
         "setup: takes tensors, not tensor maps"},
        {INPUT("i32", "\"setup\""), "\"setup\": { \"source\": \"setup.cu\" },",
         "setup: the key \"launches\" is missing"},
    };
    expect_mistakes(mistakes, sizeof mistakes / sizeof *mistakes);
}

static void only_setup_takes_its_tensors(void **state) {
    (void)state;
    static char json[sizeof example_json + 64];
    struct error error = {0};
    const char *at = strstr(example_json, "\"role\": \"input\"");
    snprintf(json, sizeof json, "%.*s\"role\": \"setup\"%s", (int)(at - example_json), example_json,
             at + strlen("\"role\": \"input\""));
    example_put(&example, "example/template.json", json);
    assert_null(template_load(example.folder, &setting, &error));
    assert_non_null(strstr(error.text, "launches: x has the role \"setup\": only the launches of "
                                       "setup take it"));
}

static void a_recipe_leaves_other_fills(void **state) {
    (void)state;
    static char json[sizeof example_json + 256];
    struct error error = {0};
    const char *at = strstr(example_json, "\"role\": \"input\"");
    snprintf(json, sizeof json, "%.*s\"fill\": { \"uniform\": [0, 1] }, %s",
             (int)(at - example_json), example_json, at);
    example_put(&example, "example/template.json", json);
    assert_null(template_load(example.folder, &setting, &error));
    assert_non_null(strstr(error.text, "stress[0].normal.x: \"x\" has a fill of its own, which it "
                                       "keeps: a recipe changes tensors with the fill \"normal\""));
}

/* M is 4 and N is 40. */
static void numbers_fit_their_dtype(void **state) {
    (void)state;
    static const struct {
        const char *tensors, *message; /* NULL: accepted, with this fill */
        struct tensor_fill fill;
    } rows[] = {
        {INPUT("f32", "\"normal\""), NULL, {FILL_NORMAL, 1, 0}},
        {INPUT("f32", "{ \"uniform\": [-2, \"M\"] }"), NULL, {FILL_UNIFORM, -2, 4}},
        {INPUT("i16", "{ \"uniform\": [-2, \"M\"] }"), NULL, {FILL_INTEGERS, -2, 4}},
        {INPUT("f32", "{ \"uniform\": [2, 1] }"), "its range is empty", {0}},
        {INPUT("i16", "{ \"uniform\": [0.5, 1] }"), "its numbers must be whole", {0}},
        {INPUT("f16", "{ \"uniform\": [0, 70000] }"), "its dtype does not hold that range", {0}},
        {INPUT("u8", "{ \"integers\": \"N * 6 + 16\" }"), NULL, {FILL_INTEGERS, 0, 255}},
        {INPUT("u8", "{ \"integers\": 257 }"),
         "the fill of i, u8 integers 0 to 256: its dtype does not hold that range: change its "
         "numbers or its dtype",
         {0}},
        {INPUT("i8", "{ \"integers\": 129 }"), "does not hold that range", {0}},
        {INPUT("i32", "{ \"integers\": \"N - 40\" }"), "its range is empty", {0}},
        {INPUT("f16", "{ \"integers\": 2049 }"), NULL, {FILL_INTEGERS, 0, 2048}},
        {INPUT("f16", "{ \"integers\": 2050 }"), "its dtype does not hold every whole number", {0}},
        {INPUT("f8_e4m3", "{ \"integers\": 18 }"), "does not hold every whole number", {0}},
        {INPUT("bool", "{ \"integers\": 2 }"), NULL, {FILL_INTEGERS, 0, 1}},
        {INPUT("bool", "{ \"integers\": 3 }"), "does not hold that range", {0}},
        {INPUT("f32", "{ \"constant\": 0.25 }"), NULL, {FILL_ARANGE, 0.25, 0}},
        {INPUT("i32", "{ \"constant\": 0.25 }"), "its numbers must be whole", {0}},
        {INPUT("u32", "{ \"constant\": -1 }"), "does not hold that range", {0}},
        {INPUT("u8", "\"arange\""), NULL, {FILL_ARANGE, 0, 1}}, /* 0 to 159 */
        {INPUT("i8", "\"arange\""), "does not hold that range", {0}},
        {INPUT("i32", "{ \"arange\": [5, \"N\"] }"), NULL, {FILL_ARANGE, 5, 40}},
        {INPUT("i32", "{ \"sorted\": \"N\" }"), NULL, {FILL_SORTED_INTEGERS, 0, 39}},
        {INPUT("f64", "{ \"sorted\": [-1, 0.5] }"), NULL, {FILL_SORTED, -1, 0.5}},
        {INPUT("i64", "{ \"sorted\": [-1, 5] }"), NULL, {FILL_SORTED_INTEGERS, -1, 5}},
        {INPUT("i8", "\"permutation\""), NULL, {FILL_PERMUTATION, 0, 0}},
        {INPUT("bool", "\"permutation\""), "does not hold that range", {0}},
        {INPUT("bf16", "\"probabilities\""), NULL, {FILL_PROBABILITIES, 0, 0}},
        {INPUT("i32", "\"probabilities\""), "probabilities are floating-point numbers", {0}},
        {INPUT("f32", "{ \"sparse\": 0.125 }"), NULL, {FILL_SPARSE, 0.125, 0}},
        {INPUT("f32", "{ \"sparse\": 1.5 }"), "a density is from 0 to 1", {0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error;
        struct template *template = load_with(rows[i].tensors, "", &setting, &error);
        if (rows[i].message != NULL) {
            if (template != NULL || strstr(error.text, rows[i].message) == NULL)
                fail_msg("for %s: %s", rows[i].tensors, template != NULL ? "accepted" : error.text);
            continue;
        }
        if (template == NULL)
            fail_msg("for %s: %s", rows[i].tensors, error.text);
        struct launch_plan plan;
        assert_int_equal(template_reference_launch_plan(template, 0, &plan, &error), 0);
        assert_int_equal(plan.tensors[0].fill.fill, rows[i].fill.fill);
        assert_float_equal(plan.tensors[0].fill.value, rows[i].fill.value, 0);
        assert_float_equal(plan.tensors[0].fill.most, rows[i].fill.most, 0);
        template_free(template);
    }
}

/* ---- files ---- */

static void put_bytes(const char *name, const void *bytes, size_t size) {
    struct error error = {0};
    char path[PATH_SIZE];
    if (path_join(path, example.folder, name, &error) < 0 ||
        path_write_file(path, bytes, size, &error) < 0)
        fail_msg("%s", error.text);
}

/* A .npy file of version 1 with this dictionary and so many bytes of elements. */
static void put_npy(const char *dictionary, size_t elements) {
    char bytes[2048] = "\x93NUMPY\x01";
    size_t length = strlen(dictionary) + 1;
    bytes[8] = (char)(length & 255);
    bytes[9] = (char)(length >> 8);
    snprintf(bytes + 10, sizeof bytes - 10, "%s\n", dictionary);
    put_bytes("x.npy", bytes, 10 + length + elements);
}

static void put_safetensors(const char *header, size_t elements) {
    char bytes[2048] = {0};
    uint64_t length = strlen(header);
    memcpy(bytes, &length, 8);
    snprintf(bytes + 8, sizeof bytes - 8, "%s", header);
    put_bytes("x.safetensors", bytes, 8 + length + elements);
}

static void expect_file(const char *tensors, const char *message) {
    struct error error;
    struct template *template = load_with(tensors, "", &setting, &error);
    if (message == NULL ? template == NULL
                        : template != NULL || strstr(error.text, message) == NULL)
        fail_msg("for %s\n  expected: %s\n  actual:   %s", tensors,
                 message != NULL ? message : "no error", error.text);
    template_free(template);
}

static void numpy_files(void **state) {
    (void)state;
    static const struct {
        const char *dictionary;
        size_t elements;
        const char *message;
    } rows[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 40), }", 640, NULL},
        {"{'shape': (4, 40), \"descr\": '<f4', 'fortran_order': False}   ", 640, NULL},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 40), }", 639,
         "bytes follow its header, which are not those of <f4 (4, 40)"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4, 40), }", 1280,
         "tensor i: x.npy holds f64 [4, 40], but the tensor is f32 [4, 40], 640 bytes: give the "
         "tensor the file's shape, and cases that have it"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (40, 4), }", 640,
         "x.npy holds f32 [40, 4], but the tensor is f32 [4, 40]"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (160,), }", 640,
         "x.npy holds f32 [160], but"},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (4, 40), }", 640,
         "x.npy: its elements are in columns: save numpy.ascontiguousarray(x)"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (4, 40), }", 640,
         "x.npy: dtype >f4 is big-endian: save .astype('<f4')"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4, 40), }", 640,
         "x.npy: its header is not that of one array of numbers"},
        {"{'descr': '<f4', 'shape': (4, 40), }", 640,
         "its header is not that of one array of numbers"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (4, 40), }", 640,
         "its header is not that of one array of numbers"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4, -40), }", 640,
         "its header is not that of one array of numbers"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 40), }", 640,
         "640 bytes follow its header, which are not those of <f4 (0, 40)"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 40), }", 640,
         "its header is not that of one array of numbers"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (92233720368547758070, 40), }", 640,
         "its header is not that of one array of numbers"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1), }", 640,
         "640 bytes follow its header, which are not those of <f4 (1, 1, 1, 1, 1, 1, 1)"},
        {"", 640, "its header is not that of one array of numbers"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_npy(rows[i].dictionary, rows[i].elements);
        expect_file(INPUT("f32", "{ \"file\": \"x.npy\" }"), rows[i].message);
    }
    put_bytes("x.npy", "\x93NUMPY\x04\0\0\0\0\0\0\0\0\0", 16);
    expect_file(INPUT("f32", "{ \"file\": \"x.npy\" }"),
                "x.npy: version 4 of .npy cannot be read: versions 1 to 3 can");
    put_bytes("x.npy", "\x93NUMPY\x01\0\xff\xff{}", 12);
    expect_file(INPUT("f32", "{ \"file\": \"x.npy\" }"),
                "x.npy: its header does not fit: write it with numpy.save");
    put_bytes("x.npy", "", 0);
    expect_file(INPUT("f32", "{ \"file\": \"x.npy\" }"),
                "x.npy: not a .npy file: write it with numpy.save");
    expect_file(INPUT("f32", "{ \"file\": \"x.npy\", \"tensor\": \"a\" }"),
                "x.npy: only a .safetensors file has names of tensors");
}

static void safetensors_files(void **state) {
    (void)state;
#define NAMED INPUT("bf16", "{ \"file\": \"x.safetensors\", \"tensor\": \"a.b\" }")
    static const struct {
        const char *header;
        size_t elements;
        const char *message;
    } rows[] = {
        {"{\"a.b\":{\"dtype\":\"BF16\",\"shape\":[4,40],\"data_offsets\":[8,328]}}", 328, NULL},
        {"{\"a.b\":{\"dtype\":\"BF16\",\"shape\":[4,40],\"data_offsets\":[8,328]}}", 327,
         "x.safetensors: its header says 320 bytes of elements from byte "},
        {"{\"a.b\":{\"dtype\":\"BF16\",\"shape\":[4,40],\"data_offsets\":[8,330]}}", 400,
         "x.safetensors: the tensor's \"data_offsets\" do not fit its shape"},
        {"{\"a.b\":{\"dtype\":\"F16\",\"shape\":[4,40],\"data_offsets\":[0,320]}}", 328,
         "holds f16 [4, 40], but the tensor is bf16 [4, 40]"},
        {"{\"a.b\":{\"dtype\":\"C64\",\"shape\":[4,40],\"data_offsets\":[0,320]}}", 328,
         "the tensor's \"dtype\" is none of this program's"},
        {"{\"a.b\":{\"dtype\":\"BF16\",\"shape\":[4,40.5],\"data_offsets\":[0,320]}}", 328,
         "an extent of the tensor's \"shape\" is no whole number"},
        {"{\"a.b\":{\"dtype\":\"BF16\",\"shape\":[4,40],\"data_offsets\":[-8,312]}}", 328,
         "the tensor has no \"shape\" of at most 6 extents, or no \"data_offsets\""},
        {"{\"a.b\":{\"dtype\":\"BF16\",\"shape\":[4,40],\"data_offsets\":[1e300,312]}}", 328,
         "or no \"data_offsets\""},
        {"{\"a\":{\"dtype\":\"BF16\",\"shape\":[4,40],\"data_offsets\":[0,320]}}", 328,
         "x.safetensors: it has no tensor \"a.b\""},
        {"{\"a.b\":[]}", 328, "x.safetensors: it has no tensor \"a.b\""},
        {"[]", 328, "x.safetensors: its header is no JSON object"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_safetensors(rows[i].header, rows[i].elements);
        expect_file(NAMED, rows[i].message);
    }
    put_bytes("x.safetensors", "\xff\xff\xff\xff\xff\xff\xff\xff{}", 10);
    expect_file(NAMED, "x.safetensors: its header is longer than the file or than ");
    expect_file(INPUT("bf16", "{ \"file\": \"x.safetensors\" }"),
                "x.safetensors: name one of its tensors: \"tensor\": \"NAME\"");
}

static void raw_files(void **state) {
    (void)state;
    char bytes[161] = {0};
    put_bytes("x.bin", bytes, 160);
    expect_file(INPUT("u8", "{ \"file\": \"x.bin\" }"), NULL);
    put_bytes("x.bin", bytes, 161);
    expect_file(INPUT("u8", "{ \"file\": \"x.bin\" }"),
                "tensor i: x.bin holds 161 bytes, but the tensor is u8 [4, 40], 160 bytes");
}

/* Where shapes are derived, one that a file does not have is left out. */
static void derived_cases_need_no_fill(void **state) {
    (void)state;
    static const struct shape shapes[] = {{{41, 4, 0}}, {{40, 4, 0}}};
    struct template_setting derived = setting;
    struct error error;
    char bytes[160] = {0};
    put_bytes("x.bin", bytes, 160);
    derived.cases = shapes;
    derived.case_count = 2;
    assert_null(load_with(INPUT("u8", "{ \"file\": \"x.bin\" }"), "", &derived, &error));
    derived.derived_cases = true;
    struct template *template =
        load_with(INPUT("u8", "{ \"file\": \"x.bin\" }"), "", &derived, &error);
    assert_non_null(template);
    const struct genome genome = genome_default(template->space);
    assert_false(template_genome_is_valid(template, &genome, 0));
    assert_true(template_genome_is_valid(template, &genome, 1));
    template_free(template);
}

/* A candidate depends on the contents of its files. */
static void files_change_the_hash(void **state) {
    (void)state;
    char bytes[160] = {0};
    struct hash hashes[2];
    for (int i = 0; i < 2; i++) {
        struct error error;
        bytes[100] = (char)i;
        put_bytes("x.bin", bytes, 160);
        struct template *template =
            load_with(INPUT("u8", "{ \"file\": \"x.bin\" }"), "", &setting, &error);
        assert_non_null(template);
        hashes[i] = template->hash;
        template_free(template);
    }
    assert_memory_not_equal(&hashes[0], &hashes[1], sizeof hashes[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(mistakes_of_fills, make, discard),
        cmocka_unit_test_setup_teardown(mistakes_of_scalars, make, discard),
        cmocka_unit_test_setup_teardown(mistakes_of_setup, make, discard),
        cmocka_unit_test_setup_teardown(only_setup_takes_its_tensors, make, discard),
        cmocka_unit_test_setup_teardown(a_recipe_leaves_other_fills, make, discard),
        cmocka_unit_test_setup_teardown(numbers_fit_their_dtype, make, discard),
        cmocka_unit_test_setup_teardown(numpy_files, make, discard),
        cmocka_unit_test_setup_teardown(safetensors_files, make, discard),
        cmocka_unit_test_setup_teardown(raw_files, make, discard),
        cmocka_unit_test_setup_teardown(derived_cases_need_no_fill, make, discard),
        cmocka_unit_test_setup_teardown(files_change_the_hash, make, discard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
