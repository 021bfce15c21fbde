/* The log of a run whose proposer is an adversary: its texts are no markup in a page and no marks
   in Markdown, and its changes make no page large. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/lineage.h"
#include "analysis/proposed.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "report/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[PATH_SIZE];
static int made_runs;

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/evotile-lineage-XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state) {
    struct error error = {0};
    (void)state;
    return path_remove_tree(folder, &error);
}

/* ---- what is printed ---- */

static int times(const char *text, const char *word) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word))
        count++;
    return count;
}

/* Lines that begin with a word. */
static int lines_with(const char *text, const char *word) {
    int count = strncmp(text, word, strlen(word)) == 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        count += strncmp(at + 1, word, strlen(word)) == 0;
    return count;
}

/* A trial of each solution, so that it has numbers. */
static void add_trials(struct store *store, int solutions) {
    struct outcome outcome = {.verdict = VERDICT_OK, .score_us = 5, .resources = {.registers = 40}};
    struct error error = {0};
    outcome_set_cases(&outcome, 1);
    *latency_reserve(&outcome.cases[0].warm, 1) = 5;
    outcome.cases[0].warm.sample_count = 1;
    outcome.cases[0].warm.p50_us = 5;
    outcome.cases[0].warm.p90_us = 6;
    outcome.cases[0].ceiling = 0.25;
    assert_int_equal(store_begin(store, &error), 0);
    for (int goal = 0; goal < solutions; goal++) {
        const struct store_ask ask = {.number = goal,
                                      .goal = goal,
                                      .genome = "WORDS=<u>_a_|b",
                                      .parent_a = STORE_NO_TRIAL,
                                      .parent_b = STORE_NO_TRIAL,
                                      .operator_name = "default"};
        assert_true(store_ask(store, &ask, &error) > 0);
        assert_true(store_tell(store, goal, &outcome, NULL, "cuda:0", &error) > 0);
    }
    assert_int_equal(store_commit(store, &error), 0);
    outcome_release(&outcome);
}

static void make_run(const struct proposed_run *made, int solutions, char path[PATH_SIZE]) {
    snprintf(path, PATH_SIZE, "%.1000s/run%d", folder, made_runs++);
    struct store *store = proposed_create(path, made);
    assert_non_null(store);
    add_trials(store, solutions);
    store_close(store);
}

static char *report(const char *path, enum page_format format) {
    struct error error = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct run_data *run = run_data_read(path, &error);
    if (run == NULL ||
        page_print(&(struct page_content){.runs = &run, .run_count = 1}, format, out, &error) < 0)
        fail_msg("%s", error.text);
    fclose(out);
    run_data_free(run);
    return text;
}

static char *markdown(const char *path) {
    struct error error = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct store *store = store_open(path, STORE_READ, &error);
    if (store == NULL || page_print_lineage(store, out, &error) < 0)
        fail_msg("%s", error.text);
    fclose(out);
    store_close(store);
    return text;
}

static cJSON *facts(const char *path) {
    struct error error = {0};
    struct lineage lineage;
    struct store *store = store_open(path, STORE_READ, &error);
    assert_non_null(store);
    assert_int_equal(lineage_read(&lineage, store, &error), 0);
    cJSON *object = lineage_json(&lineage, store, &error);
    assert_non_null(object);
    lineage_release(&lineage);
    store_close(store);
    char *text = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    object = cJSON_Parse(text);
    free(text);
    return object;
}

/* ---- an adversary ---- */

static const char forged[] =
    "</script><img src=x onerror=alert(1)> # heading\n# heading\n\n| forged | row |\n|---|---|\n- "
    "item\n"
    "**bold** __bold__ ~~gone~~ ![picture](http://x) <b>b</b> $x$\x1b[31m \xe2\x80\xaetfel";
static const char forged_diff[] = "--- a/kernel.cu\n+++ b/kernel.cu\n@@ -1,3 +1,6 @@\n"
                                  " ```\n-old </pre><script>alert(2)</script>\n+# heading\n"
                                  "+++ b/forged.cu\n+\x1b[2J\n+````\n+x\n ```\n";
static const char judged[] =
    "{\"stage\": \"<i>cases\", \"gates\": [], \"faults\": [{\"file\": \"k.cu\", "
    "\"line\": 4, \"text\": \"<u>fault</u> **f** \\u001b[1m\"}]}";

