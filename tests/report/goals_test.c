/* Runs with few and with many goals: the legend of their picture names each, side by side;
   predictions are compared with measurements for the goals that have both. */
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

#include "base/path.h"
#include "report/pictures.h"
#include "run/predictions.h"
#include "run/run_artifacts.h"

enum { TRIALS_A_GOAL = 30, GOALS_MOST = 16 };

struct made {
    char folder[PATH_SIZE], run_dir[PATH_SIZE];
    int goals;
};

/* One in ten fails. */
static double measured_us(int number) {
    return number % 10 == 9 ? NAN : 5 + (number * 37 % 101) / 4.0;
}

/* In the right order, and 10 % too high. */
static double predicted_us_of(int number) {
    return 1.1 * measured_us(number);
}

static void goal_name(int goal, char name[64]) {
    snprintf(name, 64, "B=1,H=8,S=%d,D=64", 128 << goal);
}

static bool with_energy;

static void tell(struct store *store, int number, int goals, struct outcome *outcome) {
    struct error error = {0};
    char genome[64];
    snprintf(genome, sizeof genome, "SIZE=%d,KIND=%d", 1 << number % 5, number % 3);
    outcome_release(outcome);
    outcome->verdict = VERDICT_WRONG;
    if (!isnan(measured_us(number))) {
        outcome->verdict = VERDICT_OK;
        outcome->score_us = measured_us(number);
        outcome_set_cases(outcome, 1);
        if (with_energy) /* slower trials need less; every third one needs more */
            outcome->cases[0].energy =
                (struct energy){(number % 3 == 0 ? 5000 : 1000) / measured_us(number), 0.001, 1, 1};
    }
    const struct store_ask ask = {.number = number,
                                  .goal = number % goals,
                                  .genome = genome,
                                  .parent_a = STORE_NO_TRIAL,
                                  .parent_b = STORE_NO_TRIAL,
                                  .operator_name = "start"};
    assert_true(store_ask(store, &ask, &error) > 0);
    assert_true(store_tell(store, number, outcome, NULL, "cuda:0", &error) > 0);
}

static void make(struct made *made, int goals) {
    static const struct store_meta meta[] = {{"device_name", "made up"}};
    char texts[GOALS_MOST][64];
    const char *names[GOALS_MOST];
    int64_t champions[GOALS_MOST];
    struct outcome outcome = {0};
    struct error error = {0};
    made->goals = goals;
    snprintf(made->folder, sizeof made->folder, "/tmp/evotile-goals-XXXXXX");
    assert_non_null(mkdtemp(made->folder));
    assert_int_equal(path_join(made->run_dir, made->folder, "run", &error), 0);
    for (int g = 0; g < goals; g++) {
        goal_name(g, texts[g]);
        names[g] = texts[g];
        champions[g] = STORE_NO_TRIAL;
    }
    struct store *store =
        store_create(made->run_dir, &(struct store_description){meta, 1, names, goals}, &error);
    assert_non_null(store);
    assert_int_equal(store_begin(store, &error), 0);
    for (int i = 0; i < TRIALS_A_GOAL * goals; i++) {
        int64_t *champion = &champions[i % goals];
        tell(store, i, goals, &outcome);
        if (outcome.verdict != VERDICT_OK ||
            (*champion >= 0 && measured_us((int)*champion) <= measured_us(i)))
            continue;
        assert_int_equal(
            store_record_champion(store, i % goals, i, *champion, measured_us(i), &error), 0);
        *champion = i;
    }
    assert_int_equal(store_commit(store, &error), 0);
    store_close(store);
    outcome_release(&outcome);
}

static void clear(struct made *made) {
    struct error error = {0};
    assert_int_equal(path_remove_tree(made->folder, &error), 0);
}

