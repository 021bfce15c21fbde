#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"

static void pieces_are_distinguished(void **state) {
    (void)state;
    static const char *const splits[][3] = {{"ab", "c", ""}, {"a", "bc", ""}, {"", "ab", "c"}};
    struct hash hashes[3];
    for (int i = 0; i < 3; i++) {
        struct hasher *hasher = hasher_new();
        for (int j = 0; j < 3; j++)
            hasher_add_text(hasher, splits[i][j]);
        hashes[i] = hasher_finish(hasher);
    }
    assert_false(hash_equal(hashes[0], hashes[1]));
    assert_false(hash_equal(hashes[0], hashes[2]));
    assert_false(hash_equal(hashes[1], hashes[2]));
    assert_false(hash_equal(hash_bytes("", strlen("")), hasher_finish(hasher_new())));
}

static void one_piece_is_hash_bytes(void **state) {
    (void)state;
    unsigned char bytes[5000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7);
    for (size_t size = 0; size <= sizeof bytes; size += size < 300 ? 1 : 911) {
        struct hasher *hasher = hasher_new();
        hasher_add(hasher, bytes, size);
        assert_true(hash_equal(hasher_finish(hasher), hash_bytes(bytes, size)));
        if (size > 0) {
            struct hash before = hash_bytes(bytes, size);
            bytes[size / 2] ^= 1;
            assert_false(hash_equal(before, hash_bytes(bytes, size)));
            bytes[size / 2] ^= 1;
        }
    }
}

/* BLAKE2b of 16 bytes, of the length in 8 bytes and the piece: computed with Python's hashlib. */
static void strong_digits_stay(void **state) {
    (void)state;
    char text[HASH_TEXT_SIZE];
    struct hasher *hasher = hasher_new_strong();
    hasher_add_text(hasher, "evo");
    hasher_add_text(hasher, "");
    hasher_add_text(hasher, "tile");
    assert_string_equal(hash_print(hasher_finish(hasher), text),
                        "b26fd44a5b1cbf041f5538a9dfe97da2");
}

/* Stored keys and cached kernels are addressed by these digits, so a change must be noticed. */
static void digits_stay(void **state) {
    (void)state;
    char text[HASH_TEXT_SIZE];
    assert_string_equal(hash_print(hash_bytes("evotile", strlen("evotile")), text),
                        "7d75f2b23df728790d10fc47e33b7cde");
}

static void printed_is_parsed(void **state) {
    (void)state;
    char text[HASH_TEXT_SIZE];
    struct hash hash = {.high = 0x0123456789abcdef, .low = 0xf}, back = {0};
    assert_string_equal(hash_print(hash, text), "0123456789abcdef000000000000000f");
    assert_true(hash_parse(&back, text));
    assert_true(hash_equal(hash, back));

    static const char *const none[] = {"",
                                       "0123456789abcdef000000000000000",
                                       "0123456789abcdef000000000000000ff",
                                       "0123456789ABCDEF000000000000000f",
                                       " 123456789abcdef000000000000000f",
                                       "0x23456789abcdef000000000000000f"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_false(hash_parse(&back, none[i]));
    assert_true(hash_equal(hash, back));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_distinguished),
        cmocka_unit_test(one_piece_is_hash_bytes),
        cmocka_unit_test(digits_stay),
        cmocka_unit_test(strong_digits_stay),
        cmocka_unit_test(printed_is_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
