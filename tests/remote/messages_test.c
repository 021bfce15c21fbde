#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/path.h"
#include "remote/example_messages.h"

static void descriptions_round_trip(void **state) {
    (void)state;
    struct run_file files[2];
    struct run_description description = example_description(files), read;
    struct error error = {0};
    char why[256];
    for (int has_platform = 0; has_platform < 2; has_platform++) {
        description.has_platform = has_platform;
        char *text = run_description_print(&description);
        if (run_description_parse(&read, text, &error) < 0)
            fail_msg("%s", error.text);
        assert_string_equal(read.id, description.id);
        assert_string_equal(read.name, "night");
        assert_int_equal(read.has_platform, has_platform);
        assert_true(!has_platform || platform_same(&read.platform, &description.platform, why));
        assert_int_equal(read.file_count, 2);
        assert_memory_equal(read.files, files, sizeof files);
        assert_int_equal(read.champion_count, 2);
        assert_int_equal(read.champions[1].goal, 5);
        assert_int_equal(read.champions[1].trial, 71);
        assert_true(read.champions[1].score_us == 3.5);
        assert_int_equal(read.champions[1].genome.value[2], 4);
        char *again = run_description_print(&read);
        assert_string_equal(text, again);
        free(again);
        free(text);
        run_description_release(&read);
    }
}

/* A server's names the solution that its workers load first. */
static void description_of_a_server_round_trips(void **state) {
    (void)state;
    static const char path[] = "0123456789abcdef0123456789abcdef/mine";
    struct run_file files[2];
    struct run_description description = example_description(files), read;
    struct error error = {0};
    snprintf(description.solution, sizeof description.solution, "%s", path);
    char *text = run_description_print(&description);
    if (run_description_parse(&read, text, &error) < 0)
        fail_msg("%s", error.text);
    assert_string_equal(read.solution, path);
    free(text);
    run_description_release(&read);
}

static void heartbeats_round_trip(void **state) {
    (void)state;
    struct heartbeat heartbeat = example_heartbeat(), read;
    struct error error = {0};
    char *text = heartbeat_print(&heartbeat);
    if (heartbeat_parse(&read, text, &error) < 0)
        fail_msg("%s", error.text);
    char *again = heartbeat_print(&read);
    assert_string_equal(text, again);
    assert_int_equal(read.capacity, 144);
    free(again);
    text[strlen("{\"protocol\":")] = '8';
    assert_int_equal(heartbeat_parse(&read, text, &error), -1);
    assert_non_null(strstr(error.text, "speaks protocol 8 of the queue, this one protocol 9"));
    assert_string_equal(read.worker, heartbeat.worker); /* the sender is still known */
    assert_string_equal(read.host, heartbeat.host);
    free(text);
}

/* `text` with `old` replaced by `new` is rejected with an error that contains `words`. */
static void expect_rejected(char *text, const char *old, const char *new, const char *words) {
    struct run_description description;
    struct error error = {0};
    char changed[8192];
    const char *at = strstr(text, old);
    assert_non_null(at);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    if (run_description_parse(&description, changed, &error) == 0)
        fail_msg("accepted: %s", changed);
    if (strstr(error.text, words) == NULL)
        fail_msg("'%s' does not contain '%s'", error.text, words);
}

static void invalid_descriptions_are_rejected(void **state) {
    (void)state;
    struct run_file files[2];
    struct run_description description = example_description(files);
    char *text = run_description_print(&description);
    expect_rejected(text, "\"protocol\":9", "\"protocol\":1",
                    "install the same evotile on all hosts");
    expect_rejected(text, "0123456789abcdef", "../../../etc/cro", "is not an id");
    expect_rejected(text, "0123456789abcdef", "0123", "is not an id");
    expect_rejected(text, "template/a/", "template/../../", "leads out of the run's folder");
    expect_rejected(text, "template/a/", "/template/", "leads out of the run's folder");
    expect_rejected(text, "template/a/", "template//", "leads out of the run's folder");
    expect_rejected(text, "template/a/", "./", "leads out of the run's folder");
    expect_rejected(text, "\"bytes\":101", "\"bytes\":-1", "must be from 0");
    expect_rejected(text, "\"bytes\":101", "\"bytes\":1e300", "bytes");
    expect_rejected(text, "\"patience_s\":30", "\"patience_s\":0", "must be from");
    expect_rejected(text, "\"goal\":5", "\"goal\":256", "damaged");
    expect_rejected(text, "\"goal\":5", "\"goal\":-1", "damaged");
    expect_rejected(text, "\"score_us\":2.5", "\"score_us\":-2.5", "has no score");
    expect_rejected(text, "\"score_us\":2.5", "\"score_us\":1e999", "");
    expect_rejected(text, "\"kind\":\"champion\"", "\"kind\":\"device\"", "damaged");
    expect_rejected(text, "\"name\":", "\"surname\":", "surname");
    static const char *const paths[] = {
        "", "0123456789abcdef0123456789abcdef/../a", "0123456789abcdef0123456789abcdef/..",
        "0123456789abcdef0123456789abcdeg/a", "../0123456789abcdef0123456789abcdef/a"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char member[128];
        snprintf(member, sizeof member, "\"solution\":\"%s\",\"name\":", paths[i]);
        expect_rejected(text, "\"name\":", member, "solution");
    }
    free(text);
}