static char *printed(const struct made *made, enum page_format format) {
    struct error error = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct run_data *run = run_data_read(made->run_dir, &error);
    if (run == NULL ||
        page_print(&(struct page_content){.runs = &run, .run_count = 1}, format, out, &error) < 0)
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

/* ---- the legend ---- */

/* The picture with that label, to be freed by the caller; NULL if there is none. */
static char *picture(const char *html, const char *label) {
    char mark[128];
    snprintf(mark, sizeof mark, "aria-label=\"%s\"", label);
    const char *at = strstr(html, mark), *begin = at;
    if (at == NULL)
        return NULL;
    while (strncmp(begin, "<svg ", 5) != 0)
        begin--;
    return strndup(begin, (size_t)(strstr(at, "</svg>") - begin));
}

struct place {
    double x, y;
};

/* The position of a text. */
static bool find_text(const char *svg, const char *text, struct place *place) {
    char wanted[128];
    snprintf(wanted, sizeof wanted, ">%s<", text);
    const char *at = strstr(svg, wanted);
    if (at == NULL)
        return false;
    while (strncmp(at, "<text ", 6) != 0)
        at--;
    assert_int_equal(sscanf(at, "<text x=\"%lf\" y=\"%lf\"", &place->x, &place->y), 2);
    return true;
}

/* The position of the highest number along the axis. */
static double top_mark(const char *svg) {
    double top = INFINITY;
    for (const char *at = svg; (at = strchr(at, '>')) != NULL; at++) {
        char text[32], *end;
        struct place place;
        double number = strtod(at + 1, &end);
        if (end == at + 1 || *end != '<' || end - at > 16 || !isfinite(number))
            continue;
        snprintf(text, sizeof text, "%.*s", (int)(end - at - 1), at + 1);
        if (find_text(svg, text, &place))
            top = fmin(top, place.y);
    }
    assert_true(isfinite(top));
    return top;
}

static void check_legend(const char *html, int goals) {
    enum { LINE = 8 }; /* of font size 9 */
    char *svg = picture(html, "best latency so far of all goals over trials");
    double width, height;
    struct place places[GOALS_MOST], axis;
    assert_non_null(svg);
    assert_int_equal(sscanf(svg, "<svg viewBox=\"0 0 %lf %lf\"", &width, &height), 2);
    assert_true(find_text(svg, "trials of each goal", &axis));
    for (int g = 0; g < goals; g++) {
        char name[64], colour[32];
        goal_name(g, name);
        assert_int_equal(find_text(svg, name, &places[g]), goals <= 14);
        if (g < 10) {
            snprintf(colour, sizeof colour, "var(--c%d)", 10 + g);
            assert_non_null(strstr(svg, colour));
        }
        if (goals > 14)
            continue;
        assert_true(places[g].x > 0 && places[g].x < width);
        assert_true(places[g].y > 0 && places[g].y < height);
        /* With many goals the legend is above the lines and overlaps neither them nor the axis
           title. */
        assert_true(goals <= 4 || places[g].y < top_mark(svg));
        assert_true(fabs(places[g].y - axis.y) >= 2 * LINE);
        for (int other = 0; other < g; other++)
            assert_true(fabs(places[g].y - places[other].y) >= LINE ||
                        fabs(places[g].x - places[other].x) > 0.55 * 9 * (double)strlen(name));
    }
    free(svg);
}

static void every_goal_is_in_the_legend(void **state) {
    static const int counts[] = {2, 4, 5, 6, 11, 14, 15};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct made made;
        make(&made, counts[i]);
        char *html = printed(&made, PAGE_HTML);
        check_legend(html, counts[i]);
        assert_int_equal(times(html, "<details class=\"goal\""), counts[i]);
        free(html);
        clear(&made);
    }
}

/* ---- predictions ---- */

