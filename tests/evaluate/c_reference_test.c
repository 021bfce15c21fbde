/* Both references of a template are compared. In a league of the kernel, the plain kernel and
   reference.cu, which all leave out the same, only reference.c shows it. */
#include "evaluate/c_reference.h"
#include "evaluate/edge_shapes.h"
#include "evaluate/verify_fixture.h"

static struct verify_fixture verify_fixture;

/* Compares the references at a case of a template; copies the message. */
static int compare(const char *folder, const char *shape, char message[1536]) {
    struct error error = {0};
    verify_fixture_load(&verify_fixture, folder, shape);
    verify_fixture.genome = genome_default(verify_fixture.template->space);
    const struct verify_case one = verify_fixture_case(&verify_fixture, 0);
    int count, status = c_reference_compare(&one, verify_fixture.nvrtc, &count, &error);
    snprintf(message, 1536, "%s", status < 0 ? error.text : "");
    return status;
}

static void own_references_agree(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"templates/attention_fwd", "{\"B\": 1, \"H\": 1, \"S\": 9, \"S_KV\": 17, \"D\": 64}"},
        {"templates/attention_fwd", "{\"B\": 1, \"H\": 2, \"H_KV\": 1, \"S\": 5, \"S_KV\": 9, "
                                    "\"D\": 64, \"CAUSAL\": 1, \"BF16\": 1, \"BSHD\": 1, "
                                    "\"LSE\": 1, \"SCALE\": 0.3, \"GAP\": 8}"},
        {"templates/attention_fwd", "{\"B\": 1, \"H\": 1, \"S\": 9, \"S_KV\": 5, \"D\": 64, "
                                    "\"CAUSAL\": 1, \"LSE\": 1}"}, /* rows without a visible key */
        {"templates/attention_fwd", "{\"B\": 4, \"H\": 1, \"S\": 9, \"S_KV\": 13, \"D\": 32, "
                                    "\"CAUSAL\": 1, \"LSE\": 1, \"VARLEN\": 1}"},
        {"templates/softmax_rows", "{\"ROWS\": 3, \"COLS\": 33}"},
        {"templates/softmax_rows", "{\"ROWS\": 3, \"COLS\": 33, \"F32\": 1}"},
        {"tests/templates/scaled_add", "{\"ROWS\": 3, \"COLS\": 33, \"BIAS\": 1}"},
        {"tests/bench/gemm", "{\"M\": 9, \"N\": 70, \"K\": 33}"},
        {"tests/exploits/row_softmax", "{\"ROWS\": 3, \"S\": 33}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char message[1536];
        int status = compare(cases[i][0], cases[i][1], message);
        if (status != 0)
            fail_msg("%s at %s: %d, %s", cases[i][0], cases[i][1], status, message);
    }
}

/* A copy of the templates in which `from` is replaced by `to` in files of one of them. */
static void copy_templates(char folder[64], const char *name, const char *files, const char *from,
                           const char *to) {
    char command[1024];
    strcpy(folder, "/tmp/evotile-league-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command,
             "cp -r templates/. %s && cd %s/%s && for f in %s; do grep -q '%s' $f && "
             "sed -i 's/%s/%s/' $f || exit 1; done",
             folder, folder, name, files, from, from, to);
    assert_int_equal(system(command), 0);
    strncat(folder, "/", 63 - strlen(folder));
    strncat(folder, name, 63 - strlen(folder));
}

static void remove_templates(char *folder) {
    struct error error = {0};
    *strrchr(folder, '/') = '\0';
    must(path_remove_tree(folder, &error), &error);
}

/* Verifies the league's own kernel, which passes, then compares its references, which differ. */
static void check_league(const char *folder, const char *shape) {
    char reason[REASON_SIZE], message[1536];
    struct verify_result found;
    assert_int_equal(compare(folder, shape, message), -1);
    assert_non_null(strstr(message, "the references differ"));
    assert_non_null(strstr(message, "reference.c and"));
    assert_non_null(strstr(message, "by reference.cu: correct the wrong one"));
    assert_non_null(strstr(message, ", element "));
    const struct genome genome = genome_default(verify_fixture.template->space);
    verify_fixture_build(&verify_fixture, &genome, NULL, NULL);
    if (verify_fixture_run(&verify_fixture, &(struct verify_input){.seed = 1}, &found, reason) !=
        VERDICT_OK)
        fail_msg("not in league: %s", reason);
}

