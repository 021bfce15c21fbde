/* Names that try to break a page, and every trial of a run read back from CSV and from the
   scatter plot. */
#include "base/memory.h"
#include "report/page.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h needs these first. */
#include <cmocka.h>

#include "analysis/ablation.h"
#include "base/path.h"
#include "report/scatter.h"
#include "run/baseline_results.h"
#include "run/run_artifacts.h"

#define WORKER "gpu1/cuda:3"

enum { TRIALS = 240, GOALS = 2 };

static const char *const goals[GOALS] = {"<img src=x onerror=alert(1)>", "a\"b,'c' &amp; {{raw}}"};
static const char gene_a[] = "</script><script>alert(2)</script>";
static const char gene_b[] = "'\"><svg onload alert(3)>";
static const char *const labels[] = {"\"quoted\"", "<b>bold", "back\\slash", "\xc3\xa9|`*"};

static char folder[PATH_SIZE], run_dir[PATH_SIZE];

static void genome_of(int number, char text[256]) {
    snprintf(text, 256, "%s=%d,%s=%s", gene_a, 1 << number % 7, gene_b, labels[number % 4]);
}

static double score_of(int number) {
    return number % 9 == 8 ? NAN : 3 + (number * 37 % 101) / 7.0;
}

static void tell(struct store *store, int number, struct outcome *outcome) {
    struct error error = {0};
    char genome[256];
    genome_of(number, genome);
    outcome_release(outcome);
    outcome->verdict = VERDICT_WRONG;
    outcome->predicted = true;
    snprintf(outcome->reason, sizeof outcome->reason, "<i onclick=alert(4)>%d", number % 3);
    if (!isnan(score_of(number))) {
        outcome->verdict = VERDICT_OK;
        outcome->score_us = score_of(number);
        outcome->raced = number % 5 == 4;
        outcome_set_cases(outcome, 1);
        outcome->cases[0].warm.p50_us = score_of(number);
        outcome->cases[0].tflops = 1.5;
        outcome->resources = (struct resources){.registers = 32 + number, .ctas_per_sm = 2};
    }
    const struct store_ask ask = {.number = number,
                                  .goal = number % GOALS,
                                  .genome = genome,
                                  .parent_a = number >= 4 ? number - 4 : STORE_NO_TRIAL,
                                  .parent_b = number >= 6 ? number - 6 : STORE_NO_TRIAL,
                                  .operator_name = "<u>operator</u>"};
    assert_true(store_ask(store, &ask, &error) > 0);
    assert_true(store_tell(store, number, outcome, NULL, WORKER, &error) > 0);
}

static int make_run(void **state) {
    (void)state;
    static const struct store_meta meta[] = {
        {"device_name", "<h1>device</h1>"}, {"template", "t<em>"}, {"driver", "\"1\" & <2>"}};
    struct outcome outcome = {0};
    struct error error = {0};
    snprintf(folder, sizeof folder, "/tmp/evotile-page-XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(path_join(run_dir, folder, "<s>run & \"co\",x", &error), 0);
    struct store *store =
        store_create(run_dir, &(struct store_description){meta, 3, goals, GOALS}, &error);
    assert_non_null(store);
    assert_int_equal(store_begin(store, &error), 0);
    int64_t champions[GOALS] = {STORE_NO_TRIAL, STORE_NO_TRIAL};
    for (int i = 0; i < TRIALS; i++) {
        int goal = i % GOALS;
        tell(store, i, &outcome);
        if (outcome.verdict != VERDICT_OK || outcome.raced ||
            (champions[goal] >= 0 && score_of((int)champions[goal]) <= score_of(i)))
            continue;
        assert_int_equal(
            store_record_champion(store, goal, i, champions[goal], score_of(i), &error), 0);
        champions[goal] = i;
    }
    assert_int_equal(store_commit(store, &error), 0);
    store_close(store);
    outcome_release(&outcome);
    return 0;
}

static int remove_run(void **state) {
    struct error error = {0};
    (void)state;
    return path_remove_tree(folder, &error);
}

static struct run_data *read_run_data(void) {
    struct error error = {0};
    struct run_data *run = run_data_read(run_dir, &error);
    assert_non_null(run);
    return run;
}

static char *printed(enum page_format format) {
    struct run_data *run = read_run_data();
    struct error error = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (page_print(&(struct page_content){.runs = &run, .run_count = 1}, format, out, &error) < 0)
        fail_msg("%s", error.text);
    fclose(out);
    run_data_free(run);
    return text;
}

static int times(const char *text, const char *word) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word))
        count++;
    return count;
}