static void keep_predictions(const struct made *made, int but) {
    struct error error = {0};
    struct predictions kept = {.items = calloc(TRIALS_A_GOAL * GOALS_MOST, sizeof *kept.items)};
    for (int i = 0; i < TRIALS_A_GOAL * made->goals; i++)
        if (i % made->goals != but && !isnan(measured_us(i)))
            kept.items[kept.count++] = (struct prediction){i, predicted_us_of(i)};
    /* Predictions for a failed trial and for a missing one: neither is shown. */
    kept.items[kept.count++] = (struct prediction){9, 4};
    kept.items[kept.count++] = (struct prediction){1 << 20, 4};
    assert_int_equal(predictions_write(made->run_dir, &kept, &error), 0);
    predictions_release(&kept);
}

static void check_tables(const struct made *made, int but) {
    char *text = printed(made, PAGE_JSON);
    cJSON *root = cJSON_Parse(text);
    const cJSON *run = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "runs"), 0);
    const cJSON *row, *goal;
    int rows = 0, at = 0;
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(run, "agreement")) {
        int expected = 0;
        for (int i = rows; i < TRIALS_A_GOAL * made->goals; i += made->goals)
            expected += !isnan(measured_us(i));
        assert_int_equal(cJSON_GetObjectItem(row, "trials")->valueint, expected);
        assert_float_equal(cJSON_GetObjectItem(row, "rank_correlation")->valuedouble, 1, 1e-9);
        assert_float_equal(cJSON_GetObjectItem(row, "off_percent")->valuedouble, 10, 1e-6);
        assert_float_equal(cJSON_GetObjectItem(row, "best_hundredth")->valuedouble, 1, 1e-9);
        rows++;
    }
    assert_int_equal(rows, made->goals - 1);
    cJSON_ArrayForEach(goal, cJSON_GetObjectItem(run, "goals"))
        assert_int_equal(cJSON_GetObjectItem(goal, "foretold") != NULL, at++ != but);
    cJSON_Delete(root);
    free(text);
    text = printed(made, PAGE_MARKDOWN);
    assert_int_equal(times(text, "### Predicted versus measured"), 1);
    assert_int_equal(times(text, "rank correlation 1.000 over"), made->goals - 1);
    free(text);
}

/* One point per pair: with the axes' scale all lie on one line parallel to the diagonal. */
static void check_picture(const char *html, int points) {
    char *svg = picture(html, "predicted versus measured");
    assert_non_null(svg);
    assert_non_null(strstr(svg, ">rank correlation 1.000<"));
    assert_non_null(strstr(svg, ">measured us<"));
    assert_non_null(strstr(svg, ">predicted us<"));
    double sum = NAN;
    int seen = 0;
    for (const char *at = svg; (at = strstr(at, "h0")) != NULL; at++) {
        double x, y;
        const char *start = at;
        while (*start != 'M')
            start--;
        assert_int_equal(sscanf(start, "M%lf,%lfh0", &x, &y), 2);
        assert_true(isnan(sum) || fabs(x + y - sum) < 1);
        sum = x + y;
        seen++;
    }
    assert_int_equal(seen, points + 1); /* the champion's is drawn on top */
    free(svg);
}

/* With many trials a selection is drawn, and always the champion. */
static void check_thinned(const struct made *made, int most) {
    struct error error = {0};
    struct run_data *run = run_data_read(made->run_dir, &error);
    struct predicted_vs_measured *pairs = predicted_vs_measured_new(run, 0);
    char *svg = picture_predicted_vs_measured(run, 0, pairs, most);
    assert_true(pairs->count > most);
    assert_int_equal(times(svg, "h0"), most + 1);
    free(svg);
    predicted_vs_measured_free(pairs);
    run_data_free(run);
}

static int csv_predictions(const struct made *made) {
    struct error error = {0};
    char *text = NULL;
    size_t size = 0;
    int found = 0;
    FILE *out = open_memstream(&text, &size);
    struct run_data *run = run_data_read(made->run_dir, &error);
    assert_non_null(run);
    page_print_csv(&run, 1, out);
    fclose(out);
    for (int i = 0; i < run->count; i++) {
        char pair[64];
        double us = measured_us((int)run->rows[i].number);
        snprintf(pair, sizeof pair, ",%.9g,%.9g,", us, predicted_us_of((int)run->rows[i].number));
        if (isnan(run->rows[i].predicted_us) || isnan(us))
            continue;
        assert_non_null(strstr(text, pair));
        found++;
    }
    run_data_free(run);
    free(text);
    return found;
}