/* Compares the references of a template at all of its reference cases; `shape` is any case. */
static void compare_reference_cases(const char *folder, const char *shape) {
    struct error error = {0};
    verify_fixture_load(&verify_fixture, folder, shape);
    const struct template *template = verify_fixture.template;
    const struct genome genome = genome_default(template->space);
    const struct template_setting setting = {.device = &verify_fixture.device->info,
                                             .smem_limit = SMEM_DEFAULT_LIMIT};
    struct template *cases = template_load_reference_cases(template, &setting, &error);
    must(cases != NULL ? 0 : -1, &error);
    struct verify_case one = verify_fixture_case(&verify_fixture, 0);
    int count;
    one.template = cases;
    one.genome = &genome;
    must(c_reference_compare(&one, verify_fixture.nvrtc, &count, &error), &error);
    assert_int_equal(count, cases->case_count);
    template_free(cases);
}

/* Other columns, windows, soft caps and sinks, which no single run has: none is too large. Operands
   stored either way, and every epilogue. */
static void they_agree_at_all_reference_cases(void **state) {
    (void)state;
    compare_reference_cases("templates/attention_fwd", "{\"B\": 1, \"H\": 1, \"S\": 9, \"D\": 64}");
    compare_reference_cases("templates/gemm", "{\"M\": 9, \"N\": 16, \"K\": 24}");
}

/* Wide columns make a small case expensive; the smallest of some is compared all the same. */
static void the_smallest_probe_case_is_compared_at_any_width(void **state) {
    static const int widths[] = {32, 64, 96, 128, 192, 256};
    (void)state;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct error error = {0};
        char shape[64];
        int count = 0;
        snprintf(shape, sizeof shape, "{\"B\": 1, \"H\": 1, \"S\": 9, \"D\": %d}", widths[i]);
        verify_fixture_load(&verify_fixture, "templates/attention_fwd", shape);
        const struct genome genome = genome_default(verify_fixture.template->space);
        const struct template_setting setting = {.device = &verify_fixture.device->info,
                                                 .smem_limit = SMEM_DEFAULT_LIMIT};
        struct template *probes = template_load_probes(verify_fixture.template, &setting, &error);
        must(probes != NULL ? 0 : -1, &error);
        struct verify_case one = verify_fixture_case(&verify_fixture, 0);
        one.template = probes;
        one.genome = &genome;
        must(c_reference_compare(&one, verify_fixture.nvrtc, &count, &error), &error);
        assert_true(count >= 1);
        template_free(probes);
    }
}

static void no_large_case_is_compared(void **state) {
    char message[1536];
    (void)state;
    assert_int_equal(compare("templates/attention_fwd",
                             "{\"B\": 1, \"H\": 1, \"S\": 90, \"S_KV\": 130, \"D\": 128}", message),
                     1);
}

static void left_out_scale_is_found(void **state) {
    (void)state;
    char folder[64];
    copy_templates(folder, "attention_fwd", "reference_tiles.cuh", "const real factor = .*;",
                   "const real factor = 1;");
    char command[256];
    snprintf(command, sizeof command, "sed -i 's/? 0.125f/? 1.0f/' %s/mma/kernel.cu", folder);
    assert_int_equal(system(command), 0);
    check_league(folder, "{\"B\": 1, \"H\": 1, \"S\": 9, \"S_KV\": 17, \"D\": 64}");
    remove_templates(folder);
}

static void left_out_last_column_is_found(void **state) {
    (void)state;
    char folder[64];
    copy_templates(folder, "softmax_rows", "reference.cu plain.cu", "for (int column = 0;",
                   "for (int column = COLS > 1;");
    char message[1536];
    assert_int_equal(compare(folder, "{\"ROWS\": 2, \"COLS\": 33}", message), -1);
    assert_non_null(strstr(message, "element 0 of y"));
    remove_templates(folder);
}