static void expect_harmless(const char *html) {
    static const char *const never[] = {"<img", "<b>bold",    "<svg onload",
                                        "<u>",  "<i onclick", "<h1>device",
                                        "<em>", "<s>",        "<script>alert"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        assert_null(strstr(html, never[i]));
    /* One for the data of the scatter plot, one for the program. */
    assert_int_equal(times(html, "</script>"), 2);
    assert_int_equal(times(html, "<script"), 2);
    assert_non_null(strstr(html, "&lt;img src=x onerror=alert(1)&gt;"));
    assert_int_equal(times(html, "{{"), times(html, "{{raw}}"));
}

static void names_are_no_markup(void **state) {
    (void)state;
    char *html = printed(PAGE_HTML);
    expect_harmless(html);
    assert_true(times(html, "<svg viewBox") > 5);
    free(html);
}

static void markdown_is_text_alone(void **state) {
    (void)state;
    char *text = printed(PAGE_MARKDOWN);
    assert_int_equal(times(text, "<svg"), times(text, "\\<svg"));
    assert_null(strstr(text, "{{#"));
    assert_non_null(strstr(text, "a prediction of the emulated device"));
    free(text);
}

static void json_has_the_tables(void **state) {
    (void)state;
    char *text = printed(PAGE_JSON);
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    const cJSON *run = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "runs"), 0);
    const cJSON *goals_found = cJSON_GetObjectItem(run, "goals");
    assert_int_equal(cJSON_GetObjectItem(run, "trials")->valueint, TRIALS);
    assert_int_equal(cJSON_GetArraySize(goals_found), GOALS);
    const cJSON *goal = cJSON_GetArrayItem(goals_found, 0);
    assert_string_equal(cJSON_GetObjectItem(goal, "name")->valuestring, goals[0]);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(goal, "board")), 10);
    assert_null(cJSON_GetObjectItem(run, "scatter"));
    cJSON_Delete(root);
    free(text);
}

/* ---- CSV ---- */

/* Reads the next field of RFC 4180 and the character that ended it. */
static char next_field(const char **at, char field[512]) {
    size_t used = 0;
    bool quoted = **at == '"';
    *at += quoted;
    while (quoted ? **at != '"' || (*at)[1] == '"' : **at != ',' && **at != '\n') {
        *at += quoted && **at == '"';
        assert_true(**at != '\0' && used < 511);
        field[used++] = *(*at)++;
    }
    field[used] = '\0';
    *at += quoted;
    return *(*at)++;
}

static void csv_gives_every_trial_back(void **state) {
    (void)state;
    enum { COLUMNS = 25 };
    struct run_data *run = read_run_data();
    char *text = NULL, fields[COLUMNS][512];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    page_print_csv(&run, 1, out);
    fclose(out);
    const char *at = text;
    for (int row = -1; row < TRIALS; row++) {
        for (int c = 0; c < COLUMNS; c++)
            assert_int_equal(next_field(&at, fields[c]), c == COLUMNS - 1 ? '\n' : ',');
        if (row < 0) {
            assert_string_equal(fields[23], gene_a);
            assert_string_equal(fields[24], gene_b);
            continue;
        }
        char number[32], genome[256], expected[256];
        snprintf(number, sizeof number, "%d", row);
        assert_string_equal(fields[0], run_dir);
        assert_string_equal(fields[2], goals[row % GOALS]);
        assert_string_equal(fields[3], number);
        assert_string_equal(fields[4], "<u>operator</u>");
        assert_string_equal(fields[5], WORKER);
        assert_string_equal(fields[9], isnan(score_of(row)) ? "wrong" : "ok");
        assert_true(isnan(score_of(row)) ? fields[13][0] == '\0'
                                         : fabs(strtod(fields[13], NULL) - score_of(row)) < 1e-6);
        snprintf(genome, sizeof genome, "%s=%.20s,%s=%.20s", gene_a, fields[23], gene_b,
                 fields[24]);
        genome_of(row, expected);
        assert_string_equal(genome, expected);
    }
    assert_string_equal(at, "");
    free(text);
    run_data_free(run);
}

/* ---- the scatter ---- */

static int sum_of_cells(const cJSON *cells) {
    int sum = 0, place = 0;
    const cJSON *number;
    cJSON_ArrayForEach(number, cells) sum += place++ % 3 == 2 ? number->valueint : 0;
    return sum;
}

static void check_goal(const struct run_data *run, const cJSON *goal, int number,
                       const struct scatter_note *note, bool binned) {
    const cJSON *dots = cJSON_GetObjectItem(goal, "dots");
    const char *flags = cJSON_GetObjectItem(dots, "f")->valuestring;
    const struct goal_view *view = &run->goals[number];
    assert_int_equal(note->valid, view->valid);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(dots, "n")), note->dots);
    assert_int_equal(strlen(flags), note->dots);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(dots, "g")), note->dots);
    assert_true(binned ? note->dots < note->valid : note->dots == note->valid);
    int marked = 0;
    for (const char *flag = flags; *flag != '\0'; flag++)
        marked += *flag == 'e' || *flag == 'c';
    assert_true(marked >= view->elite_count && marked <= view->elite_count + view->champion_count);
    if (!binned)
        return;
    /* On every axis, each trial is counted once. */
    const cJSON *cells = cJSON_GetObjectItem(goal, "cells");
    const cJSON *axis;
    cJSON_ArrayForEach(axis, cJSON_GetObjectItem(cells, "g"))
        assert_int_equal(sum_of_cells(axis), note->valid);
    axis = cJSON_GetArrayItem(cJSON_GetObjectItem(cells, "r"), RESOURCE_REGISTERS);
    assert_int_equal(sum_of_cells(axis), note->valid);
}