static void predictions_are_compared_with_measurements(void **state) {
    enum { GOALS = 6, BUT = GOALS - 1 };
    struct made made;
    int valid = 0, first = 0;
    (void)state;
    make(&made, GOALS);
    char *html = printed(&made, PAGE_HTML);
    assert_null(strstr(html, "Predicted versus measured"));
    free(html);
    html = printed(&made, PAGE_MARKDOWN);
    assert_null(strstr(html, "Predicted versus measured"));
    free(html);
    assert_int_equal(csv_predictions(&made), 0);
    keep_predictions(&made, BUT);
    for (int i = 0; i < TRIALS_A_GOAL * GOALS; i++) {
        valid += i % GOALS != BUT && !isnan(measured_us(i));
        first += i % GOALS == 0 && !isnan(measured_us(i));
    }
    check_tables(&made, BUT);
    assert_int_equal(csv_predictions(&made), valid);
    html = printed(&made, PAGE_HTML);
    assert_int_equal(times(html, "<h4>Predicted versus measured"), GOALS - 1);
    assert_int_equal(times(html, "aria-label=\"predicted versus measured\""), GOALS - 1);
    check_picture(html, first);
    check_thinned(&made, 7);
    free(html);
    clear(&made);
}

static void damaged_predictions_are_refused(void **state) {
    static const char *const texts[] = {"[]",
                                        "{}",
                                        "{\"trials\": 3}",
                                        "{\"trials\": [[1]]}",
                                        "{\"trials\": [[1, \"2\"]]}",
                                        "{\"trials\": [[1, 2], 3]}",
                                        "{\"trials\": [[1, -2]]}",
                                        "{\"trials\": [[1e300, 2]]}"};
    struct made made;
    struct error error = {0};
    (void)state;
    make(&made, 1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(
            run_artifact_write_to(made.run_dir, "predictions", cJSON_Parse(texts[i]), &error), 0);
        error = (struct error){0};
        assert_null(run_data_read(made.run_dir, &error));
        assert_non_null(strstr(error.text, "\"predictions\""));
    }
    clear(&made);
}

/* Energy falls as latency grows, but every third trial needs five times as much. */
static void the_front_of_latency_and_energy_is_drawn(void **state) {
    struct made made;
    int valid = 0, on_front = 0;
    (void)state;
    make(&made, 1);
    char *html = printed(&made, PAGE_HTML);
    assert_null(picture(html, "latency and energy"));
    assert_null(strstr(html, "<h4>Latency and energy</h4>"));
    free(html);
    clear(&made);
    with_energy = true;
    make(&made, 1);
    with_energy = false;
    html = printed(&made, PAGE_HTML);
    char *svg = picture(html, "latency and energy");
    assert_non_null(svg);
    for (int i = 0; i < TRIALS_A_GOAL; i++) {
        valid += !isnan(measured_us(i));
        on_front += !isnan(measured_us(i)) && (i == 0 || i % 3 != 0); /* the fastest */
    }
    assert_int_equal(times(svg, "h0"), valid);
    const char *last = svg; /* the front's dots are drawn last */
    for (const char *at = svg; (at = strstr(at, "stroke-linecap")) != NULL; at++)
        last = at;
    assert_int_equal(times(last, "h0"), on_front);
    assert_non_null(strstr(svg, ">mJ a call<"));
    free(svg);
    free(html);
    clear(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_goal_is_in_the_legend),
        cmocka_unit_test(predictions_are_compared_with_measurements),
        cmocka_unit_test(the_front_of_latency_and_energy_is_drawn),
        cmocka_unit_test(damaged_predictions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