/* Three proposals: one that made a solution, one that was refused, one of a genome. */
static void make_adversary(char path[PATH_SIZE]) {
    struct store_proposal rows[3];
    for (int i = 0; i < 3; i++) {
        rows[i] = proposed_row(i + 1, "{}");
        rows[i].answer = "{}";
        rows[i].hypothesis = forged;
        rows[i].reason = forged;
        rows[i].verdict = "ok";
        rows[i].answered = rows[i].asked + 2;
        rows[i].decided = rows[i].asked + 10;
        rows[i].decision = "revert";
        rows[i].turn = i + 1;
        rows[i].trial = 1;
    }
    rows[0].solution = "p1";
    rows[0].hash = "0123456789abcdef0123456789abcdef";
    rows[0].diff = forged_diff;
    rows[0].goal = 1;
    rows[0].decision = "promote";
    rows[0].score_us = 5;
    rows[0].ratio = 2;
    rows[0].low = 1.9;
    rows[0].high = 2.1;
    rows[1].parent = "p1";
    rows[1].other = "start";
    rows[1].verdict = "wrong";
    rows[1].judged = judged;
    rows[1].diff = forged_diff;
    rows[2].solution = "p1";
    rows[2].parent = "p1";
    rows[2].goal = 1;
    rows[2].genome = "WORDS=<u>_a_|b";
    rows[2].decision = "keep";
    const struct proposed_run made = {"start,p1", "10", rows, 3};
    make_run(&made, 2, path);
}

static void a_page_shows_text(void **state) {
    (void)state;
    char path[PATH_SIZE];
    make_adversary(path);
    char *html = report(path, PAGE_HTML);
    static const char *const never[] = {"<img", "<b>b<", "<script>alert", "</pre><script",
                                        "<u>",  "<i>",   "\x1b",          "\xe2\x80\xae"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strstr(html, never[i]) != NULL)
            fail_msg("%s is in the page", never[i]);
    assert_int_equal(times(html, "<script"), times(html, "</script>"));
    assert_int_equal(times(html, "<details"), times(html, "</details>"));
    /* The start, three proposals, the winner's change if there is one, and the table. */
    assert_int_equal(times(html, "<details class=\"lineage"), 5);
    /* Each line of a change is one of the page, in its colour. */
    assert_int_equal(lines_with(html, "<span class=\"added\">+"), 10);
    assert_int_equal(lines_with(html, "<span class=\"added\">+++ b/forged.cu</span>"), 2);
    assert_non_null(
        strstr(html, "<span class=\"removed\">-old &lt;/pre&gt;&lt;script&gt;alert(2)"));
    assert_non_null(strstr(html, "1 file, 5 lines added, 1 removed: kernel.cu"));
    assert_non_null(
        strstr(html, "2.000 times as fast as start, 99 % interval 1.900 to 2.100; 40 registers"));
    assert_non_null(strstr(html, "k.cu:4: &lt;u&gt;fault&lt;/u&gt; **f** \\x1b[1m"));
    assert_non_null(strstr(html, "2, a change of p1 and start"));
    free(html);
}

static void markdown_forges_nothing(void **state) {
    (void)state;
    char path[PATH_SIZE];
    make_adversary(path);
    char *whole = report(path, PAGE_MARKDOWN), *log = markdown(path);
    char *const texts[] = {whole, log};
    for (int t = 0; t < 2; t++) {
        char *text = texts[t];
        assert_null(strstr(text, "\x1b"));
        assert_null(strstr(text, "\xe2\x80\xae"));
        assert_int_equal(lines_with(text, "| forged"), 0);
        assert_int_equal(lines_with(text, "- item"), 0);
        assert_int_equal(times(text, "<img"), times(text, "\\<img"));
        assert_int_equal(times(text, "**bold"), 0);
        assert_int_equal(times(text, "](http"), times(text, "\\](http"));
        assert_int_equal(times(text, " __bold"), 0);
        /* A change holds rows of three and of four backticks: its block has five. */
        assert_int_equal(lines_with(text, "`````diff"), 2);
        assert_int_equal(lines_with(text, "`````\n"), 2);
        assert_int_equal(lines_with(text, "```"), 4);
    }
    /* The title, the start and three iterations; "# heading" is a line of no text but the change's.
     */
    assert_int_equal(lines_with(log, "#"), 5);
    assert_int_equal(lines_with(log, "## Iteration"), 3);
    assert_int_equal(lines_with(whole, "#### Iteration"), 3);
    assert_non_null(strstr(log, "- line: k.cu:4: \\<u>fault\\</u> \\*\\*f\\*\\*"));
    free(whole);
    free(log);
}

