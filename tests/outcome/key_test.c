#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "outcome/key.h"

static struct key example(void) {
    struct key key = {0};
    for (int part = 0; part < KEY_PART_COUNT; part++)
        key_set(&key, part, key_part_name(part));
    return key;
}

static void every_part_changes_the_hash(void **state) {
    (void)state;
    struct key was = example();
    for (int part = 0; part < KEY_PART_COUNT; part++) {
        struct key now;
        struct key_difference differences[KEY_PART_COUNT];
        key_copy(&now, &was);
        assert_true(hash_equal(key_hash(&was), key_hash(&now)));
        assert_int_equal(key_compare(&was, &now, differences), 0);
        key_set(&now, part, "else");
        assert_false(hash_equal(key_hash(&was), key_hash(&now)));
        assert_int_equal(key_compare(&was, &now, differences), 1);
        assert_int_equal(differences[0].part, part);
        assert_string_equal(differences[0].name, key_part_name(part));
        assert_string_equal(differences[0].a, key_part_name(part));
        assert_string_equal(differences[0].b, "else");
        key_release(&now);
    }
    key_release(&was);
}

/* The same text in another part is another key. */
static void part_boundaries_change_the_hash(void **state) {
    (void)state;
    struct key a = example(), b = example();
    key_set(&a, KEY_DEVICE, "x");
    key_set(&a, KEY_DRIVER, "");
    key_set(&b, KEY_DEVICE, "");
    key_set(&b, KEY_DRIVER, "x");
    assert_false(hash_equal(key_hash(&a), key_hash(&b)));
    key_release(&a);
    key_release(&b);
}

static void missing_parts_differ(void **state) {
    (void)state;
    struct key whole = example(), empty = {0};
    struct key_difference differences[KEY_PART_COUNT];
    assert_int_equal(key_compare(&whole, &empty, differences), KEY_PART_COUNT);
    assert_null(differences[3].b);
    assert_int_equal(key_compare(&empty, &empty, differences), 0);
    key_set(&whole, KEY_GENOME, whole.parts[KEY_GENOME]); /* self-assignment */
    assert_string_equal(whole.parts[KEY_GENOME], "genome");
    key_release(&whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_changes_the_hash),
        cmocka_unit_test(part_boundaries_change_the_hash),
        cmocka_unit_test(missing_parts_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
