/* Tokens, edits, server-sent events, redaction and replies: properties over random pieces, and the
   forms that models write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "proposers/chat/completion.h"
#include "proposers/chat/redact.h"
#include "proposers/chat/reply.h"
#include "proposers/cuda/indent.h"
#include "proposers/cuda/syntax.h"
#include "proposers/wire/edits.h"

/* ---- tokens ---- */

static void test_tokens(void **state) {
    static const char text[] =
        "#define A \\\n  b // c\nint a = 0x1.8p-3f; // d \\\n e\n/* f */ s(\"g\\\"h\", 'i', "
        "R\"x(j)\")x\") >>= k->l...;";
    static const char *const words[] = {"#define A \\\n  b ",
                                        "int",
                                        "a",
                                        "=",
                                        "0x1.8p-3f",
                                        ";",
                                        "s",
                                        "(",
                                        "\"g\\\"h\"",
                                        ",",
                                        "'i'",
                                        ",",
                                        "R\"x(j)\")x\"",
                                        ")",
                                        ">>=",
                                        "k",
                                        "->",
                                        "l",
                                        "...",
                                        ";"};
    struct token_list tokens;
    (void)state;
    token_list_read(&tokens, text);
    assert_int_equal(tokens.count, sizeof words / sizeof *words);
    for (int t = 0; t < tokens.count; t++) {
        char *word = span_text(&tokens, (struct span){t, t + 1});
        assert_string_equal(word, words[t]);
        free(word);
    }
    assert_int_equal(token_partner(&tokens, 7), 13);
    token_list_release(&tokens);
}

/* Any bytes: tokens are in order, do not overlap, and brackets pair both ways. */
static void test_random_tokens(void **state) {
    static const char *const pieces[] = {"\"",  "'",  "/*",  "*/", "//", "\n",   "R\"(", ")\"",
                                         "(",   ")",  "[",   "]",  "{",  "}",    "#",    "\\",
                                         "for", "0x", "1e+", "a",  " ",  "\xc3", "<<=",  "..."};
    struct random random;
    (void)state;
    random_seed(&random, 7, 0);
    for (int run = 0; run < 3000; run++) {
        struct strbuf text = {0};
        strbuf_add(&text, "", 0);
        for (uint64_t left = random_below(&random, 30); left > 0; left--) {
            const char *piece = pieces[random_below(&random, sizeof pieces / sizeof *pieces)];
            strbuf_add(&text, piece, strlen(piece));
        }
        struct token_list tokens;
        struct loop loop;
        token_list_read(&tokens, text.bytes);
        size_t before = 0;
        for (int t = 0; t < tokens.count; t++) {
            assert_true(tokens.at[t].start >= before && tokens.at[t].end > tokens.at[t].start);
            before = tokens.at[t].end;
            int partner = tokens.at[t].partner;
            assert_true(partner < 0 || tokens.at[partner].partner == t);
            assert_true(statement_end(&tokens, t) <= tokens.count);
            (void)loop_read(&tokens, t, &loop);
        }
        assert_true(before <= text.used);
        token_list_release(&tokens);
        strbuf_release(&text);
    }
}

static void test_loops(void **state) {
    static const char text[] = "for (long long i = a + 1; i < n; i += 2 * s) { x[i]; }\n"
                               "for (int i = 0; i <= n; ++i) ;  for (int i = 0; j < n; ++i) ;\n"
                               "for (int i = 0; i < n && b; ++i) ;  for (;;) break;";
    struct token_list tokens;
    struct loop loop;
    int found = 0;
    (void)state;
    token_list_read(&tokens, text);
    assert_true(loop_read(&tokens, 0, &loop));
    assert_true(span_is(&tokens, loop.init, "a + 1") && span_is(&tokens, loop.end, "n") &&
                span_is(&tokens, loop.step, "2 * s") && span_is(&tokens, loop.type, "long long"));
    for (int t = 1; t < tokens.count; t++)
        found += loop_read(&tokens, t, &loop);
    assert_int_equal(found, 0);
    token_list_release(&tokens);
}

