/* template: error messages of single mistakes: file, line, key, and a caret under the position in
   an expression. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "template/example.h"

/* `message` follows the name of the file; its line number is that of the last line that the piece
   touches. */
struct mistake {
    const char *piece, *other, *message;
};

static void assert_observed(const struct mistake *mistake, const char *text) {
    char expected[sizeof example.folder + 1600];
    snprintf(expected, sizeof expected, "%s/template.json:%s", example.folder, mistake->message);
    if (strcmp(expected, text) != 0)
        fail_msg("for %s\n  expected: %s\n  actual:   %s", mistake->other, expected, text);
}

static void mistakes_of_the_folder(void **state) {
    (void)state;
    static const struct mistake mistakes[] = {
        {"\"format\": 1", "\"format\": 2",
         "2: format: this evotile reads a template.json of format 1; a problem.json has format 2"},
        {"doubles numbers", "\\u001b[31m",
         " a text of about has a control character: remove it, only line breaks and tabs may stand "
         "in a text"},
        {"\"THREADS\": {", "\"THR\\u0007\": {",
         " a text has a control character: remove it, only line breaks and tabs may stand in a "
         "text"},
        {"\"format\": 1,", "", "1: the key \"format\" is missing"},
        {"\"name\": \"example\"", "\"name\": \"\"", "3: name: must have 1 to 47 characters"},
        {"\"about\": \"doubles numbers\"", "\"abuot\": \"x\"",
         "4: abuot: unknown key; did you mean \"about\"?"},
        {"\"maximum\": 100000", "\"maxmum\": 1",
         "5: dimensions.N.maxmum: unknown key; did you mean \"maximum\"?"},
        {"min(N, 4)", "min(N, 4", /* the caret is under the error */
         "6: dimensions.M.default: column 9: "},
        {"[0, 1, 7]", "[]", "7: dimensions.KIND.values: must have 1 to 256 values"},
        {"[\"KIND\"]", "[\"KIN\"]", "8: specialised[0]: no such dimension"},
        {"\"real\": true", "\"real\": 1", "7: dimensions.GAIN.real: must be true or false"},
        {"\"real\": true, \"minimum\": -2.5", "\"real\": true, \"values\": [1]",
         "7: dimensions.GAIN.values: unknown key; did you mean \"about\"?"},
        {"\"minimum\": -2.5, \"default\": 0", "\"default\": \"N\"",
         "7: dimensions.GAIN.default: must be a number"},
        {"[\"KIND\"]", "[\"GAIN\"]", "8: specialised[0]: a real number cannot be compiled in"},
        {"ORDER == row\" } }", "GAIN > 1\" } }",
         "11: genes.SPLIT.when: GAIN is a real number, which can only be an argument: "
         "{ \"f32\": \"GAIN\" }"},
        {"ceil_div(N, THREADS)", "N + GAIN",
         "12: derived.BLOCKS: GAIN is a real number, which can only be an argument: "
         "{ \"f32\": \"GAIN\" }"},
        {"BLOCKS <= 100", "GAIN < 1",
         "13: constraints[0].require: GAIN is a real number, which can only be an argument: "
         "{ \"f32\": \"GAIN\" }"},
        {"{ \"f32\": \"GAIN\" }", "{ \"i32\": \"GAIN\" }",
         "21: launches[0].arguments[6].i32: GAIN is a real number, which can only be an argument: "
         "{ \"f32\": \"GAIN\" }"},
        {"{ \"f32\": \"GAIN\" }", "{ \"f32\": \"N\" }",
         "21: launches[0].arguments[6].f32: there is no real dimension \"N\""},
        {"\"precision\": \"bf16\"", "\"precision\": \"fp16\"",
         "16: tensors.y.precision: unknown word \"fp16\"; did you mean \"f16\"?"},
        {"\"role\": \"output\", \"precision\": \"bf16\"",
         "\"role\": \"input\", \"precision\": \"bf16\"",
         "16: tensors.y.precision: only an output has a precision"},
        {"\"precision\": \"bf16\"", "\"tolerance\": { \"relatve\": 1 }",
         "16: tensors.y.tolerance.relatve: unknown key; did you mean \"relative\"?"},
        {"\"precision\": \"bf16\"", "\"tolerance\": { \"matched\": 1 }",
         "16: tensors.y.tolerance: needs \"relative\", \"absolute\" or both"},
        {"\"precision\": \"bf16\"", "\"tolerance\": { \"absolute\": -1 }",
         "16: tensors.y.tolerance.absolute: must be 0 or more"},
        {"\"precision\": \"bf16\"", "\"tolerance\": { \"relative\": 1, \"matched\": 0 }",
         "16: tensors.y.tolerance.matched: must be more than 0 and at most 1: the share of "
         "elements "
         "that agree"},
        {"\"precision\": \"bf16\"", "\"precision\": \"bf16\", \"tolerance\": { \"relative\": 1 }",
         "16: tensors.y.tolerance: replaces the \"precision\" of the tensor: remove one of them"},
        {"\"precision\": \"bf16\"", "\"magnitude\": \"m\", \"tolerance\": { \"relative\": 1 }",
         "16: tensors.y.magnitude: the tensor has a \"tolerance\" already: remove one of them"},
        {"\"precision\": \"bf16\"", "\"magnitude\": \"x\"",
         "16: tensors.y.magnitude: \"x\" is the name of a tensor already: the magnitudes of y need "
         "one of their own"},
        {"\"precision\": \"bf16\"", "\"magnitude\": \"\"",
         "16: tensors.y.magnitude: must have 1 to 47 characters"},
        {"\"precision\": \"bf16\"", "\"magnitude\": \"y_size\"",
         "25: reference: no launch takes \"y_size\": add it to the arguments of the one that "
         "writes "
         "the magnitudes"},
        {"\"role\": \"workspace\"", "\"role\": \"workspace\", \"magnitude\": \"m\"",
         "17: tensors.w.magnitude: only an output has a magnitude"},
        {"\"role\": \"input\"", "\"role\": \"input\", \"tolerance\": { \"relative\": 1 }",
         "14: tensors.x.tolerance: only an output has a tolerance"},
        {"\"else\": \"f16\" }, \"shape\": [\"M\", \"N\"],\n    \"role\": \"output\", "
         "\"precision\": \"bf16\"",
         "\"else\": \"i32\" }, \"shape\": [\"M\", \"N\"],\n    \"role\": \"output\", "
         "\"magnitude\": \"m\"",
         "16: tensors.y.magnitude: whole numbers are not rounded: an output of them has no "
         "magnitude"},
        {"\"values\": [32, 64, 128]", "\"values\": [32, 64.5]",
         "9: genes.THREADS.values[1]: must be a whole number: a gene of real numbers has \"real\": "
         "true"},
        {"\"values\": [32, 64, 128]", "\"values\": [64, 32]", "9: genes.THREADS: "},
        {"\"default\": 64", "\"default\": 65",
         "9: genes.THREADS.default: is not one of the gene's values"},
        {"\"default\": \"col\"", "\"default\": 1",
         "10: genes.ORDER.default: is not one of the gene's values"},
        {"ORDER == row\" } }", "ORDER == rwo\" } }", "11: genes.SPLIT"},
        {"\"default\": \"col\" }", "\"default\": \"col\", \"when\": \"SPLIT == 1\" }",
         " conditions of genes form a cycle: ORDER, which reads SPLIT, which reads ORDER: remove "
         "the "
         "condition of one, so that it is always active"},
        {"\"default\": 64 }", "\"default\": 64, \"when\": \"THREADS > 32\" }",
         " conditions of genes form a cycle: THREADS, which reads THREADS: remove the condition of "
         "one, so that it is always active"},
        {"ceil_div(N, THREADS)", "ceil_div(N, THREAD)", "12: derived.BLOCKS: column 13: "},
        {"\"because\": \"the grid has an end\"", "\"why\": \"x\"",
         "13: constraints[0].why: unknown key; did you mean \"require\"?"},
        {"BLOCKS <= 100", "BLOCKS <= ", "13: constraints[0].require: column 11: "},
        {"\"tensors\": {", "\"insights\": [ { \"when\": \"BLOCKS <\" } ], \"tensors\": {",
         "14: insights[0]: the key \"favour\" is missing"},
        {"\"tensors\": {",
         "\"insights\": [ { \"when\": \"MEASURED_WARPS > 2\", \"favour\": { \"SPLIT\": \"lower\" "
         "}, "
         "\"because\": \"\" } ], \"tensors\": {",
         "14: insights[0].when: column 1: "},
        {"\"tensors\": {",
         "\"insights\": [ { \"when\": \"BLOCKS < 4\", \"favour\": { \"ORDER\": \"lower\" }, "
         "\"because\": \"\" } ], \"tensors\": {",
         "14: insights[0].favour.ORDER: gene ORDER has no value lower"},
        {"\"dtype\": \"f16\"", "\"dtype\": \"fp8_e4m3\"",
         "14: tensors.x.dtype: unknown word \"fp8_e4m3\"; did you mean \"f8_e4m3\"?"},
        {"\"dtype\": \"f16\"", "\"dtype\": \"f16\", \"alignment\": 1",
         "14: tensors.x.alignment: must be a power of two from 2, the bytes of an element, to 256"},
        {"\"dtype\": \"f16\"", "\"dtype\": \"f16\", \"alignment\": 24",
         "14: tensors.x.alignment: must be a power of two from 2, the bytes of an element, to 256"},
        {"\"dtype\": \"f16\"", "\"dtype\": \"f16\", \"alignment\": 512",
         "14: tensors.x.alignment: must be a power of two from 2, the bytes of an element, to 256"},
        {"\"dtype\": \"f16\"", "\"dtype\": \"fp16\"",
         "14: tensors.x.dtype: unknown word \"fp16\"; did you mean \"f16\"?"},
        {"\"role\": \"input\"", "\"role\": \"inptu\"",
         "14: tensors.x.role: unknown word \"inptu\"; did you mean \"input\"?"},
        {"[\"STEP\"]", "[\"N\"]", "14: tensors.x.strides[0]: there is no derived quantity \"N\""},
        {"[\"STEP\"]", "[\"STEP\", \"STEP\"]",
         "14: tensors.x.strides: must have a stride for each extent but the last: 1"},
        {"\"role\": \"workspace\"", "\"role\": \"workspace\", \"strides\": [\"BLOCKS\"]",
         "17: tensors.w.strides: a workspace is always packed"},
        {"\"then\": \"f32\"", "\"than\": \"f32\"",
         "15: tensors.y.dtype.than: unknown key; did you mean \"then\"?"},
        {"\"role\": \"output\"", "\"role\": \"output\", \"clear\": true",
         "16: tensors.y.clear: only a workspace can be cleared"},
        {"[\"SPLIT\", 3]", "[]", "17: tensors.w.shape: must have 1 to 6 dimensions"},
        {"[\"SPLIT\", 3]", "[\"SPLIT\", [3]]",
         "17: tensors.w.shape[1]: must be an expression: a string or a whole number"},
        {"\"tensor\": \"x\"", "\"tensor\": \"z\"",
         "18: tensor_maps.x_map.tensor: there is no tensor \"z\""},
        {"\"x_map\": {", "\"y\": {", "18: tensor_maps.y: is also the name of a tensor"},
        {"[1, \"min(THREADS, 64)\"]", "[64]",
         "18: tensor_maps.x_map.box: must have an extent for each of the tensor's 2 dimensions; "
         "a tensor map has at most 5"},
        {"\"128B\"", "\"12B\"",
         "18: tensor_maps.x_map.swizzle.else: unknown word \"12B\"; did you mean \"32B\"?"},
        {"\"kernel\": \"ref\", \"grid\": [\"M\", 1, 1], \"block\": [64, 1, 1], \"arguments\": "
         "[\"x\"",
         "\"kernel\": \"ref\", \"grid\": [\"M\", 1, 1], \"block\": [64, 1, 1], \"arguments\": "
         "[\"x_map\"",
         "25: reference: takes tensors, not tensor maps"},
        {"\"source\": \"kernel.cu\"", "\"source\": \"../kernel.cu\"",
         "19: source: must name a file in the template's own folder"},
        {"[\"BLOCKS\", \"M\", 1]", "[\"BLOCKS\", \"M\"]",
         "20: launches[0].grid: must have 3 extents: x, y, z"},
        {"[\"x\", \"y\", \"w\",", "[\"x\", \"z\", \"w\",",
         "21: launches[0].arguments[1]: there is no tensor or tensor map \"z\""},
        {"{ \"i32\": \"N\" }", "{ \"i33\": \"N\" }",
         "21: launches[0].arguments[3].i33: unknown key; did you mean \"i32\"?"},
        {"{ \"i32\": \"N\" }", "{}",
         "21: launches[0].arguments[3]: must be {\"i32\": ...}, {\"i64\": ...}, {\"f32\": ...} or "
         "{\"f64\": ...}"},
        {"{ \"f32\": \"GAIN\" }", "{ \"f64\": \"N\" }",
         "21: launches[0].arguments[6].f64: there is no real dimension \"N\""},
        {"-DX=1", "--create-pch=/etc/x",
         "23: options[1]: \"--create-pch=/etc/x\" is not an option that a template may give: it "
         "may "
         "give those that change the code, such as --use_fast_math, --maxrregcount=N, --fmad=false "
         "and -DNAME=VALUE (docs/templates.md lists them)"},
        {"-DX=1", "-D",
         "23: options[1]: \"-D\" has no value that a template may give: write NAME=VALUE in "
         "one word, without spaces, quotes and signs of a shell"},
        {"\"option\": \"-DX=1\"", "\"option\": 3",
         "23: options[1].option: must be a string in double quotes"},
        {"\"architecture_variant\": true", "\"architecture_variant\": 1",
         "24: architecture_variant: must be true or false"},
        {"\"bytes\": \"4 * M * N\"", "\"bytes\": \"4 * M * P\"", "33: bytes: column 9: "},
        {"\"operations\": \"M * N\",", "", "1: the key \"operations\" is missing"},
        {"\"input_range\": 10", "\"input_range\": 1",
         "29: relaxed[0].input_range: must be at least 6.8, the largest random input"},
        {"\"normal\": { \"x\": 8 }", "\"normal\": { \"y\": 8 }",
         "30: stress[0].normal.y: there is no input \"y\""},
        {"\"tile\": \"SPLIT\", ", "", "29: relaxed[0]: the key \"tile\" is missing"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct error error = {0};
        example_replace(mistakes[i].piece, mistakes[i].other);
        struct template *template = template_load(example.folder, &example_setting, &error);
        if (template != NULL)
            fail_msg("accepted: %s", mistakes[i].other);
        assert_int_equal(error.kind, ERROR_INPUT);
        /* If the message continues with the text of an expression or space error, compare only its
           start. */
        size_t length =
            strlen(example.folder) + strlen("/template.json:") + strlen(mistakes[i].message);
        char last = mistakes[i].message[strlen(mistakes[i].message) - 1];
        if ((last == ' ' || last == 'T') && strlen(error.text) > length)
            error.text[length] = '\0';
        assert_observed(&mistakes[i], error.text);
    }
}

static void carets_stand_under_the_place(void **state) {
    (void)state;
    struct error error = {0};
    example_replace("ceil_div(N, THREADS)", "ceil_div(N, THREAD)");
    assert_null(template_load(example.folder, &example_setting, &error));
    const char *lines = strchr(error.text, '\n');
    assert_non_null(lines);
    assert_non_null(strstr(error.text, "THREADS")); /* the closest known name */
    assert_string_equal(lines, "\n    ceil_div(N, THREAD)\n                ^");
}

static void missing_files(void **state) {
    (void)state;
    struct error error = {0};
    example_replace("\"source\": \"kernel.cu\"", "\"source\": \"kernle.cu\"");
    assert_null(template_load(example.folder, &example_setting, &error));
    assert_non_null(strstr(error.text, "template.json:19: source: there is no file "));
    assert_non_null(strstr(error.text, "example/kernle.cu"));
    assert_null(template_load("/nowhere", &example_setting, &error));
    assert_non_null(strstr(error.text, "/nowhere/template.json: No such file"));
}

/* An error that appears only for some genomes is also an error of the template. */
static void mistakes_in_geometry(void **state) {
    (void)state;
    static const struct {
        const char *piece, *other, *message;
    } rows[] = {
        {"[\"BLOCKS\", \"M\", 1]", "[\"BLOCKS - 32\", \"M\", 1]", "grid extent 0 is -16"},
        {"[\"BLOCKS\", \"M\", 1]", "[1, \"M * 65536\", 1]", "grid extent 1 is 262144"},
        {"[\"THREADS\", 1, 1]", "[\"THREADS * 1000\", 1, 1]", "block extent 0 is 64000"},
        {"[\"THREADS\", 1, 1]", "[\"THREADS\", 64, 64]", "262144 threads"},
        {"\"kernel\": \"twice\"", "\"kernel\": \"twice\", \"early\": \"THREADS == 64\"",
         "launch of twice: the first launch of a call cannot be early"},
        {"\"THREADS * 4\"", "\"THREADS - 1000\"", "-936 bytes of shared memory"},
        {"{ \"i32\": \"N\" }", "{ \"i32\": \"N * 10000000\" }", "argument 3 is 10000000000"},
        {"\"shape\": [\"M\", \"N\"], \"role\": \"input\"",
         "\"shape\": [\"M\", \"N - 1000\"], \"role\": \"input\"", "tensor x: extent 1 is 0"},
        {"\"shape\": [\"M\", \"N\"], \"role\": \"input\"",
         "\"shape\": [\"M << 1\", \"N\"], \"role\": \"input\"", NULL},
        {"\"shape\": [\"M\", \"N\"], \"role\": \"input\"",
         "\"shape\": [\"M * 1000000000\", \"N * 1000000000\"], \"role\": \"input\"", "tensor x"},
        {"\"min(THREADS, 64)\"", "\"min(THREADS, 64) * 2\"",
         "tensor map x_map (add a constraint): the box's last extent is 256 bytes, which must "
         "be the swizzle's 128"},
        {"\"min(THREADS, 64)\"", "\"min(THREADS, 64) - 1\"",
         "the box's last extent is 126 bytes, which must be a multiple of 16"},
        {"[1, \"min(THREADS, 64)\"]", "[257, 64]", "extent 0 of the box is 257, outside 1 to 256"},
        {"[1, \"min(THREADS, 64)\"]", "[\"-N\", 64]", "extent 0 of the box is 0, outside"},
        {"? N + 40 : N", "? N : N + 1",
         "a step of extent 0 is 2002 bytes, which must be a multiple of 16 below 2^40"},
        {"\"role\": \"output\"", "\"role\": \"output\", \"strides\": [\"BLOCKS\"]",
         "tensor y: an output must be dense"},
        {"? N + 40 : N", "? N : -N", "tensor x: stride 0 is -1000"},
        {"? N + 40 : N", "? N : N * 1000000000", "tensor x: its size fits no GPU"},
        {"\"operations\": \"M * N\"", "\"operations\": \"M / (N - 1000)\"", "M / (N - 1000)"},
        {"\"bytes\": \"4 * M * N\"", "\"bytes\": \"log2(-N)\"", "log2(-N)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        struct launch_plan plan;
        example_replace(rows[i].piece, rows[i].other);
        struct template *template = template_load(example.folder, &example_setting, &error);
        if (rows[i].message == NULL) {
            assert_null(template);
            continue;
        }
        if (template == NULL)
            fail_msg("%s", error.text);
        struct genome genome = genome_default(template->space);
        if (template_launch_plan(template, &genome, 0, &plan, &error) == 0)
            fail_msg("planned: %s", rows[i].other);
        if (strstr(error.text, "template.json: ") == NULL ||
            strstr(error.text, rows[i].message) == NULL)
            fail_msg("for %s: %s", rows[i].other, error.text);
        template_free(template);
    }
}

/* A name of template.json is a macro in the source, which must not give it another meaning. */
static void macros_keep_their_names(void **state) {
    (void)state;
    static const struct {
        const char *kernel, *message; /* NULL: none */
    } rows[] = {
        {"\n#define THREADS 64\n",
         "example/kernel.cu:2: #define THREADS is also a gene of "
         "template.json, which evotile defines: remove this line, or put it inside of "
         "an #ifndef of the name"},
        {"/* two\n lines */\n #  define KIND(x) x\n",
         "kernel.cu:3: #define KIND is also a specialised dimension of template.json, which "
         "evotile defines: "},
        {"#undef ORDER_COL\n#define ORDER_COL 1\n",
         "kernel.cu:2: #define ORDER_COL is also a value of a gene of template.json, which evotile "
         "defines: "},
        {"#include \"lib/b.cuh\"\n\ntemplate <typename T, int THREADS>\nvoid f();\n",
         "kernel.cu:3: the template parameter THREADS is also a gene of template.json, which "
         "evotile defines: "
         "rename the parameter"},
        {"template <int A = 1,\n          int SPLIT = 2> void f();",
         "kernel.cu:2: the template parameter SPLIT is"},
        {"template<template <int> class F, int SPLIT> void f();", "kernel.cu:1: the template"},
        {"#ifndef THREADS\n#define THREADS 64\n#endif\n", NULL},
        {"#if !defined(THREADS) && 1\n#define THREADS 64\n#endif\n", NULL},
        {"#ifndef THREADS\n#error none\n#endif\n#define THREADS 2\n", "kernel.cu:4: "},
        {"#ifndef THREADS\n#else\n#define THREADS 2\n#endif\n", "kernel.cu:3: "},
        {"// template <int THREADS>\n/* #define THREADS */ char *s = \"template <int THREADS>\";",
         NULL},
        {"template <int T = THREADS, int (*f)(int) = 0> int g(int a[THREADS]);", NULL},
        {"#define THREADS_MORE THREADS\n#define BLOCKS 1\n#define M 2\n", NULL},
    };
    example_replace("doubles", "doubles"); /* the example itself */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        example_put(&example, "example/kernel.cu", rows[i].kernel);
        struct template *template = template_load(example.folder, &example_setting, &error);
        if (rows[i].message == NULL ? template == NULL
                                    : template != NULL || !strstr(error.text, rows[i].message))
            fail_msg("for %s\n  expected: %s\n  actual:   %s", rows[i].kernel,
                     rows[i].message != NULL ? rows[i].message : "no error", error.text);
        template_free(template);
    }
    example_put(&example, "example/kernel.cu", "#include \"lib/b.cuh\"\n");
    example_put(&example, "lib/b.cuh", "\n\n#define SPLIT 1\n");
    struct error error = {0};
    assert_null(template_load(example.folder, &example_setting, &error));
    assert_non_null(strstr(error.text, "lib/b.cuh:3: #define SPLIT is also a gene"));
}

/* The example's lines from "reference" to "stress", which answers cannot have. */
static const char of_reference[] =
    "\"reference\": { \"source\": \"reference.cu\",\n"
    "  \"launches\": [ { \"kernel\": \"ref\", \"grid\": [\"M\", 1, 1], \"block\": [64, 1, 1], "
    "\"arguments\": [\"x\", \"y\"] } ] },\n"
    "\"plain\": { \"source\": \"plain.cu\",\n"
    "  \"launches\": [ { \"kernel\": \"flat\", \"grid\": [\"M\", 1, 1], \"block\": [32, 1, 1], "
    "\"arguments\": [\"x\", \"y\"] } ] },\n"
    "\"relaxed\": [ { \"when\": \"ORDER == row\", \"tile\": \"SPLIT\", \"length\": \"8 * N\", "
    "\"input_range\": 10, \"about\": \"loose\" } ],\n"
    "\"stress\": [ { \"name\": \"large\", \"normal\": { \"x\": 8 } }, { \"name\": \"spiky\", "
    "\"when\": "
    "\"KIND != 7\", \"spikes\": { \"x\": 60 } } ],";

/* The example with recorded answers, of one set of files, and other keys; `role` of y. */
static void assert_answers_refused(const char *role, const char *files, const char *keys,
                                   const char *message) {
    char json[2 * sizeof example_json];
    struct error error = {0};
    const char *at = strstr(example_json, of_reference), *output = "\"role\": \"output\"";
    const char *y = strstr(example_json, output);
    assert_non_null(at);
    assert_non_null(y);
    snprintf(
        json, sizeof json,
        "%.*s\"role\": \"%s\"%.*s\"reference\": { \"answers\": [ { \"case\": { \"N\": 1000, \"M\": "
        "4 }, \"files\": { %s } } ] }, %s%s",
        (int)(y - example_json), example_json, role, (int)(at - y - (long)strlen(output)),
        y + strlen(output), files, keys, at + strlen(of_reference));
    example_put(&example, "example/template.json", json);
    struct template *template = template_load(example.folder, &example_setting, &error);
    if (message == NULL ? template == NULL : template != NULL || !strstr(error.text, message))
        fail_msg("for %s %s\n  expected: %s\n  actual:   %s", files, keys,
                 message != NULL ? message : "no error", error.text);
    template_free(template);
}

static void mistakes_in_answers(void **state) {
    (void)state;
    static const char both[] = "\"x\": \"x.npy\", \"y\": \"y.npy\"";
    static const char all[] = "\"x\": \"x.npy\", \"y_before\": \"x.npy\", \"y\": \"y.npy\"";
    example_put(&example, "example/x.npy", "");
    example_put(&example, "example/y.npy", "");
    assert_answers_refused("output", both, "", NULL);
    assert_answers_refused("inout", all, "", NULL);
    assert_answers_refused("inout", both, "",
                           "template.json:25: reference.answers[0].files: the file of \"y_before\" "
                           "is missing: what it holds before a call");
    assert_answers_refused("output", all, "",
                           "template.json:25: reference.answers[0].files.y_before: there is no "
                           "input or output \"y_before\"");
    assert_answers_refused("output", both, "\"setup\": {},",
                           "template.json:25: setup: candidates run on the recorded inputs alone: "
                           "record what setup writes, and remove this key");
    assert_answers_refused(
        "output", both,
        "\"scalars\": { \"A\": { \"dtype\": \"f32\", \"fill\": { \"uniform\": [0, 1] } } },",
        "template.json:25: scalars: are drawn for each set of inputs, and the answers are to one: "
        "let an input of one element hold each number");
    assert_answers_refused("output\", \"magnitude\": \"size", both, "",
                           "template.json:25: reference.answers: say nothing of the magnitudes "
                           "\"size\": give a \"tolerance\" instead");
}

/* The example with a reference in Python, and one more tensor. */
static void names_of_arrays_differ(void **state) {
    (void)state;
    struct error error = {0};
    char json[2 * sizeof example_json];
    const char *at = strstr(example_json, of_reference), *y = strstr(example_json, "\"y\": {");
    const char *output = strstr(y, "\"role\": \"output\"");
    snprintf(json, sizeof json,
             "%.*s\"y_before\": { \"dtype\": \"f16\", \"shape\": [1], \"role\": \"input\" }, "
             "%.*s\"role\": "
             "\"inout\"%.*s\"reference\": { \"python\": \"r.py\" },%s",
             (int)(y - example_json), example_json, (int)(output - y), y, (int)(at - output - 16),
             output + 16, at + strlen(of_reference));
    example_put(&example, "example/template.json", json);
    example_put(&example, "example/r.py", "");
    assert_null(template_load(example.folder, &example_setting, &error));
    assert_non_null(strstr(error.text,
                           "template.json:25: reference: gets under the name \"y_before\" what an "
                           "output holds before a call: rename the tensor y_before"));
}

static void probes_are_checked(void **state) {
    (void)state;
    struct error error = {0};
    example_replace("{ \"N\": 64, \"M\": 1 }", "{ \"N\": 64, \"KIND\": 1 }");
    struct template *template = template_load(example.folder, &example_setting, &error);
    assert_non_null(template);
    assert_null(template_load_probes(template, &example_setting, &error));
    assert_non_null(strstr(error.text, "34: probe_cases[1].KIND: unknown key"));
    template_free(template);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(mistakes_of_the_folder, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(carets_stand_under_the_place, example_setup,
                                        example_teardown),
        cmocka_unit_test_setup_teardown(missing_files, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(mistakes_in_geometry, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(macros_keep_their_names, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(mistakes_in_answers, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(names_of_arrays_differ, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(probes_are_checked, example_setup, example_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