static const cJSON *part(const cJSON *object, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static void programs_get_the_facts(void **state) {
    (void)state;
    char path[PATH_SIZE];
    make_adversary(path);
    cJSON *object = facts(path);
    const cJSON *first = cJSON_GetArrayItem(part(object, "proposals"), 0),
                *second = cJSON_GetArrayItem(part(object, "proposals"), 1),
                *third = cJSON_GetArrayItem(part(object, "proposals"), 2),
                *start = cJSON_GetArrayItem(part(object, "started_with"), 0);
    assert_int_equal(part(part(first, "change"), "added")->valueint, 5);
    assert_int_equal(cJSON_GetArraySize(part(part(first, "change"), "files")), 1);
    assert_int_equal(part(part(first, "numbers"), "registers")->valueint, 40);
    const cJSON *one = cJSON_GetArrayItem(part(part(first, "numbers"), "cases"), 0);
    assert_true(part(one, "p90_us")->valuedouble == 6 &&
                part(one, "roofline_share")->valuedouble == 0.25);
    /* The folder has no config: the reason is said, and the numbers stay. */
    assert_non_null(strstr(part(part(first, "profile"), "missing")->valuestring, "config.json"));
    assert_int_equal(cJSON_GetArraySize(part(first, "next")), 2);
    assert_true(cJSON_IsNull(part(second, "numbers")));
    assert_string_equal(part(part(second, "profile"), "stopped_at")->valuestring, "<i>cases");
    assert_null(strchr(
        part(cJSON_GetArrayItem(part(part(second, "profile"), "faults"), 0), "text")->valuestring,
        '\x1b'));
    assert_int_equal(cJSON_GetArraySize(part(second, "next")), 0);
    assert_string_equal(part(part(third, "change"), "genome")->valuestring, "WORDS=<u>_a_|b");
    assert_int_equal(cJSON_GetArraySize(part(third, "next")), 0);
    assert_int_equal(cJSON_GetArraySize(part(start, "next")), 2); /* as a second parent, too */
    assert_true(part(part(first, "seconds"), "answer")->valuedouble == 2);
    const cJSON *summary = part(object, "summary");
    assert_int_equal(part(part(summary, "decisions"), "promote")->valueint, 1);
    assert_int_equal(part(part(summary, "verdicts"), "ok")->valueint, 2);
    assert_true(part(summary, "seconds")->valuedouble == 12);
    cJSON_Delete(object);
}

/* ---- weight ---- */

static void long_changes_stay_small(void **state) {
    (void)state;
    enum { COUNT = 62, LINES = 1000, MORE = 300 };
    static struct store_proposal rows[COUNT + MORE];
    static char names[COUNT + 1][8];
    char path[PATH_SIZE];
    struct strbuf diff = {0}, solutions = {0};
    strbuf_print(&diff, "--- a/k.cu\n+++ b/k.cu\n@@ -0,0 +1,%d @@\n", LINES);
    for (int i = 0; i < LINES; i++)
        strbuf_print(&diff, "+%0*d\n", i % 7 == 0 ? 1000 : 60, i);
    strbuf_print(&solutions, "start");
    for (int i = 0; i < COUNT + MORE; i++) {
        rows[i] = proposed_row(i + 1, "{}");
        rows[i].answer = "{}";
        rows[i].hypothesis = "longer";
        rows[i].verdict = i < COUNT ? "ok" : "refused";
        rows[i].decision = i < COUNT ? "keep" : "revert";
        rows[i].diff = i < COUNT ? diff.bytes : forged_diff;
        if (i >= COUNT)
            continue;
        snprintf(names[i], sizeof names[i], "p%d", i + 1);
        strbuf_print(&solutions, ",%s", names[i]);
        rows[i].solution = names[i];
        rows[i].goal = i + 1;
        rows[i].trial = i + 1;
    }
    struct proposed_run made = {solutions.bytes, "10", rows, COUNT};
    make_run(&made, COUNT + 1, path);
    char *html = report(path, PAGE_HTML), *log = markdown(path);
    assert_true(strlen(html) < 4 << 20);
    assert_true(strlen(log) < 2 << 20);
    assert_int_equal(times(log, "more are in"), COUNT);
    assert_non_null(strstr(log, "The first 60 lines; 943 more are in"));
    assert_non_null(strstr(log, "(701 bytes more)"));
    free(html);
    free(log);
    /* Of many that made no solution the latest are shown. */
    made.count = COUNT + MORE;
    make_run(&made, COUNT + 1, path);
    html = report(path, PAGE_HTML);
    assert_non_null(strstr(html, "100 earlier proposals that made no solution are left out"));
    assert_int_equal(times(html, "<details class=\"lineage"), 1 + COUNT + 200 + 1);
    assert_true(strlen(html) < 8 << 20);
    free(html);
    strbuf_release(&diff);
    strbuf_release(&solutions);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_shows_text),
        cmocka_unit_test(markdown_forges_nothing),
        cmocka_unit_test(programs_get_the_facts),
        cmocka_unit_test(long_changes_stay_small),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