/* Changed lines get the indentation of their braces; other lines, comments and texts stay. */
static void test_indent(void **state) {
    static const char before[] = "void f() {\n  a();\n  b();\n}\n";
    static const char after[] =
        "void f() {\n  a();\nif (x)\n#pragma unroll\nfor (;;) {\nc(d,\n      "
        "e);\n// f\n  /* g\nh */\ni = 1 +\nj;\n}\n\n\n  b();\n}\n";
    static const char tidy[] =
        "void f() {\n  a();\n    if (x)\n#pragma unroll\n    for (;;) {\n        c(d,\n"
        "      e);\n// f\n  /* g\nh */\n        i = 1 +\n            j;\n    }\n\n  b();\n}\n";
    (void)state;
    char *found = indent_changes(before, after);
    assert_string_equal(found, tidy);
    free(found);
}

/* ---- edits ---- */

static char *apply_blocks(const char *text, const cJSON *edits) {
    char *now = xstrdup(text);
    const cJSON *edit;
    cJSON_ArrayForEach(edit, edits) {
        const char *search = cJSON_GetStringValue(cJSON_GetObjectItem(edit, "search"));
        const char *replace = cJSON_GetStringValue(cJSON_GetObjectItem(edit, "replace"));
        struct edit_list list = {0};
        assert_int_equal(search_count(text, search), 1);
        assert_int_equal(search_count(now, search), 1);
        size_t start = (size_t)(strstr(now, search) - now);
        edit_list_add(&list, start, start + strlen(search), replace);
        char *next = edit_list_apply(now, &list);
        edit_list_release(&list);
        free(now);
        now = next;
    }
    return now;
}

/* Few different lines, so that blocks must grow to be unique. */
static void test_blocks(void **state) {
    static const char *const lines[] = {"a\n", "b\n", "\n", "}\n", "a b\n", "aa\n"};
    struct random random;
    int made = 0;
    (void)state;
    random_seed(&random, 3, 0);
    for (int run = 0; run < 3000; run++) {
        struct strbuf text = {0};
        struct edit_list list = {0};
        struct error error = {0};
        for (uint64_t left = 1 + random_below(&random, 12); left > 0; left--) {
            const char *line = lines[random_below(&random, 6)];
            strbuf_add(&text, line, strlen(line));
        }
        size_t at = 0;
        while (at < text.used && random_below(&random, 3) > 0) {
            size_t start = at + random_below(&random, text.used - at + 1);
            size_t end =
                start + random_below(&random, text.used - start < 3 ? text.used - start + 1 : 3);
            edit_list_add(&list, start, end, lines[random_below(&random, 6)]);
            at = end + 1;
        }
        char *wanted = edit_list_apply(text.bytes, &list);
        cJSON *edits = cJSON_CreateArray();
        assert_non_null(wanted);
        if (edit_list_blocks(edits, "f", text.bytes, &list, &error) == 0) {
            char *now = apply_blocks(text.bytes, edits);
            assert_string_equal(now, wanted);
            free(now);
            made += list.count > 0;
        }
        cJSON_Delete(edits);
        free(wanted);
        edit_list_release(&list);
        strbuf_release(&text);
    }
    assert_true(made > 1000);
}

static void test_overlap(void **state) {
    struct edit_list list = {0};
    struct error error = {0};
    cJSON *edits = cJSON_CreateArray();
    (void)state;
    edit_list_add(&list, 0, 3, "x");
    edit_list_add(&list, 2, 4, "y");
    assert_null(edit_list_apply("abcdef", &list));
    assert_int_equal(edit_list_blocks(edits, "f", "abcdef", &list, &error), -1);
    edit_list_release(&list);
    cJSON_Delete(edits);
}

static void test_search(void **state) {
    static const char text[] = "void f() {\n    a = 1;  \n    b = 2;\n\tc = 3;\n}\n";
    size_t start, end;
    struct error error = {0};
    (void)state;
    assert_int_equal(search_find(text, "a = 1;", &start, &end, &error), 0);
    assert_int_equal(search_find(text, "    a = 1;\n    b = 2;", &start, &end, &error),
                     0); /* blanks at an end */
    assert_int_equal(start, 11);
    assert_int_equal(search_find(text, "b = 2;\nc = 3;", &start, &end, &error),
                     0); /* indentation */
    assert_memory_equal(text + start, "    b = 2;\n\tc = 3;", end - start);
    assert_int_equal(search_find(text, "= ", &start, &end, &error), -1);
    assert_non_null(strstr(error.text, "occurs 3 times"));
    assert_int_equal(search_find(text, "d = 4;", &start, &end, &error), -1);
    assert_non_null(strstr(error.text, "does not occur"));
    assert_int_equal(search_find(text, " \n", &start, &end, &error), -1);
}

