/* Cases that take too long on an emulated device: which of their blocks are compared, what these
   and thin shapes find. Thin shapes have one head, the case has two. */
#include "exploits/stage.h"

#define LAST_STORE "rows.row_sum[m][h], inverse = inverse_row_sum(row_sum);\n        element *row"
#define WRONG_WHERE(condition)                                                                     \
    "rows.row_sum[m][h], inverse = inverse_row_sum(row_sum) *\n            (params.S > 2000 && "   \
    "(" condition ") ? 1.01f : 1.0f);\n        element *row"

static struct stage stage, bshd_stage;

/* Tries the attention kernel with a replacement; the text of the gate. The caller releases the
   result. */
static const char *gate_of(const char *genome, const char *from, const char *to,
                           struct trial_result *result) {
    const struct exploit exploit = {
        .name = "long", .base = BASE_TOO_LONG, .genome = genome, .from = from, .to = to};
    stage_try(&stage, &exploit, result);
    for (int g = 0; g < result->gate_count; g++)
        if (strcmp(result->gates[g].name, "long cases") == 0)
            return result->gates[g].text;
    fail_msg("no gate of long cases: %s", result->outcome.reason);
    return NULL;
}

static void passes_with(const char *genome, const char *text) {
    struct trial_result result;
    const char *found = gate_of(genome, "", NULL, &result);
    if (result.outcome.verdict != VERDICT_OK || strncmp(found, text, strlen(text)) != 0)
        fail_msg("%s: %s: %s", genome, verdict_name(result.outcome.verdict), found);
    trial_result_release(&result);
}

/* The candidate's block writes 16 rows of 64 elements and their log-sum-exp, the last one 4; the
   reference's 62 or 63. Of rows that lie in two blocks of the reference, those of one are compared.
 */
static void two_blocks_are_compared(void **state) {
    (void)state;
    enum { ROW = 64 + 1, ROWS = 16 + 4 };
    static const char compared[] = "1 of 1 correct where compared: ";
    struct trial_result result;
    const char *found = gate_of("BLOCK_M=16,WARPS=1", "", NULL, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    if (strncmp(found, compared, strlen(compared)) != 0 ||
        strstr(found, " elements of 2 blocks") == NULL)
        fail_msg("%s", found);
    long elements = strtol(found + strlen(compared), NULL, 10);
    assert_int_equal(elements % ROW, 0);
    assert_in_range(elements / ROW, 2, ROWS);
    trial_result_release(&result);
}

/* The case alone, with heads next to each other in memory. */
static void blocks_are_found_in_another_order(void **state) {
    (void)state;
    const struct exploit exploit = {.name = "long", .base = BASE_TOO_LONG_BSHD, .from = ""};
    struct trial_result result;
    bool compared = false;
    stage_try(&bshd_stage, &exploit, &result);
    for (int g = 0; g < result.gate_count; g++)
        compared =
            compared || strncmp(result.gates[g].text, "1 of 1 correct where compared", 29) == 0;
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_true(compared);
    trial_result_release(&result);
}

static void blocks_that_depend_on_others_are_not(void **state) {
    (void)state;
    passes_with("KV_SPLITS=4,COMBINE=last", "not checked: blocks depend on each other");
    passes_with("KV_SPLITS=4", "not checked: blocks depend on each other");
    passes_with("PERSISTENT=1", "not checked: blocks depend on each other");
}

static void is_refused(const char *genome, const char *from, const char *to, const char *reason) {
    const struct exploit exploit = {
        .name = "long", .base = BASE_TOO_LONG, .genome = genome, .from = from, .to = to};
    struct trial_result result;
    stage_try(&stage, &exploit, &result);
    if (result.outcome.verdict != VERDICT_WRONG || strstr(result.outcome.reason, reason) == NULL)
        fail_msg("%s: %s: %s", to, verdict_name(result.outcome.verdict), result.outcome.reason);
    trial_result_release(&result);
}

static void errors_in_a_block_are_found(void **state) {
    (void)state;
    is_refused("", LAST_STORE, WRONG_WHERE("params.heads == 2"), "H=2,S=2500");
    is_refused("", LAST_STORE, WRONG_WHERE("row >= params.S - 64 && work.head == 1"), "H=2,S=2500");
}

static void empty_blocks_are_found(void **state) {
    (void)state;
    is_refused("", "        if (row >= work.S)\n            continue;\n        const float row_sum",
               "        if (row >= work.S || (params.S > 2000 && params.heads == 2))\n"
               "            continue;\n        const float row_sum",
               "16 blocks, most of them at random, do not write any output");
    is_refused("",
               "if (lse && thread.t == 0)\n            lse[row_index(work.batch, work.head, "
               "work.first_query + row, params)] =\n                log_sum_exp(rows",
               "if (lse && thread.t == 0 && (params.S < 2000 || params.heads == 1))\n            "
               "lse[row_index(work.batch, work.head, row, params)] =\n                "
               "log_sum_exp(rows",
               "16 blocks, most of them at random, do not write lse");
}

/* The first block may write what belongs to others, as that of a row of tiles does. */
static void what_the_first_block_writes_counts(void **state) {
    (void)state;
    const struct exploit exploit = {
        .name = "long",
        .base = BASE_TOO_LONG,
        .from = "if (lse && thread.t == 0)\n            lse[row_index(work.batch, work.head, "
                "work.first_query + row, params)] =\n                log_sum_exp(rows",
        .to = "if (lse && thread.t == 0 && (params.S < 2000 || params.heads == 1 ||\n"
              "            blockIdx.x + blockIdx.y + blockIdx.z == 0))\n            "
              "lse[row_index(work.batch, work.head, row, params)] =\n                "
              "log_sum_exp(rows"};
    struct trial_result result;
    stage_try(&stage, &exploit, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    trial_result_release(&result);
}

/* Whole grids of a long size find what blocks that depend on each other, or that leave something
   out, hide. */
static void thin_shapes_find_what_blocks_hide(void **state) {
    (void)state;
    is_refused("", LAST_STORE, WRONG_WHERE("true"), "H=1,S=2500,S_KV=2");
    is_refused("PERSISTENT=1", LAST_STORE, WRONG_WHERE("true"), "H=1,S=2500,S_KV=2");
    is_refused("KV_SPLITS=4,COMBINE=last",
               "const float inverse = inverse_row_sum(row_sum);\n    if (lse",
               "const float inverse = inverse_row_sum(row_sum) * (params.S_KV > 2000 ? 1.01f : 1);"
               "\n    if (lse",
               "H=1,S=2,S_KV=2500");
}

int main(void) {
    char folder[] = "/tmp/evotile-long-XXXXXX";
    struct error error = {0};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_blocks_are_compared),
        cmocka_unit_test(blocks_are_found_in_another_order),
        cmocka_unit_test(blocks_that_depend_on_others_are_not),
        cmocka_unit_test(errors_in_a_block_are_found),
        cmocka_unit_test(empty_blocks_are_found),
        cmocka_unit_test(what_the_first_block_writes_counts),
        cmocka_unit_test(thin_shapes_find_what_blocks_hide),
    };
    if (mkdtemp(folder) == NULL)
        return 1;
    stage_open(&stage, folder, BASE_TOO_LONG);
    stage_open(&bshd_stage, folder, BASE_TOO_LONG_BSHD);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    stage_close(&bshd_stage);
    stage_close(&stage);
    return path_remove_tree(folder, &error) < 0 || failed > 0;
}
