#include "base/strbuf.h"
#include "render/table.h"

#include "base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants them before it. */
#include <cmocka.h>

static const struct table_column columns[] = {
    {.name = "rank", .heading = "rank", .right = true},
    {.name = "p50_us", .heading = "p50\nus", .right = true},
    {.name = "secret", .heading = NULL},
    {.name = "genome", .heading = "genome", .wrap = true},
};

static char *printed(const struct table *table, enum table_format format, int width) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (format == TABLE_TEXT)
        table_print_text(table, width, out);
    else
        table_print(table, format, out);
    fclose(out);
    return text;
}

static void expect(const struct table *table, enum table_format format, int width,
                   const char *expected) {
    char *text = printed(table, format, width);
    assert_string_equal(text, expected);
    free(text);
}

static struct table *example(void) {
    struct table *table = table_new(columns, 4);
    table_add(table, "%d %.2f %s", 1, 6.7251, "a \"b\", c");
    table_add(table, "%s", "BLOCK_M=64,WARPS=4|x");
    table_add(table, "%ld %.2f - %s", INT64_MAX, NAN, "line\nbreak");
    return table;
}

static void the_forms(void **state) {
    (void)state;
    struct table *table = example();
    expect(table, TABLE_TEXT, 0,
           "                      p50\n"
           "               rank    us  genome\n"
           "                  1  6.73  BLOCK_M=64,WARPS=4|x\n"
           "9223372036854775807     -  line break\n");
    expect(table, TABLE_MARKDOWN, 0,
           "| rank | p50 us | genome |\n"
           "|---:|---:|---|\n"
           "| 1 | 6.73 | BLOCK_M=64,WARPS=4\\|x |\n"
           "| 9223372036854775807 | - | line break |\n");
    expect(
        table, TABLE_HTML, 0,
        "<table>\n<thead>\n<tr><th class=number>rank<th class=number>p50 us<th class=wrap>genome\n"
        "<tbody>\n<tr><td class=number>1<td class=number data-value=6.7251>6.73"
        "<td class=wrap>BLOCK_M=64,<wbr>WARPS=4|x\n<tr><td class=number>9223372036854775807"
        "<td class=number>\xe2\x80\x93<td class=wrap>line break\n</table>\n");
    expect(table, TABLE_CSV, 0,
           "rank,p50_us,secret,genome\n"
           "1,6.7251,\"a \"\"b\"\", c\",\"BLOCK_M=64,WARPS=4|x\"\n"
           "9223372036854775807,,,\"line\nbreak\"\n");
    cJSON *rows = table_json(table);
    char *text = cJSON_PrintUnformatted(rows);
    assert_string_equal(text,
                        "[{\"rank\":1,\"p50_us\":6.7251,\"secret\":\"a \\\"b\\\", c\",\"genome\":"
                        "\"BLOCK_M=64,WARPS=4|x\"},{\"rank\":9223372036854775807,\"p50_us\":null,"
                        "\"secret\":null,\"genome\":\"line\\nbreak\"}]");
    cJSON_free(text);
    cJSON_Delete(rows);
    table_free(table);
}

static void an_empty_table_has_its_head(void **state) {
    (void)state;
    struct table *table = table_new(columns, 4);
    expect(table, TABLE_CSV, 0, "rank,p50_us,secret,genome\n");
    expect(table, TABLE_TEXT, 80, "      p50\nrank   us  genome\n");
    cJSON *rows = table_json(table);
    assert_int_equal(cJSON_GetArraySize(rows), 0);
    cJSON_Delete(rows);
    table_free(table);
}

static void long_cells_wrap(void **state) {
    (void)state;
    struct table *table = table_new(columns, 4);
    table_add(table, "%d %.0f - %s", 1, 2.0,
              "BLOCK_M=128,BLOCK_N=128,WARPS=8,STAGES=4,KV_SPLITS=16");
    expect(table, TABLE_TEXT, 40,
           "      p50\n"
           "rank   us  genome\n"
           "   1    2  BLOCK_M=128,BLOCK_N=128,\n"
           "           WARPS=8,STAGES=4,KV_SPLITS=16\n");
    expect(table, TABLE_TEXT, 30,
           "      p50\n"
           "rank   us\n"
           "    genome\n"
           "   1    2\n"
           "    BLOCK_M=128,BLOCK_N=128,\n"
           "    WARPS=8,STAGES=4,\n"
           "    KV_SPLITS=16\n");
    table_free(table);
}

static void text_of_any_width_loses_nothing(void **state) {
    (void)state;
    struct table *table = example();
    for (int width = 1; width < 80; width++) {
        char *text = printed(table, TABLE_TEXT, width);
        char joined[512] = "";
        size_t used = 0;
        for (const char *at = text; *at != '\0'; at++)
            if (*at != ' ' && *at != '\n')
                joined[used++] = *at;
        assert_non_null(strstr(joined, "16.73BLOCK_M=64,WARPS=4|x9223372036854775807-linebreak"));
        assert_null(strstr(text, " \n"));
        free(text);
    }
    table_free(table);
}

/* Reads the next field of a CSV line (RFC 4180). */
static void next_field(const char **at, char *field) {
    if (**at != '"') {
        size_t length = strcspn(*at, ",\n");
        sprintf(field, "%.*s", (int)length, *at);
        *at += length;
        return;
    }
    for (++*at; !(**at == '"' && (*at)[1] != '"'); ++*at) {
        *field++ = **at;
        *at += **at == '"';
    }
    ++*at;
    *field = '\0';
}

static void random_text_comes_back(void **state) {
    (void)state;
    static const char letters[] = "ab,;\"'|\\\n\r\t {}[]:\xc3\xa9";
    struct table_column pair[] = {{.name = "x", .heading = "x"}, {.name = "y", .heading = "y"}};
    struct random random;
    random_seed(&random, 1, 0);
    for (int round = 0; round < 2000; round++) {
        char texts[2][24] = {"", ""};
        struct table *table = table_new(pair, 2);
        for (int i = 0; i < 2; i++) {
            int length = (int)random_below(&random, 12);
            for (int j = 0; j < length; j++) {
                char letter = letters[random_below(&random, sizeof letters - 1)];
                /* Use whole UTF-8 characters: half of one is not text. */
                strcat(texts[i], letter & '\x80' ? "\xc3\xa9" : (char[]){letter, '\0'});
            }
            table_add(table, "%s", texts[i]);
        }
        char *csv = printed(table, TABLE_CSV, 0);
        const char *at = strchr(csv, '\n') + 1;
        for (int i = 0; i < 2; i++) {
            char field[64];
            at += i; /* the comma before all but the first */
            next_field(&at, field);
            char *shown = text_escaped(texts[i], true); /* a carriage return is shown */
            assert_string_equal(field, shown);
            free(shown);
        }
        assert_string_equal(at, "\n");
        free(csv);

        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        table_print_json(table_json(table), out);
        fclose(out);
        cJSON *rows = cJSON_Parse(text);
        const cJSON *row = cJSON_GetArrayItem(rows, 0);
        assert_string_equal(cJSON_GetObjectItem(row, "x")->valuestring, texts[0]);
        assert_string_equal(cJSON_GetObjectItem(row, "y")->valuestring, texts[1]);
        cJSON_Delete(rows);
        free(text);
        table_free(table);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_forms),
        cmocka_unit_test(an_empty_table_has_its_head),
        cmocka_unit_test(long_cells_wrap),
        cmocka_unit_test(text_of_any_width_loses_nothing),
        cmocka_unit_test(random_text_comes_back),
    };
    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