/* ---- the stream ---- */

#define CHUNK(text) "data: {\"choices\":[{\"delta\":{\"content\":\"" text "\"}}]}"

/* However the bytes are cut, the reply is the same. */
static void test_stream(void **state) {
    static const char stream[] =
        ": a comment\r\n\r\n" CHUNK("Hel") "\r\n\r\nevent: x\rid: 1\r" CHUNK("lo ") "\r\r" CHUNK(
            "\\u00e9\\n") "\n\ndata: not "
                          "JSON\n\ndata:{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\n"
                          "data: "
                          "\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":3}}\n\ndata: "
                          "[DONE]\n\n";
    struct random random;
    (void)state;
    random_seed(&random, 5, 0);
    for (int run = 0; run < 300; run++) {
        struct completion completion = {0};
        struct error error = {0};
        for (size_t at = 0; at < strlen(stream);) {
            size_t count = 1 + random_below(&random, run == 0 ? 1 : 40);
            count = count < strlen(stream) - at ? count : strlen(stream) - at;
            assert_true(completion_feed(&completion, stream + at, count));
            at += count;
        }
        assert_int_equal(completion_end(&completion, &error), 0);
        assert_string_equal(completion.text.bytes, "Hello \xc3\xa9\n");
        assert_true(completion.has_usage && completion.prompt_tokens == 11 &&
                    completion.completion_tokens == 3);
        completion_release(&completion);
    }
}

static void check_end(const char *bytes, int expected, const char *words, bool cut) {
    struct completion completion = {.secret = "sk-secret-0123456789"};
    struct error error = {0};
    completion_feed(&completion, bytes, strlen(bytes));
    assert_int_equal(completion_end(&completion, &error), expected);
    if (words != NULL && strstr(error.text, words) == NULL)
        fail_msg("no \"%s\" in \"%s\"", words, error.text);
    assert_int_equal(completion.is_cut, cut);
    assert_null(strstr(error.text, "secret"));
    completion_release(&completion);
}

static void test_ends(void **state) {
    (void)state;
    check_end("{\"choices\":[{\"message\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}", 0,
              NULL, false);
    check_end(CHUNK("hi") "\n\n", -1, "cut", true);
    check_end(CHUNK("hi") "\n", -1, "cut", true);
    check_end("", -1, "cut", true);
    check_end("{\"choices\":[{\"message\":{\"content\":\"h", -1, "cut", true);
    check_end(
        "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"length\"}]}\n\n",
        -1, "--reply-tokens", false);
    check_end("data: {\"error\":{\"message\":\"overloaded, key sk-secret-0123456789\"}}\n\n", -1,
              "overloaded", false);
    check_end("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n", -1, "no text",
              false);
    check_end(
        "data: {\"choices\":[{\"delta\":{\"content\":\"\xff\"},\"finish_reason\":\"stop\"}]}\n\n",
        -1, "UTF-8", false);
    check_end("<html>busy</html>", -1, "cut", true);
}

static void test_too_long(void **state) {
    struct completion completion = {0};
    struct error error = {0};
    struct strbuf line = {0};
    (void)state;
    strbuf_print(&line, "data: {\"choices\":[{\"delta\":{\"content\":\"%0*d\"}}]}\n\n", 1 << 20, 0);
    bool more = true;
    for (int i = 0; i < 8 && more; i++)
        more = completion_feed(&completion, line.bytes, line.used);
    assert_false(more);
    assert_int_equal(completion_end(&completion, &error), -1);
    assert_true(completion.text.used <= COMPLETION_BYTES_MAX);
    strbuf_release(&line);
    completion_release(&completion);
}