/* The picture has a dot for each dot of the data, and one axis is shown. */
static void check_picture(const struct run_data *run, const struct scatter_note *note,
                          bool binned) {
    int dots = 0;
    assert_non_null(note->picture);
    for (const char *at = note->picture; (at = strstr(at, "h0")) != NULL; at++)
        dots++;
    int legend = times(note->picture, "dots-");
    assert_int_equal(dots, note->dots + legend);
    assert_int_equal(times(note->picture, "cells-"), binned ? 8 : 0);
    assert_int_equal(times(note->picture, "<g data-name="), run->genes.count + RESOURCE_COUNT);
    assert_int_equal(times(note->picture, "<g data-name=") - 1,
                     times(note->picture, " display=\"none\""));
}

static void the_scatter_counts_every_trial(void **state) {
    (void)state;
    struct run_data *run = read_run_data();
    const int weightiest[GOALS] = {0, 1};
    struct scatter_note notes[GOALS];
    for (int binned = 0; binned < 2; binned++) {
        char *json = scatter_json(run, weightiest, binned ? 20 : TRIALS, 16, notes);
        assert_null(strchr(json, '<'));
        cJSON *root = cJSON_Parse(json);
        assert_non_null(root);
        const cJSON *gene = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "genes"), 0);
        assert_string_equal(cJSON_GetObjectItem(gene, "name")->valuestring, gene_a);
        for (int g = 0; g < GOALS; g++) {
            check_goal(run, cJSON_GetArrayItem(cJSON_GetObjectItem(root, "goals"), g), g, &notes[g],
                       binned);
            check_picture(run, &notes[g], binned);
            free(notes[g].picture);
        }
        cJSON_Delete(root);
        free(json);
    }
    run_data_free(run);
}

/* ---- artifacts that other commands store in a run ---- */

static void keep_baseline(struct store *store) {
    struct error error = {0};
    struct baseline_results *it = baseline_results_new();
    snprintf(it->name, sizeof it->name, "<q>a library");
    snprintf(it->device, sizeof it->device, "none");
    it->case_count = GOALS;
    for (int c = 0; c < GOALS; c++) {
        struct baseline_case *one = &it->cases[c];
        snprintf(one->name, sizeof one->name, "case %d", c);
        one->count = 2;
        one->fastest = 0;
        snprintf(one->figures[0].name, sizeof one->figures[0].name, "flash");
        one->figures[0].warm.p50_us = 2.5 * 3; /* the best trial of goal 0 takes 3 */
        snprintf(one->figures[1].name, sizeof one->figures[1].name, "math");
        snprintf(one->figures[1].unable, sizeof one->figures[1].unable, "cannot <do> it");
    }
    assert_int_equal(baseline_results_write(store, it, &error), 0);
    baseline_results_free(it);
}

static void keep_ablation(struct store *store) {
    struct error error = {0};
    struct ablation *it = xcalloc(1, sizeof *it);
    char name[32];
    it->trial = 7;
    snprintf(it->device, sizeof it->device, "none");
    genome_of(7, it->genome);
    struct ablation_move *move = ablation_add(it);
    snprintf(move->gene, sizeof move->gene, "%s", gene_b);
    genome_of(14, move->genome);
    move->duel = (struct duel_outcome){DUEL_LOST, 10, 1.625, 1.5, 1.75};
    ablation_name(0, name);
    assert_int_equal(run_artifact_write(store, name, ablation_json(it), &error), 0);
    ablation_free(it);
}

static void what_is_kept_is_shown(void **state) {
    (void)state;
    struct error error = {0};
    char *html = printed(PAGE_HTML);
    assert_null(strstr(html, "Comparison with the baselines"));
    assert_null(strstr(html, "Ablation of the champion"));
    free(html);
    struct store *store = store_open(run_dir, STORE_WRITE, &error);
    assert_non_null(store);
    keep_baseline(store);
    keep_ablation(store);
    store_close(store);
    html = printed(PAGE_HTML);
    assert_non_null(strstr(html, "Comparison with the baselines"));
    assert_non_null(strstr(html, "<td>flash<td class=number>7.500"));
    assert_non_null(strstr(html, ">2.50<td class=wrap>the fastest"));
    assert_non_null(strstr(html, "cannot &lt;do&gt; it"));
    assert_null(strstr(html, "<q>"));
    assert_int_equal(times(html, "Ablation of the champion"), 1);
    assert_non_null(strstr(html, "Each gene of trial 7 changed alone, by duel"));
    assert_non_null(strstr(html, ">62.5<"));
    expect_harmless(html);
    free(html);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_no_markup),
        cmocka_unit_test(markdown_is_text_alone),
        cmocka_unit_test(json_has_the_tables),
        cmocka_unit_test(csv_gives_every_trial_back),
        cmocka_unit_test(the_scatter_counts_every_trial),
        cmocka_unit_test(what_is_kept_is_shown),
    };
    return cmocka_run_group_tests(tests, make_run, remove_run);
}
