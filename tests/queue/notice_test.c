#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/path.h"
#include "queue/notices.h"

static void descriptions_come_back(void **state) {
    (void)state;
    struct queue_file files[2];
    struct description description = some_description(files), read;
    struct error error = {0};
    char why[256];
    for (int placed = 0; placed < 2; placed++) {
        description.placed = placed;
        char *text = description_print(&description);
        if (description_parse(&read, text, &error) < 0)
            fail_msg("%s", error.text);
        assert_string_equal(read.id, description.id);
        assert_string_equal(read.name, "night");
        assert_int_equal(read.placed, placed);
        assert_true(!placed || queue_place_same(&read.place, &description.place, why));
        assert_int_equal(read.file_count, 2);
        assert_memory_equal(read.files, files, sizeof files);
        assert_int_equal(read.champion_count, 2);
        assert_int_equal(read.champions[1].goal, 5);
        assert_int_equal(read.champions[1].trial, 71);
        assert_true(read.champions[1].score_us == 3.5);
        assert_int_equal(read.champions[1].genome.value[2], 4);
        char *again = description_print(&read);
        assert_string_equal(text, again);
        free(again);
        free(text);
        description_release(&read);
    }
}

static void beats_come_back(void **state) {
    (void)state;
    struct beat beat = some_beat(), read;
    struct error error = {0};
    char *text = beat_print(&beat);
    if (beat_parse(&read, text, &error) < 0)
        fail_msg("%s", error.text);
    char *again = beat_print(&read);
    assert_string_equal(text, again);
    assert_int_equal(read.capacity, 144);
    free(again);
    text[strlen("{\"protocol\":")] = '9';
    assert_int_equal(beat_parse(&read, text, &error), -1);
    assert_non_null(strstr(error.text, "speaks protocol 9 of the queue, this one protocol 4"));
    assert_string_equal(read.worker, beat.worker); /* the sender is still known */
    assert_string_equal(read.host, beat.host);
    free(text);
}

/* `text` with `old` replaced by `new` is rejected with an error that contains `words`. */
static void refuse(char *text, const char *old, const char *new, const char *words) {
    struct description description;
    struct error error = {0};
    char changed[8192];
    const char *at = strstr(text, old);
    assert_non_null(at);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    if (description_parse(&description, changed, &error) == 0)
        fail_msg("accepted: %s", changed);
    if (strstr(error.text, words) == NULL)
        fail_msg("'%s' does not contain '%s'", error.text, words);
}

static void what_is_not_lawful_is_refused(void **state) {
    (void)state;
    struct queue_file files[2];
    struct description description = some_description(files);
    char *text = description_print(&description);
    refuse(text, "\"protocol\":4", "\"protocol\":1", "install the same evotile on all hosts");
    refuse(text, "0123456789abcdef", "../../../etc/cro", "is not an id");
    refuse(text, "0123456789abcdef", "0123", "is not an id");
    refuse(text, "template/a/", "template/../../", "leads out of the run's folder");
    refuse(text, "template/a/", "/template/", "leads out of the run's folder");
    refuse(text, "template/a/", "template//", "leads out of the run's folder");
    refuse(text, "template/a/", "./", "leads out of the run's folder");
    refuse(text, "\"bytes\":101", "\"bytes\":-1", "must be from 0");
    refuse(text, "\"bytes\":101", "\"bytes\":1e300", "bytes");
    refuse(text, "\"patience_s\":30", "\"patience_s\":0", "must be from");
    refuse(text, "\"goal\":5", "\"goal\":64", "damaged");
    refuse(text, "\"goal\":5", "\"goal\":-1", "damaged");
    refuse(text, "\"score_us\":2.5", "\"score_us\":-2.5", "has no score");
    refuse(text, "\"score_us\":2.5", "\"score_us\":1e999", "");
    refuse(text, "\"kind\":\"champion\"", "\"kind\":\"device\"", "damaged");
    refuse(text, "\"name\":", "\"surname\":", "surname");
    free(text);
}

/* No string of a description may hold a control character, raw or escaped. */
static void control_characters_are_refused(void **state) {
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
    static const char *const lawful[] = {"\xc3\x9b",  "\xe2\x80\x9b", "\\\\r",   "\\u00e4",
                                         "\\\\u001b", "\\\"",         "\xc2\xa0"};
    struct queue_file files[2];
    struct description description = some_description(files), read;
    struct error error = {0};
    char *text = description_print(&description);
    char changed[8192];
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            snprintf(changed, sizeof changed, "%s%s", places[p], words[w]);
            refuse(text, places[p], changed, "a run's description contains a control character");
        }
    for (size_t w = 0; w < sizeof lawful / sizeof *lawful; w++) {
        const char *at = strstr(text, "night");
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, lawful[w], at);
        if (description_parse(&read, changed, &error) < 0)
            fail_msg("%s", error.text);
        description_release(&read);
    }
    free(text);
    struct beat beat = some_beat();
    strcpy(beat.host, "node7\x1b]0;owned\x07");
    text = beat_print(&beat);
    assert_int_equal(beat_parse(&beat, text, &error), -1);
    assert_string_equal(error.text, "a worker's heartbeat contains a control character");
    free(text);
}

static void places_differ_in_each_part(void **state) {
    (void)state;
    const struct queue_place place = some_place();
    char why[256];
    struct queue_place other = place;
    assert_true(queue_place_same(&place, &other, why));
    strcpy(other.device.spec, "cuda:7"); /* the device's index does not matter */
    assert_true(queue_place_same(&place, &other, why));
    strcpy(other.nvrtc, "13.0");
    assert_false(queue_place_same(&place, &other, why));
    assert_non_null(strstr(why, "NVRTC is 12.6, not 13.0"));
    other = place;
    strcpy(other.device.driver, "1");
    assert_false(queue_place_same(&place, &other, why));
    other = place;
    other.device.sm_count++;
    assert_false(queue_place_same(&place, &other, why));
    other = place;
    strcpy(other.method, "another");
    assert_false(queue_place_same(&place, &other, why));
}

/* The fuzz seeds are valid inputs. */
static void seeds_are_read(void **state) {
    (void)state;
    static const struct {
        const char *path;
        bool is_beat;
    } seeds[] = {{"tests/fuzz/seeds/notice/description.json", false},
                 {"tests/fuzz/seeds/notice/waiting.json", false},
                 {"tests/fuzz/seeds/notice/beat.json", true},
                 {"tests/fuzz/seeds/notice/letters.json", true}};
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++) {
        struct description description = {0};
        struct beat beat;
        struct error error = {0};
        char *text = path_read_file(seeds[s].path, 1 << 20, NULL, &error);
        if (text == NULL || (seeds[s].is_beat ? beat_parse(&beat, text, &error)
                                              : description_parse(&description, text, &error)) < 0)
            fail_msg("%s: %s", seeds[s].path, error.text);
        description_release(&description);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptions_come_back),
        cmocka_unit_test(control_characters_are_refused),
        cmocka_unit_test(beats_come_back),
        cmocka_unit_test(what_is_not_lawful_is_refused),
        cmocka_unit_test(places_differ_in_each_part),
        cmocka_unit_test(seeds_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