static void test_redact(void **state) {
    static const char key[] = "sk-abcdefghijklmnop";
    static const struct {
        const char *text, *clean;
    } rows[] = {
        {"Incorrect API key: sk-abcdefghijklmnop.", "Incorrect API key: [key]."},
        {"sk-abcdef***klmnop", "[key]***klmnop"}, /* six characters are no part yet */
        {"xdefghijklx", "x[key]x"},
        {"nothing", "nothing"},
    };
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        char *clean = redact_text(rows[r].text, key);
        assert_string_equal(clean, rows[r].clean);
        free(clean);
    }
    char *same = redact_text("text", NULL), *small = redact_text("a-k1-b", "k1");
    assert_string_equal(same, "text");
    assert_string_equal(small, "a-[key]-b");
    free(same);
    free(small);
}

/* ---- replies ---- */

#define FILES                                                                                      \
    "\"files\":{\"kernel.cu\":\"int a;\\n  int b;\\nint c;\\n\",\"solution.json\":\"{ "            \
    "\\\"source\\\": \\\"kernel.cu\\\" }\\n\"}"
#define REQUEST                                                                                    \
    "{\"type\":\"propose\",\"protocol\":1,\"number\":4,\"seed\":\"18446744073709551615\","         \
    "\"strategy\":\"free\",\"task\":{},"                                                           \
    "\"parents\":[{\"hash\":\"abc\"," FILES "}],\"history\":[],\"insights\":null}"
#define WHY                    "HYPOTHESIS: faster\n"
#define BLOCK(search, replace) "<<<<<<< SEARCH\n" search "\n=======\n" replace "\n>>>>>>> REPLACE\n"

static const struct reply_row {
    const char *reply, *kind; /* of the answer; NULL: refused */
    const char *words;        /* in the answer's JSON, or in the error */
} replies[] = {
    {WHY "FILE: kernel.cu\n" BLOCK("int a;", "int z;"), "edits",
     "\"search\":\"int a;\",\"replace\":\"int z;\""},
    {"Sure!\n**Hypothesis:** it *is* faster\n### File: `kernel.cu`\n```diff\n" BLOCK(
         "int a;", "int z;") "```\nDone.",
     "edits", "int z;"},
    {WHY "<<<<<<< SEARCH kernel.cu\r\nint a;\r\n=======\r\nint z;\r\n>>>>>>> REPLACE\r\n", "edits",
     "int z;"},
    {WHY BLOCK("int b;", "int y;"), "edits", "kernel.cu"}, /* the file where it is */
    {WHY BLOCK("int a;\nint b;", "int y;"), "edits", "int a;\\n  int b;"}, /* other indentation */
    {"<think>HYPOTHESIS: no\n" BLOCK("int q;", "") "</think>" WHY BLOCK("int a;", ""), "edits",
     "faster"},
    {WHY "FILE: new.cuh\n```\nint n;\n```\nFILE: kernel.cu\n" BLOCK("int a;", "int z;"), "files",
     "int z;"},
    {WHY "FILE: kernel.cu\n````cuda\n// ```\nint z;\n````\n", "files", "// ```"},
    {WHY "GENOME: THREADS=64,A=2\n", "genome", "THREADS=64,A=2"},
    {"Here: ```json\n{\"hypothesis\":\"h\",\"edits\":[{\"file\":\"kernel.cu\",\"search\":\"int "
     "a;\",\"replace\":\"int z;\"}]}\n```",
     "edits", "int z;"},
    {"I think {braces} first. {\"hypothesis\":\"h\",\"genome\":\"A=1\"} and so on", "genome",
     "A=1"},
    {"{\"hypothesis\":\"h\",\"files\":{\"kernel.cu\":\"x\",\"old.cu\":null}}", "files", "null"},

    {"I cannot help with that.", NULL, "no SEARCH/REPLACE block"},
    {"", NULL, "no SEARCH/REPLACE block"},
    {"FILE: kernel.cu\n" BLOCK("int a;", "int z;"), NULL, "HYPOTHESIS"},
    {WHY BLOCK("int ", "x"), NULL, "occurs"},
    {WHY BLOCK("int q;", "x"), NULL, "does not occur"},
    {WHY "FILE: other.cu\n" BLOCK("int a;", "x"), NULL, "no file \"other.cu\""},
    {WHY "<<<<<<< SEARCH\nint a;\n=======\nint z;\n", NULL, "not closed"},
    {WHY BLOCK("int a;", "int a;"), NULL, "changes nothing"},
    {WHY BLOCK("int a;\n  int b;", "x") BLOCK("int b;\nint c;", "y"), NULL, "overlap"},
    {WHY "FILE: ../../etc/passwd\n```\nx\n```\n", NULL, "without . and .."},
    {WHY "FILE: /tmp/x\n```\nx\n```\n", NULL, "must be relative"},
    {WHY "FILE: kernel.cu\n```\nint z;\n", NULL, "not closed"},
    {WHY "FILE: solution.json\n" BLOCK("{ \"source\"", "{ source"), NULL, "solution.json"},
    {WHY "GENOME: A=1\n" BLOCK("int a;", "x"), NULL, "choose one"},
    {"{\"hypothesis\":\"h\",\"edits\":[{\"search\":1}]}", NULL, "needs the texts"},
};

