/* template: single mistakes in the templates of tests/templates, by the keys of a problem, a
   solution, dtypes, prepared tensors, fills, references, bounds, launches, genes and objectives.
   Each message names file, line and key, and says what to write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/config.h"
#include "template/example.h"

enum { MISTAKES_LEAST = 40, TEXT_SIZE = 4096 };

/* A case of each template. */
static const struct {
    const char *template, *text;
} cases[] = {
    {"axpy", "{\"N\":2000}"},
    {"scale_fp8", "{\"ROWS\":4,\"COLS\":64}"},
    {"histogram_add", "{ \"N\": 1, \"BINS\": 1 }"},
    {"rms_rows", "{\"ROWS\":4,\"COLS\":64}"},
    {"residual_inplace", "{\"ROWS\":4,\"COLS\":64}"},
    {"constant_filter", "{\"H\":9,\"W\":70}"},
    {"weighted_pick", "{\"ROWS\":8,\"COLS\":16}"},
    {"csr_product", "{ \"ROWS\": 3, \"COLS\": 5, \"PER_ROW\": 4 }"},
    {"running_sums", "{\"ROWS\":4,\"COLS\":64}"},
    {"smooth_rows", "{\"ROWS\":4,\"COLS\":64}"},
    {"take_columns", "{ \"ROWS\": 1, \"COLS\": 3, \"TAKEN\": 2 }"},
    {"mean_of_sines", "{\"N\":100}"},
    {"mean_loss", "{ \"SAMPLES\": 1, \"CLASSES\": 1 }"},
    {"vector_copy", "{\"N\":100}"},
    {"heat_steps", "{ \"ROWS\": 1, \"COLS\": 1, \"STEPS\": 3 }"},
    {"newton_root", "{\"N\":100}"},
};

static const char *case_of(const char *template) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].template, template) == 0)
            return cases[i].text;
    fail_msg("%s has no case here", template);
    return NULL;
}

/* Copies a template and replaces the first such piece of one of its files. */
static void put_broken(const char *template, const char *file, const char *piece,
                       const char *other) {
    struct error error = {0};
    char from[PATH_SIZE], to[PATH_SIZE], name[256];
    assert_int_equal(path_join(from, "tests/templates", template, &error), 0);
    assert_int_equal(path_join(to, example.top, template, &error), 0);
    assert_int_equal(path_remove_tree(to, &error), 0);
    assert_int_equal(path_copy_tree(from, to, &error), 0);
    assert_int_equal(path_join(from, to, file, &error), 0);
    char *text = path_read_file(from, 1 << 16, NULL, &error);
    assert_non_null(text);
    const char *at = strstr(text, piece);
    if (at == NULL)
        fail_msg("%s/%s does not hold: %s", template, file, piece);
    char *broken = malloc(strlen(text) + strlen(other) + 1);
    sprintf(broken, "%.*s%s%s", (int)(at - text), text, other, at + strlen(piece));
    snprintf(name, sizeof name, "%s/%s", template, file);
    example_put(&example, name, broken);
    free(broken);
    free(text);
}

/* What loading it for its case says; empty: nothing. */
static void load_broken(const char *template, char text[TEXT_SIZE]) {
    struct error error = {0};
    char config_text[TEXT_SIZE], path[PATH_SIZE];
    snprintf(config_text, sizeof config_text,
             "{ \"template\": \"./%s\", \"cases\": [%s], \"device\": \"emulated:sm_90\" }",
             template, case_of(template));
    example_put(&example, "config.json", config_text);
    assert_int_equal(path_join(path, example.top, "config.json", &error), 0);
    struct config *config = config_load(path, NULL, &error);
    struct template *loaded =
        config != NULL ? config_load_template(config, 0, &example_device, &error) : NULL;
    snprintf(text, TEXT_SIZE, "%s", loaded == NULL ? error.text : "");
    template_free(loaded);
    config_free(config);
}