/* As evaluate/probes.c does it: at the largest thin shapes that are cheap enough. */
static int compare_thin(const char *folder, const char *shape, char message[1536]) {
    struct error error = {0};
    verify_fixture_load(&verify_fixture, folder, shape);
    const struct template *template = verify_fixture.template;
    const struct genome genome = genome_default(template->space);
    const struct template_setting setting = {.device = &verify_fixture.device->info,
                                             .smem_limit = SMEM_DEFAULT_LIMIT,
                                             .cases = template->cases,
                                             .case_count = template->case_count};
    struct verify_case one = verify_fixture_case(&verify_fixture, 0);
    int status = 1;
    one.genome = &genome;
    for (int halvings = 0; status == 1; halvings++) {
        struct template *thin = thin_shapes_load(template, &setting, halvings, &error);
        assert_int_equal(error.kind, ERROR_NONE);
        if (thin == NULL)
            return 1;
        one.template = thin;
        status = c_reference_compare_thin(&one, verify_fixture.nvrtc, &error);
        template_free(thin);
    }
    snprintf(message, 1536, "%s", status < 0 ? error.text : "");
    return status;
}

/* Small cases do not show it. */
static void left_out_beyond_a_size_is_found(void **state) {
    (void)state;
    static const char shape[] = "{\"ROWS\": 64, \"COLS\": 9000}";
    char folder[64], message[1536];
    copy_templates(folder, "softmax_rows", "reference.cu plain.cu", "column < COLS",
                   "column < (COLS > 500 ? 500 : COLS)");
    assert_int_equal(compare(folder, "{\"ROWS\": 3, \"COLS\": 100}", message), 0);
    assert_int_equal(compare_thin(folder, shape, message), -1);
    assert_non_null(strstr(message, "the references differ: at ROWS=2,COLS="));
    remove_templates(folder);
}

static void own_references_agree_at_thin_shapes(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"templates/attention_fwd", "{\"B\": 2, \"H\": 3, \"S\": 2000, \"D\": 64, \"LSE\": 1}"},
        {"templates/attention_fwd", "{\"B\": 2, \"H\": 3, \"S\": 700, \"S_KV\": 9000, \"D\": "
                                    "64, \"CAUSAL\": 1, \"BSHD\": 1}"},
        {"templates/softmax_rows", "{\"ROWS\": 3000, \"COLS\": 5000}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char message[1536];
        int status = compare_thin(cases[i][0], cases[i][1], message);
        if (status != 0)
            fail_msg("%s at %s: %d, %s", cases[i][0], cases[i][1], status, message);
    }
    assert_int_equal(
        compare_thin("templates/softmax_rows", "{\"ROWS\": 9, \"COLS\": 127}", (char[1536]){0}), 1);
}

static void what_cannot_be_compared_passes(void **state) {
    (void)state;
    char folder[64], message[1536];
    copy_templates(folder, "softmax_rows", "reference.c", "double \\*y = tensors",
                   "double *new = tensors");
    assert_int_equal(compare(folder, "{\"ROWS\": 2, \"COLS\": 33}", message), 1);
    remove_templates(folder);
    assert_int_equal(compare("templates/softmax_rows", "{\"ROWS\": 1000, \"COLS\": 1000}", message),
                     1);
}

static int open_fixture(void **state) {
    (void)state;
    verify_fixture_open(&verify_fixture, "emulated:sm_89");
    return 0;
}

static int close_fixture(void **state) {
    (void)state;
    verify_fixture_close(&verify_fixture);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_references_agree),
        cmocka_unit_test(the_smallest_probe_case_is_compared_at_any_width),
        cmocka_unit_test(no_large_case_is_compared),
        cmocka_unit_test(they_agree_at_all_reference_cases),
        cmocka_unit_test(left_out_scale_is_found),
        cmocka_unit_test(left_out_last_column_is_found),
        cmocka_unit_test(left_out_beyond_a_size_is_found),
        cmocka_unit_test(own_references_agree_at_thin_shapes),
        cmocka_unit_test(what_cannot_be_compared_passes),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