static void test_replies(void **state) {
    struct request request;
    struct error error = {0};
    (void)state;
    assert_int_equal(request_read(&request, REQUEST, strlen(REQUEST), &error), 0);
    assert_true(request.seed == UINT64_MAX && request.number == 4);
    for (size_t r = 0; r < sizeof replies / sizeof *replies; r++) {
        const struct reply_row *row = &replies[r];
        error = (struct error){0};
        cJSON *answer = reply_parse(row->reply, &request, &error);
        if ((answer != NULL) != (row->kind != NULL))
            fail_msg("%s: %s", answer != NULL ? "accepted" : error.text, row->reply);
        char *text = answer != NULL ? cJSON_PrintUnformatted(answer) : xstrdup(error.text);
        if (strstr(text, row->words) == NULL)
            fail_msg("no \"%s\" in %s", row->words, text);
        if (answer != NULL) {
            assert_non_null(cJSON_GetObjectItem(answer, row->kind));
            assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(answer, "parent")), "abc");
        }
        free(text);
        cJSON_Delete(answer);
    }
    request_release(&request);
}

static void test_requests(void **state) {
    static const struct {
        const char *line, *words;
    } rows[] = {
        {"{", "one JSON object"},
        {"{}", "\"number\""},
        {"{\"number\":1}", "propose"},
        {"{\"number\":1,\"type\":\"propose\",\"protocol\":2}", "\"protocol\" 1"},
        {"{\"number\":1,\"type\":\"propose\",\"protocol\":1,\"seed\":-1}", "\"seed\""},
        {"{\"number\":1,\"type\":\"propose\",\"protocol\":1,\"seed\":1,\"strategy\":\"x\"}",
         "\"strategy\""},
        {"{\"number\":1,\"type\":\"propose\",\"protocol\":1,\"seed\":1,\"strategy\":\"free\"}",
         "\"task\""},
        {"{\"number\":1,\"type\":\"propose\",\"protocol\":1,\"seed\":1,\"strategy\":\"free\","
         "\"task\":{},\"parents\":[]}",
         "\"parents\""},
        {"{\"number\":1,\"type\":\"propose\",\"protocol\":1,\"seed\":1,\"strategy\":\"free\","
         "\"task\":{},\"parents\":[{\"hash\":\"a\","
         "\"files\":{\"../x\":\"y\"}}]}",
         "parents[0]"},
    };
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct request request;
        struct error error = {0};
        assert_int_equal(request_read(&request, rows[r].line, strlen(rows[r].line), &error), -1);
        assert_non_null(strstr(error.text, rows[r].words));
        assert_int_equal(error.kind, ERROR_INPUT);
        assert_int_equal(request.number, r < 2 ? 0 : 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),   cmocka_unit_test(test_random_tokens),
        cmocka_unit_test(test_loops),    cmocka_unit_test(test_indent),
        cmocka_unit_test(test_blocks),   cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_search),   cmocka_unit_test(test_stream),
        cmocka_unit_test(test_ends),     cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_redact),   cmocka_unit_test(test_replies),
        cmocka_unit_test(test_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
