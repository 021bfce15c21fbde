/* How measured claims are counted and shown. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs these first. */
#include <cmocka.h>

#include "analysis/ablation.h"
#include "base/memory.h"

static void add_move(struct ablation *ablation, const char *genome, enum verdict verdict,
                     double ratio, double low, double high) {
    struct ablation_move *move = ablation_add(ablation);
    snprintf(move->gene, sizeof move->gene, "A");
    snprintf(move->genome, sizeof move->genome, "%s", genome);
    move->verdict = verdict;
    move->duel =
        (struct duel_outcome){.result = DUEL_LOST, .ratio = ratio, .low = ratio, .high = ratio};
    move->has_claim = low > 0;
    move->claim = (struct effect){.ratio = 1, .low = low, .high = high, .tried = 3, .pairs = 1};
}

static struct ablation *four_claims(void) {
    struct ablation *ablation = xcalloc(1, sizeof *ablation);
    snprintf(ablation->genome, sizeof ablation->genome, "A=1,B=1");
    add_move(ablation, "A=2,B=1", VERDICT_OK, 1.3, 1.1, 1.4);       /* right, within */
    add_move(ablation, "A=3,B=1", VERDICT_OK, 1.01, 1.1, INFINITY); /* right, not within */
    add_move(ablation, "A=4,B=1", VERDICT_OK, 0.99, 1.1, 1.4);      /* wrong */
    add_move(ablation, "A=5,B=1", VERDICT_OK, 0.8, 0.7, 0.9);       /* faster: right, within */
    add_move(ablation, "A=6,B=1", VERDICT_WRONG, 0, 1.1, 1.4);      /* not measured */
    add_move(ablation, "A=7,B=1", VERDICT_OK, 2, 0, 0);             /* not a claim */
    return ablation;
}

static void claims_are_counted(void **state) {
    (void)state;
    struct ablation *ablation = four_claims();
    const struct claim_counts counts = ablation_count_claims(ablation);
    assert_int_equal(counts.claims, 5);
    assert_int_equal(counts.measured, 4);
    assert_int_equal(counts.right, 3);
    assert_int_equal(counts.within, 2);
    ablation_free(ablation);
}

static char *text_of(const struct ablation *ablation) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct table *table = ablation_table(ablation);
    table_print(table, TABLE_MARKDOWN, out);
    table_free(table);
    fclose(out);
    return text;
}

/* Without a claim there are no columns for claims. */
static void claims_are_shown(void **state) {
    (void)state;
    struct ablation *ablation = four_claims();
    char *text = text_of(ablation);
    assert_non_null(strstr(text, "claimed"));
    assert_non_null(strstr(text, "| slower | 10.0 | 40.0 | model: 3 trials with it, 1 pair |"));
    assert_non_null(strstr(text, "| slower | 10.0 | - | model"));
    assert_non_null(strstr(text, "| slower | - | - | - |"));
    free(text);
    cJSON *json = ablation_json(ablation);
    const cJSON *moves = cJSON_GetObjectItemCaseSensitive(json, "moves");
    assert_non_null(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(moves, 0), "claim"));
    assert_null(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(moves, 5), "claim"));
    cJSON_Delete(json);
    for (int i = 0; i < ablation->count; i++)
        ablation->moves[i].has_claim = false;
    text = text_of(ablation);
    assert_null(strstr(text, "claimed"));
    free(text);
    ablation_free(ablation);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_are_counted),
        cmocka_unit_test(claims_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