/* No string of a description may hold a control character, raw or escaped. */
static void control_characters_are_rejected(void **state) {
    (void)state;
    static const char *const words[] = {
        "\x1b[2J",
        "\\u001b[2J",
        "\\u001B]0;",
        "\r",
        "\\r",
        "\\n",
        "\n",
        "\xc2\x9b"
        "2J",
        "\\u009b2J",
        "\x7f",
        "\\u007F",
        "\\\\\\b",
        "a\\u0000b",
    };
    static const char *const places[] = {"night",    "emulated",   "12.6",
                                         "a method", "template/a", "\"name\":\"night\",\""};
    static const char *const valid[] = {"\xc3\x9b",  "\xe2\x80\x9b", "\\\\r",   "\\u00e4",
                                        "\\\\u001b", "\\\"",         "\xc2\xa0"};
    struct run_file files[2];
    struct run_description description = example_description(files), read;
    struct error error = {0};
    char *text = run_description_print(&description);
    char changed[8192];
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            snprintf(changed, sizeof changed, "%s%s", places[p], words[w]);
            expect_rejected(text, places[p], changed,
                            "a run's description contains a control character");
        }
    for (size_t w = 0; w < sizeof valid / sizeof *valid; w++) {
        const char *at = strstr(text, "night");
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, valid[w], at);
        if (run_description_parse(&read, changed, &error) < 0)
            fail_msg("%s", error.text);
        run_description_release(&read);
    }
    free(text);
    struct heartbeat heartbeat = example_heartbeat();
    strcpy(heartbeat.host, "node7\x1b]0;owned\x07");
    text = heartbeat_print(&heartbeat);
    assert_int_equal(heartbeat_parse(&heartbeat, text, &error), -1);
    assert_string_equal(error.text, "a worker's heartbeat contains a control character");
    free(text);
}

static void platforms_differ_in_each_part(void **state) {
    (void)state;
    const struct platform platform = example_platform();
    char why[256];
    struct platform other = platform;
    assert_true(platform_same(&platform, &other, why));
    strcpy(other.device.spec, "cuda:7"); /* the device's index does not matter */
    assert_true(platform_same(&platform, &other, why));
    strcpy(other.nvrtc, "13.0");
    assert_false(platform_same(&platform, &other, why));
    assert_non_null(strstr(why, "NVRTC is 12.6, not 13.0"));
    other = platform;
    strcpy(other.device.driver, "1");
    assert_false(platform_same(&platform, &other, why));
    other = platform;
    other.device.sm_count++;
    assert_false(platform_same(&platform, &other, why));
    other = platform;
    strcpy(other.method, "another");
    assert_false(platform_same(&platform, &other, why));
}

/* The fuzz seeds are valid inputs. */
static void fuzz_seeds_are_valid(void **state) {
    (void)state;
    static const struct {
        const char *path;
        bool is_beat;
    } seeds[] = {{"tests/fuzz/seeds/messages/description.json", false},
                 {"tests/fuzz/seeds/messages/waiting.json", false},
                 {"tests/fuzz/seeds/messages/server.json", false},
                 {"tests/fuzz/seeds/messages/beat.json", true},
                 {"tests/fuzz/seeds/messages/letters.json", true}};
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++) {
        struct run_description description = {0};
        struct heartbeat heartbeat;
        struct error error = {0};
        char *text = path_read_file(seeds[s].path, 1 << 20, NULL, &error);
        if (text == NULL ||
            (seeds[s].is_beat ? heartbeat_parse(&heartbeat, text, &error)
                              : run_description_parse(&description, text, &error)) < 0)
            fail_msg("%s: %s", seeds[s].path, error.text);
        run_description_release(&description);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptions_round_trip),
        cmocka_unit_test(control_characters_are_rejected),
        cmocka_unit_test(description_of_a_server_round_trips),
        cmocka_unit_test(heartbeats_round_trip),
        cmocka_unit_test(invalid_descriptions_are_rejected),
        cmocka_unit_test(platforms_differ_in_each_part),
        cmocka_unit_test(fuzz_seeds_are_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
