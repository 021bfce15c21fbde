#include "base/mustache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/random.h"

static char *filled(const char *stencil, const char *json, mustache_escape *escape) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cJSON *values = cJSON_Parse(json);
    assert_non_null(values);
    mustache_render(stencil, values, escape, out);
    fclose(out);
    cJSON_Delete(values);
    return text;
}

static void expect(const char *stencil, const char *json, const char *expected) {
    char *text = filled(stencil, json, mustache_escape_html);
    assert_string_equal(text, expected);
    free(text);
}

static void holes_are_filled(void **state) {
    (void)state;
    expect("a {{x}} b {{{x}}} {{n}}", "{\"x\": \"<i>\", \"n\": 3.5}", "a &lt;i&gt; b <i> 3.5");
    expect("{{! said }}{{x}}", "{\"x\": \"\"}", "");
    expect("no holes", "{}", "no holes");
}

static void sections_repeat_show_and_hide(void **state) {
    (void)state;
    expect("{{#a}}[{{n}}{{o}}]{{/a}}", "{\"o\": \"-\", \"a\": [{\"n\": 1}, {\"n\": 2, \"o\": 7}]}",
           "[1-][27]");
    expect("{{#a}}{{n}}{{/a}}{{^a}}none{{/a}}", "{\"a\": []}", "none");
    expect("{{#a}}{{b}}{{/a}}{{^a}}none{{/a}}", "{\"a\": {\"b\": 5}}", "5");
    expect("{{#a}}{{a}}!{{/a}}{{#b}}?{{/b}}{{#c}}?{{/c}}{{#d}}?{{/d}}",
           "{\"a\": \"yes\", \"b\": \"\", \"c\": false, \"d\": null}", "yes!");
    expect("{{#a}}{{#a}}{{n}}{{/a}}{{/a}}", "{\"a\": [{\"n\": 1, \"a\": [{\"n\": 2}]}]}", "2");
    expect("{{^missing}}x{{/missing}}", "{}", "x");
}

static void tags_alone_take_their_line(void **state) {
    (void)state;
    expect("a\n  {{#s}}\nb\n{{/s}}\nc\n", "{\"s\": true}", "a\nb\nc\n");
    expect("a\n{{#s}}\nb\n{{/s}}\nc\n", "{\"s\": false}", "a\nc\n");
    expect("a {{#s}}b{{/s}}\nc\n", "{\"s\": false}", "a \nc\n");
    expect("{{! a remark }}\nx", "{}", "x");
}

/* Decodes the entities that mustache_escape_html writes, as a browser does. */
static void unescape(const char *html, char *text) {
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    while (*html != '\0') {
        int found = -1;
        for (int i = 0; i < 5; i++)
            if (strncmp(html, entities[i], strlen(entities[i])) == 0)
                found = i;
        *text++ = found >= 0 ? "&<>\"'"[found] : *html;
        html += found >= 0 ? strlen(entities[found]) : 1;
    }
    *text = '\0';
}

/* Any text survives HTML escaping, except for control characters, and contains no markup. */
static void any_text_survives_html(void **state) {
    (void)state;
    static const char letters[] = "<>&\"'ab;/! =\t\n\x01\xc3\xa9{}#";
    struct random random;
    random_seed(&random, 7, 0);
    for (int round = 0; round < 5000; round++) {
        char given[40], wanted[40], seen[40], *html = NULL;
        size_t size = 0;
        int length = (int)random_below(&random, sizeof given);
        for (int i = 0; i < length; i++) {
            given[i] = letters[random_below(&random, sizeof letters - 1)];
            wanted[i] = (unsigned char)given[i] < ' ' ? ' ' : given[i];
        }
        given[length] = wanted[length] = '\0';
        FILE *out = open_memstream(&html, &size);
        mustache_escape_html(given, out);
        fclose(out);
        assert_null(strpbrk(html, "<>\"'"));
        unescape(html, seen);
        assert_string_equal(seen, wanted);
        free(html);
    }
}

static void markdown_keeps_cells_apart(void **state) {
    (void)state;
    char *text = filled("{{x}}", "{\"x\": \"a|b`c*d<e>\\\\[f]_g\\n\"}", mustache_escape_markdown);
    assert_string_equal(text, "a\\|b\\`c\\*d\\<e>\\\\\\[f\\]\\_g ");
    free(text);
    text = filled("{{x}}", "{\"x\": \"BLOCK_M __restrict__ _a_ ~1.5 ~~b~~ $c$\"}",
                  mustache_escape_markdown);
    assert_string_equal(text, "BLOCK_M \\_\\_restrict\\_\\_ \\_a\\_ ~1.5 ~\\~b\\~\\~ \\$c\\$");
    free(text);
    text = filled("{{x}}", "{\"x\": \"<a>|b`*&\\n\\u001b[0m\"}", mustache_escape_text);
    assert_string_equal(text, "<a>|b`*&  [0m");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holes_are_filled),
        cmocka_unit_test(sections_repeat_show_and_hide),
        cmocka_unit_test(tags_alone_take_their_line),
        cmocka_unit_test(any_text_survives_html),
        cmocka_unit_test(markdown_keeps_cells_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
