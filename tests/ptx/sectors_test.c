/* The set of sectors that a block touches (sectors.h), against a plain list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "ptx/sectors.h"

#include <string.h>

enum { LANES = 32, SECTORS = 1 << 14 };

/* What a warp instruction touches, sector by sector; `known` remembers what it was. */
static struct sector_access expected(uint8_t *known, const uint64_t addresses[LANES], uint32_t mask,
                                     int bytes) {
    uint8_t now[SECTORS] = {0};
    struct sector_access access = {0};
    for (int lane = 0; lane < LANES; lane++)
        for (int byte = 0; byte < bytes && (mask >> lane & 1); byte++)
            now[(addresses[lane] + (uint64_t)byte) / SECTOR_BYTES] = 1;
    for (int i = 0; i < SECTORS; i++) {
        access.sectors += now[i];
        access.known += now[i] && known[i];
        known[i] |= now[i];
    }
    return access;
}

/* Strides, widths and masks of all kinds, over and over the same lines. */
static void accesses_match_a_list(void **unused) {
    (void)unused;
    static uint8_t known[SECTORS];
    struct sector_set set = {0};
    struct random random;
    uint64_t distinct = 0;
    random_seed(&random, 4, 0);
    for (int draw = 0; draw < 600; draw++) {
        /* Some accesses begin in one sector and end in another. */
        const int bytes = 1 + (int)random_below(&random, 32);
        const uint64_t stride = (uint64_t)bytes << random_below(&random, 5);
        const uint64_t room = (uint64_t)SECTORS * SECTOR_BYTES - LANES * stride - 32;
        const uint64_t base = random_below(&random, room) / (uint64_t)bytes * (uint64_t)bytes;
        const uint32_t mask = (uint32_t)random_next(&random);
        uint64_t addresses[LANES];
        for (int lane = 0; lane < LANES; lane++)
            addresses[lane] = base + (uint64_t)lane * stride;
        const struct sector_access wanted = expected(known, addresses, mask, bytes);
        struct sector_access access;
        sectors_access(&set, addresses, mask, bytes, &access);
        assert_int_equal(access.sectors, wanted.sectors);
        assert_int_equal(access.known, wanted.known);
        distinct += (uint64_t)(wanted.sectors - wanted.known);
        assert_int_equal(set.sectors, distinct);
    }
    assert_true(distinct > 4096); /* the table has grown */
    sectors_clear(&set);
    const uint64_t addresses[LANES] = {0};
    struct sector_access access;
    sectors_access(&set, addresses, 1, 4, &access);
    assert_int_equal(access.sectors, 1);
    assert_int_equal(access.known, 0);
    sectors_release(&set);
}

/* Consecutive bytes are as many accesses of one byte. */
static void ranges_match_accesses(void **unused) {
    (void)unused;
    struct sector_set ranges = {0}, bytes = {0};
    struct random random;
    random_seed(&random, 5, 0);
    for (int draw = 0; draw < 300; draw++) {
        const uint64_t first = random_below(&random, 1 << 14), count = random_below(&random, 700);
        struct sector_access range, wanted = {0};
        sectors_range(&ranges, first, count, &range);
        for (uint64_t sector = first / SECTOR_BYTES;
             count > 0 && sector <= (first + count - 1) / SECTOR_BYTES; sector++) {
            struct sector_access one;
            const uint64_t address[LANES] = {sector * SECTOR_BYTES};
            sectors_access(&bytes, address, 1, 1, &one);
            wanted.sectors += one.sectors;
            wanted.known += one.known;
        }
        assert_int_equal(range.sectors, wanted.sectors);
        assert_int_equal(range.known, wanted.known);
        assert_int_equal(ranges.sectors, bytes.sectors);
    }
    sectors_release(&ranges);
    sectors_release(&bytes);
}

/* The age of an access is that of the line that it touched longest ago. What was touched at a later
   time by another clock has none, and what is new has none. */
static void lines_have_ages(void **unused) {
    (void)unused;
    struct sector_set set = {0};
    struct sector_access access;
    sectors_range(&set, 0, 8 * LINE_BYTES, &access);
    assert_int_equal(access.age, 0);
    set.clock = 10;
    sectors_range(&set, 0, LINE_BYTES, &access);
    assert_int_equal(access.age, 10);
    set.clock = 15;
    sectors_range(&set, 0, LINE_BYTES, &access);
    assert_int_equal(access.age, 5);
    sectors_range(&set, 0, 2 * LINE_BYTES, &access);
    assert_int_equal(access.age, 15);
    sectors_range(&set, 100 * LINE_BYTES, LINE_BYTES, &access);
    assert_int_equal(access.age, 0);
    set.clock = 3;
    sectors_range(&set, 0, LINE_BYTES, &access);
    assert_int_equal(access.age, 0);
    assert_int_equal(access.known, 4);
    sectors_release(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(accesses_match_a_list),
                                       cmocka_unit_test(ranges_match_accesses),
                                       cmocka_unit_test(lines_have_ages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
