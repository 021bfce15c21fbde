/* json_stream: accepted input, and errors with their positions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/json_stream.h"

static void assert_scalar(const char *text, enum json_scalar kind, const char *token) {
    struct error error = {0};
    enum json_scalar found;
    struct json_stream *stream = json_stream_bytes("f.json", text, strlen(text), &error);
    assert_int_equal(json_stream_scalar(stream, &found), 0);
    assert_int_equal(found, kind);
    assert_string_equal(json_stream_token(stream), token);
    assert_int_equal(json_stream_end(stream), 0);
    json_stream_close(stream);
}

static void reads_scalars(void **state) {
    (void)state;
    assert_scalar(" 12", JSON_NUMBER, "12");
    assert_scalar("-0.5e-3", JSON_NUMBER, "-0.5e-3");
    assert_scalar("1E+2", JSON_NUMBER, "1e+2");
    assert_scalar("NaN", JSON_NUMBER, "NaN");
    assert_scalar("-Infinity", JSON_NUMBER, "-Infinity");
    assert_scalar("true\n", JSON_LITERAL, "true");
    assert_scalar("\"\"", JSON_STRING, "");
    assert_scalar("\"a\\n\\\"\\u00e9\\ud83d\\ude00\"", JSON_STRING,
                  "a\n\"\xc3\xa9\xf0\x9f\x98\x80");
}

static void assert_skip_refused(const char *text, const char *message) {
    struct error error = {0};
    struct json_stream *stream = json_stream_bytes("f.json", text, strlen(text), &error);
    if (json_stream_skip(stream) == 0 && json_stream_end(stream) == 0)
        fail_msg("accepted: %s", text);
    assert_int_equal(error.kind, ERROR_INPUT);
    assert_string_equal(error.text, message);
    assert_int_equal(json_stream_skip(stream), -1); /* every later call fails */
    assert_string_equal(error.text, message);
    json_stream_close(stream);
}

static void refuses_with_a_place(void **state) {
    (void)state;
    assert_skip_refused("", "f.json:1:1: expected a value, found the end of the file");
    assert_skip_refused("{\"a\": 1,}", "f.json:1:9: expected a key, found '}'");
    assert_skip_refused("[1,\n 2,,3]", "f.json:2:4: expected a value, found ','");
    assert_skip_refused("[1 2]", "f.json:1:4: expected a comma or the end of the array, found '2'");
    assert_skip_refused("{\"a\" 1}", "f.json:1:6: expected a colon, found '1'");
    assert_skip_refused("01", "f.json:1:2: expected the end of the file, found '1'");
    assert_skip_refused("-", "f.json:1:2: expected a digit, found the end of the file");
    assert_skip_refused("1.x", "f.json:1:3: expected a digit, found 'x'");
    assert_skip_refused("nul", "f.json:1:4: expected null, found the end of the file");
    assert_skip_refused("[\n\n\"a\nb\"]",
                        "f.json:3:3: expected the end of a string, found byte 0x0a");
    assert_skip_refused("\"\\x\"", "f.json:1:3: expected the rest of an escape, found 'x'");
    assert_skip_refused("\"\\ud800\"", "f.json:1:8: an unpaired surrogate");
    assert_skip_refused("[[1]",
                        "f.json:1:5: expected the end of an array, found the end of the file");
}

static void counts_lines_over_buffers(void **state) {
    (void)state;
    enum { LINES = 200000 };
    char path[] = "/tmp/json_stream_test.XXXXXX";
    close(mkstemp(path));
    gzFile out = gzopen(path, "wb1");
    gzputs(out, "[");
    for (int i = 0; i < LINES; i++)
        gzprintf(out, "\"text %d\",\n", i);
    gzputs(out, "   ?]");
    gzclose(out);
    struct error error = {0};
    struct json_stream *stream = json_stream_open(path, &error);
    assert_int_equal(json_stream_skip(stream), -1);
    char expected[200];
    snprintf(expected, sizeof expected, "%s:%d:4: expected a value, found '?'", path, LINES + 1);
    assert_string_equal(error.text, expected);
    json_stream_close(stream);
    unlink(path);
}

static void cut_texts_are_reported(void **state) {
    (void)state;
    static const char *const texts[] = {"{\"a\": 1", "{\"a\": 1,", "{\"a\": 1 ,\n"};
    for (int i = 0; i < 3; i++) {
        struct error error = {0};
        enum json_scalar kind;
        bool first = true;
        struct json_stream *stream = json_stream_bytes("f", texts[i], strlen(texts[i]), &error);
        assert_int_equal(json_stream_enter(stream, '{'), 0);
        assert_int_equal(json_stream_member(stream, &first), JSON_MORE);
        assert_string_equal(json_stream_token(stream), "a");
        assert_int_equal(json_stream_scalar(stream, &kind), 0);
        assert_int_equal(json_stream_member(stream, &first), JSON_TRUNCATED);
        assert_int_equal(error.kind, ERROR_NONE);
        json_stream_close(stream);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_scalars),
        cmocka_unit_test(refuses_with_a_place),
        cmocka_unit_test(counts_lines_over_buffers),
        cmocka_unit_test(cut_texts_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