static void a_mistake_has_a_place_and_a_remedy(void **state) {
    (void)state;
    static const struct {
        const char *template, *file, *piece, *other, *message;
    } mistakes[] = {
        /* problem and solution */
        {"axpy", "problem.json", "\"default_solution\": \"loop\"", "\"default_solution\": \"lop\"",
         "axpy/problem.json:6: default_solution: there is no solution \"lop\"; did you mean "
         "\"loop\"?"},
        {"axpy", "problem.json", "\"format\": 2", "\"format\": 1",
         "axpy/problem.json:3: format: must be 2, in problem.json and solution.json"},
        {"axpy", "problem.json", "\"tensors\": {",
         "\"tensors\": { \"w\": { \"dtype\": \"f32\", \"shape\": [\"N\"], \"role\": \"workspace\" "
         "},",
         "axpy/problem.json:15: tensors.w.role: a workspace belongs to \"workspaces\" in "
         "solution.json"},
        {"axpy", "problem.json", "\"operations\": \"2 * N\"", "\"operations\": \"2 * N * THREADS\"",
         "axpy/problem.json:40: operations: THREADS is of a solution, which cannot change the "
         "problem: read only dimensions, device attributes and what problem.json derives"},
        {"axpy", "loop/solution.json", "\"source\"", "\"operations\": \"N\", \"source\"",
         "axpy/loop/solution.json:10: operations: belongs to problem.json: a solution cannot "
         "change the problem, nor what judges it"},
        {"axpy", "loop/solution.json", "\"source\"", "\"symbols\": { \"z\": \"out\" }, \"source\"",
         "axpy/loop/solution.json:10: symbols.z: only an input can be a variable of the kernel's "
         "module"},
        {"axpy", "loop/solution.json", "\"source\"", "\"symbols\": { \"w\": \"out\" }, \"source\"",
         "axpy/loop/solution.json:10: symbols.w: there is no tensor \"w\""},
        {"axpy", "loop/solution.json", "\"source\"",
         "\"relaxed\": { \"hal\": { \"when\": 1, \"tile\": 1 } }, \"source\"",
         "axpy/loop/solution.json:10: relaxed.hal: problem.json allows nothing of that name in "
         "\"relaxed\""},
        {"axpy", "loop/solution.json", "\"source\": \"kernel.cu\"", "\"source\": \"../plain.cu\"",
         "axpy/loop/solution.json:10: source: must name a file in the template's own folder"},
        {"axpy", "loop/solution.json", "\"source\"",
         "\"workspaces\": { \"a b\": { \"dtype\": \"f32\", \"shape\": [1] } }, \"source\"",
         "axpy/loop/solution.json:10: workspaces.a b: is no name: write letters, digits and _, no "
         "digit first"},
        /* dtypes */
        {"scale_fp8", "template.json", "\"then\": \"f8_e5m2\"", "\"then\": \"f8_e5m3\"",
         "scale_fp8/template.json:28: tensors.x.dtype.then: unknown word \"f8_e5m3\"; did you mean "
         "\"f8_e4m3\"?"},
        {"scale_fp8", "template.json", "\"else\": \"f8_e4m3\"", "\"els\": \"f8_e4m3\"",
         "scale_fp8/template.json:28: tensors.x.dtype.els: unknown key; did you mean \"else\"?"},
        {"histogram_add", "template.json", "\"dtype\": \"u8\"", "\"dtype\": \"uint8\"",
         "histogram_add/template.json:25: tensors.keys.dtype: unknown word \"uint8\"; did you mean "
         "\"i8\"?"},
        {"rms_rows", "template.json",
         "\"dtype\": \"f16\", \"shape\": [\"ROWS\", \"COLS\"], \"role\": \"output\"",
         "\"dtype\": \"i32\", \"shape\": [\"ROWS\", \"COLS\"], \"role\": \"output\"",
         "rms_rows/template.json:22: tensors.y.alignment: must be a power of two from 4, the bytes "
         "of an element, to 256"},
        /* inout, before, symbol */
        {"residual_inplace", "template.json", "\"role\": \"inout\"", "\"role\": \"in_out\"",
         "residual_inplace/template.json:25: tensors.x.role: unknown word \"in_out\"; did you mean "
         "\"inout\"?"},
        {"residual_inplace", "template.json", "\"role\": \"inout\"",
         "\"role\": \"inout\", \"before\": \"zero\"",
         "residual_inplace/template.json:25: tensors.x.before: only an output has it: x holds its "
         "input before a call"},
        {"histogram_add", "template.json", "\"before\": \"random\"", "\"before\": \"normal\"",
         "histogram_add/template.json:26: tensors.counts.before: must be \"zero\" or \"random\""},
        {"histogram_add", "template.json", "\"role\": \"input\", \"alignment\": 1",
         "\"role\": \"input\", \"before\": \"zero\", \"alignment\": 1",
         "histogram_add/template.json:25: tensors.keys.before: only an output has it: keys holds "
         "its input before a call"},
        {"histogram_add", "template.json", "{ \"before\": \"counts\" }",
         "{ \"before\": \"count\" }",
         "histogram_add/template.json:46: reference.launches[0].arguments[1].before: there is no "
         "tensor \"count\" that is read and written: its \"role\" must be \"inout\", or its "
         "\"before\" \"random\""},
        {"constant_filter", "template.json", "\"symbol\": \"filter\"", "\"symbol\": \"a filter\"",
         "constant_filter/template.json:34: tensors.taps.symbol: must be the name of a "
         "__constant__ or __device__ variable that is in no namespace"},
        {"constant_filter", "template.json", "\"role\": \"output\"",
         "\"role\": \"output\", \"symbol\": \"result\"",
         "constant_filter/template.json:35: tensors.out.symbol: only an input can be a variable of "
         "the kernel's module"},
        {"constant_filter", "template.json", "[\"image\", \"out\",",
         "[\"image\", \"taps\", \"out\",",
         "constant_filter/template.json:44: launches[0].arguments[1]: the kernel finds taps in its "
         "variable filter: remove the argument, or the tensor's \"symbol\""},
        /* fills, files, scalars, setup */
        {"weighted_pick", "template.json", "\"fill\": \"permutation\"",
         "\"fill\": \"permutations\"",
         "weighted_pick/template.json:25: tensors.order.fill: unknown fill \"permutations\": must "
         "be \"normal\", \"arange\", \"permutation\", \"probabilities\", \"setup\", or an object "
         "of \"uniform\", \"integers\","},
        {"weighted_pick", "template.json", "{ \"uniform\": [-2, 2.5] }", "{ \"uniform\": [2, -2] }",
         "weighted_pick/template.json:24: tensors.x.fill: the fill of x, f32 uniform from 2 to -2: "
         "its range is empty: change its numbers or its dtype"},
        {"weighted_pick", "template.json", "{ \"integers\": 16 }", "{ \"integers\": 1000 }",
         "weighted_pick/template.json:27: tensors.codes.fill: the fill of codes, u8 integers 0 to "
         "999: its dtype does not hold that range: change its numbers or its dtype"},
        {"weighted_pick", "template.json", "\"file\": \"table.npy\"", "\"file\": \"tabel.npy\"",
         "weighted_pick/template.json:28: tensors.table.fill.file: there is no file "},
        {"weighted_pick", "template.json", "\"file\": \"table.npy\"", "\"file\": \"../table.npy\"",
         "weighted_pick/template.json:28: tensors.table.fill.file: must name a file in the "
         "template's own folder"},
        {"weighted_pick", "template.json", "\"tensor\": \"offset\"", "\"tensor\": \"offsets\"",
         "weighted_pick/template.json:29: tensors.offsets.fill.file: "},
        {"weighted_pick", "template.json", "\"dtype\": \"f32\", \"shape\": [16]",
         "\"dtype\": \"f32\", \"shape\": [17]",
         "weighted_pick/template.json:28: tensors.table.fill: tensor table: table.npy holds f32 "
         "[16], but the tensor is f32 [17], 68 bytes: give the tensor the file's shape, and cases "
         "that have it"},
        {"weighted_pick", "template.json",
         "\"dtype\": \"i32\", \"fill\": { \"integers\": \"4 * COLS\" }",
         "\"dtype\": \"i16\", \"fill\": { \"integers\": \"4 * COLS\" }",
         "weighted_pick/template.json:36: scalars.SHIFT.dtype: a scalar is i32, i64, f32 or f64"},
        {"weighted_pick", "template.json", "\"SHIFT\": {", "\"ROWS\": {",
         "weighted_pick/template.json:36: scalars.ROWS: is also the name of something else: write "
         "another name"},
        {"weighted_pick", "template.json", "\"operations\": \"2", "\"operations\": \"SHIFT + 2",
         "weighted_pick/template.json:75: operations: column 1: unknown name 'SHIFT'; the nearest "
         "is 'FAULT'"},
        {"csr_product", "template.json",
         "\"role\": \"setup\", \"fill\": { \"integers\": \"PER_ROW + 1\" }",
         "\"role\": \"setup\", \"fill\": \"setup\"",
         "csr_product/template.json:21: tensors.lengths.fill: a tensor of role \"setup\" has "
         "another fill: { \"constant\": 0 } if setup writes it first"},
        {"csr_product", "template.json", "\"arguments\": [\"row_start\", \"columns\"",
         "\"arguments\": [\"lengths\", \"columns\"",
         "csr_product/template.json:49: launches: lengths has the role \"setup\": only the "
         "launches of setup take it"},
        {"csr_product", "template.json", "\"source\": \"setup.cu\"", "\"source\": \"set_up.cu\"",
         "csr_product/template.json:31: setup.source: there is no file "},
        {"csr_product", "template.json", "\"setup\": {", "\"set_up\": {",
         "csr_product/template.json:30: set_up: unknown key; did you mean \"setup\"?"},
        /* references */
        {"rms_rows", "template.json", "\"real\": true,\n    \"launches\"",
         "\"real\": 1,\n    \"launches\"",
         "rms_rows/template.json:37: reference.real: must be true or false"},
        {"running_sums", "template.json", "\"python\": \"reference.py\"",
         "\"python\": \"referenc.py\"",
         "running_sums/template.json:35: reference.python: there is no file "},
        {"running_sums", "template.json", "\"limit_s\": 60", "\"limit_s\": 0",
         "running_sums/template.json:35: reference.limit_s: must lie between 0 and 3600 seconds"},
        {"smooth_rows", "template.json", "\"reference\": \"default genome\"",
         "\"reference\": \"default\"",
         "smooth_rows/template.json:45: reference: must be an object with \"source\" and "
         "\"launches\", or with \"python\" or \"answers\", or \"default genome\""},
        {"take_columns", "template.json", "\"answers\": [", "\"answers\": [ {},",
         "take_columns/template.json:35: reference.answers[0]: the key \"case\" is missing"},
        {"take_columns", "template.json", "\"answers\": [",
         "\"answers\": [ { \"case\": {}, \"files\": { \"z\": \"z.npy\" } },",
         "take_columns/template.json:35: reference.answers[0].case: ROWS is missing (rows)"},
        /* tolerance, magnitude */
        {"mean_of_sines", "template.json", "\"absolute\": 2e-3", "\"absolut\": 2e-3",
         "mean_of_sines/template.json:21: tensors.y.tolerance.absolut: unknown key; did you mean "
         "\"absolute\"?"},
        {"mean_of_sines", "template.json", "\"absolute\": 2e-3",
         "\"absolute\": 2e-3, \"matched\": 2",
         "mean_of_sines/template.json:21: tensors.y.tolerance.matched: must be more than 0 and at "
         "most 1: the share of elements that agree"},
        {"mean_loss", "template.json", "\"magnitude\": \"loss_magnitude\"",
         "\"magnitude\": \"labels\"",
         "mean_loss/template.json:32: tensors.loss.magnitude: \"labels\" is the name of a tensor "
         "already: the magnitudes of loss need one of their own"},
        {"mean_loss", "template.json", "\"role\": \"input\", \"fill\": \"normal\"",
         "\"role\": \"input\", \"magnitude\": \"m\", \"fill\": \"normal\"",
         "mean_loss/template.json:30: tensors.logits.magnitude: only an output has a magnitude"},
        /* launch language */
        {"vector_copy", "template.json", "\"kernel\": \"copies::rest<VECTOR>\"",
         "\"kernel\": \"copies::rest[VECTOR]\"",
         "vector_copy/template.json:41: launches[1].kernel: '[' is part of no kernel's name: write "
         "the name of a kernel that is extern \"C\", or a C++ name expression such as copy<float, "
         "TILE>"},
        {"heat_steps", "template.json", "\"swap\": [[\"other\", \"y\"]]",
         "\"swap\": [[\"y\", \"other\"]]",
         "heat_steps/template.json:51: launches[0].swap[0]: the last round writes the second "
         "tensor, which would leave the result in a workspace: write [\"other\", \"y\"]"},
        {"heat_steps", "template.json", "\"swap\": [[\"other\", \"y\"]]",
         "\"swap\": [[\"x\", \"y\"]]",
         "heat_steps/template.json:51: launches[0].swap[0][0]: x is an input: only workspaces and "
         "outputs change places"},
        {"heat_steps", "template.json", "\"repeat\": \"ROUNDS\"", "\"repeat\": \"ROUND\"",
         "heat_steps/template.json:34: launches[0].repeat: column 1: unknown name 'ROUND'; the "
         "nearest is 'ROUNDS'"},
        {"heat_steps", "template.json", "\"operations\": \"4", "\"operations\": \"ROUND * 4",
         "heat_steps/template.json:83: operations: ROUND is the number of a round: only launches "
         "of a \"repeat\" know it"},
        /* genes */
        {"newton_root", "template.json", "\"text\": true", "\"text\": [\"float\"]",
         "newton_root/template.json:13: genes.REAL.text: must have as many texts as the gene has "
         "values: 2"},
        {"newton_root", "template.json", "\"text\": true", "\"text\": [\"float\", \"double\\n\"]",
         "newton_root/template.json:13: genes.REAL.text[1]: has a line break, a tab, a backslash "
         "or a comment: the source gets it within one line"},
        {"newton_root", "template.json", "\"real\": true, \"values\": [1.25e-7, 0.00001",
         "\"real\": true, \"values\": [1.25e-7, 1e-9",
         "newton_root/template.json:18: genes.STOP: the values of gene STOP are not in ascending "
         "order"},
        {"newton_root", "template.json", "\"real\": true, \"values\"", "\"values\"",
         "newton_root/template.json:18: genes.STOP.values[0]: must be a whole number: a gene of "
         "real numbers has \"real\": true"},
        {"newton_root", "template.json", "\"operations\": \"20 * N\"",
         "\"operations\": \"20 * N * STOP\"",
         "newton_root/template.json:65: operations: STOP is a gene of real numbers, which only the "
         "source can read, as a macro: let a gene of whole numbers stand in the expression, in "
         "thousandths or"},
        /* objective */
        {"mean_of_sines", "template.json", "\"objective\": \"operations / us\"",
         "\"objective\": \"operations\"",
         "mean_of_sines/template.json:60: objective: must be \"operations / us\" or \"bytes / "
         "us\", which a search makes as large as it can, or \"us\", which it makes small: write "
         "other work as \"operations\""},
    };
    const size_t count = sizeof mistakes / sizeof *mistakes;
    assert_true(count >= MISTAKES_LEAST);
    for (size_t i = 0; i < count; i++) {
        char text[TEXT_SIZE], place[256];
        put_broken(mistakes[i].template, mistakes[i].file, mistakes[i].piece, mistakes[i].other);
        load_broken(mistakes[i].template, text);
        if (*text == '\0')
            fail_msg("accepted: %s", mistakes[i].other);
        if (strstr(text, mistakes[i].message) == NULL)
            fail_msg("for %s\n  expected: %s\n  actual:   %s", mistakes[i].other,
                     mistakes[i].message, text);
        /* The row itself names the file and a line. */
        snprintf(place, sizeof place, "%s/%s:", mistakes[i].template, mistakes[i].file);
        assert_int_equal(strncmp(mistakes[i].message, place, strlen(place)), 0);
        assert_in_range(mistakes[i].message[strlen(place)], '1', '9');
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_mistake_has_a_place_and_a_remedy, example_setup,
                                        example_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
