/*
 * lib/split_tiles.cuh: for any numbers of tiles, steps and blocks each step of each tile is in one
 * part, a tile has as many parts as its parts say, and those that share a tile have places of
 * their own in the workspace.
 */
#include "device/hopper.h"

enum { TILES_MAX = 60, STEPS_MAX = 40, BLOCKS_MAX = 64, PLACES_MAX = 3 * TILES_MAX + BLOCKS_MAX };

struct counts {
    uint32_t steps[TILES_MAX * STEPS_MAX], parts[TILES_MAX], sharers[TILES_MAX], places[PLACES_MAX];
};

static void run(struct hopper *hopper, struct device_module *module, const char *kernel, int tiles,
                int steps, int blocks, struct counts *counts) {
    memset(counts, 0, sizeof *counts);
    uint64_t at = hopper_buffer(hopper, "counts", sizeof *counts, counts);
    struct device_launch launch = hopper_launch(module, kernel, (unsigned)blocks);
    hopper_pointer(&launch, at + offsetof(struct counts, steps));
    hopper_pointer(&launch, at + offsetof(struct counts, parts));
    hopper_pointer(&launch, at + offsetof(struct counts, sharers));
    hopper_pointer(&launch, at + offsetof(struct counts, places));
    hopper_int(&launch, tiles);
    hopper_int(&launch, steps);
    hopper_int(&launch, blocks);
    hopper_run(hopper, &launch);
    hopper_read(hopper, at, counts, sizeof *counts);
    hopper_free(hopper, at);
}

static void check(const struct counts *counts, const char *kernel, int tiles, int steps,
                  int blocks) {
    for (int i = 0; i < tiles * steps; i++)
        if (counts->steps[i] != 1)
            fail_msg("%s: %d tiles of %d steps, %d blocks: step %d of tile %d is in %u parts",
                     kernel, tiles, steps, blocks, i % steps, i / steps, counts->steps[i]);
    for (int i = 0; i < tiles; i++)
        if (counts->parts[i] != counts->sharers[i])
            fail_msg("%s: %d tiles of %d steps, %d blocks: tile %d has %u parts, which say %u",
                     kernel, tiles, steps, blocks, i, counts->parts[i], counts->sharers[i]);
    int places = strcmp(kernel, "streamed") == 0 ? 2 * blocks : 3 * tiles; /* of the workspace */
    for (int i = 0; i < PLACES_MAX; i++)
        if (counts->places[i] > (i < places ? 1u : 0u))
            fail_msg("%s: %d tiles of %d steps, %d blocks: %u parts have place %d of %d", kernel,
                     tiles, steps, blocks, counts->places[i], i, places);
}

static void each_step_is_in_one_part(void **state) {
    static const char *const kernels[] = {"whole_tiles", "three_splits", "streamed"};
    static struct counts counts;
    struct hopper hopper;
    (void)state;
    hopper_open(&hopper, "emulated:sm_90");
    struct device_module *module = hopper_compile(&hopper, "split_tiles.cu", "", NULL);
    for (int i = 0; i < 60; i++) {
        const char *kernel = kernels[i % 3];
        int tiles = 1 + (int)(hopper_random(&hopper) % TILES_MAX);
        int steps = 1 + (int)(hopper_random(&hopper) % (i % 2 ? STEPS_MAX : 4));
        int blocks = 1 + (int)(hopper_random(&hopper) % BLOCKS_MAX);
        run(&hopper, module, kernel, tiles, steps, blocks, &counts);
        check(&counts, kernel, tiles, steps, blocks);
    }
    hopper_unload(&hopper, module);
    hopper_close(&hopper);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_step_is_in_one_part)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
