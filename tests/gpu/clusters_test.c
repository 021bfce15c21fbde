/* device.info.clusters_of_*: so many clusters meet while all of them run; of one more, the last one
   starts when another has given up. Each block takes an SM by its shared memory. */
#include "device/device.h"
#include "evaluate/verify_fixture.h"

static const char meet_source[] =
    "__device__ void meet(unsigned *arrived, unsigned *gave_up) {\n"
    "    const long long start = clock64();\n"
    "    atomicAdd(arrived, 1);\n"
    "    while (atomicAdd(arrived, 0) < gridDim.x)\n"
    "        if (clock64() - start > 100000000) {\n"
    "            atomicAdd(gave_up, 1);\n"
    "            return;\n"
    "        }\n"
    "}\n"
    "#define MEET(size) extern \"C\" __global__ void __cluster_dims__(size, 1, 1) meet_##size( \\\n"
    "    unsigned *arrived, unsigned *gave_up) { if (threadIdx.x == 0) meet(arrived, gave_up); }\n"
    "MEET(2) MEET(4) MEET(8)\n";

static struct verify_fixture fixture;
static uint64_t counters; /* arrived, gave up */

static unsigned blocks_that_gave_up(int size, int clusters) {
    struct device *device = fixture.device;
    const struct device_backend *backend = device->backend;
    const unsigned smem_bytes = (unsigned)device->info.smem_per_block_optin;
    const uint64_t gave_up = counters + 4;
    struct device_sequence sequence = {.count = 1};
    struct device_launch *launch = &sequence.launches[0];
    struct resources resources = {0};
    struct error error = {0};
    unsigned count;
    char kernel[16];
    char reason[REASON_SIZE];
    snprintf(kernel, sizeof kernel, "meet_%d", size);
    *launch = (struct device_launch){.module = fixture.candidate,
                                     .kernel = kernel,
                                     .grid = {(unsigned)(size * clusters), 1, 1},
                                     .block = {128, 1, 1},
                                     .smem_bytes = smem_bytes,
                                     .argument_count = 2,
                                     .arguments = {{.size = 8}, {.size = 8}}};
    memcpy(launch->arguments[0].bytes, &counters, 8);
    memcpy(launch->arguments[1].bytes, &gave_up, 8);
    must(backend->resources(device, fixture.candidate, kernel, 128, smem_bytes, &resources, &error),
         &error);
    must(backend->fill32(device, counters, 0, 2, &error), &error);
    assert_int_equal(backend->run(device, &sequence, 30, reason), VERDICT_OK);
    must(backend->read(device, gave_up, &count, sizeof count, &error), &error);
    return count;
}

static void so_many_run_at_once(void **state) {
    (void)state;
    const struct device_info *info = &fixture.device->info;
    const int sizes[] = {2, 4, 8};
    const int counts[] = {info->clusters_of_2, info->clusters_of_4, info->clusters_of_8};
    for (int i = 0; i < 3; i++) {
        printf("clusters of %d blocks: %d\n", sizes[i], counts[i]);
        assert_in_range(counts[i], 1, info->sm_count / sizes[i]);
        assert_int_equal(blocks_that_gave_up(sizes[i], counts[i]), 0);
        assert_in_range(blocks_that_gave_up(sizes[i], counts[i] + 1), 1, sizes[i] * counts[i]);
    }
}

static int open_meeting(void **state) {
    (void)state;
    struct error error = {0};
    verify_fixture_open(&fixture, "cuda:0");
    verify_fixture_compile(&fixture, strdup(meet_source), NULL, &fixture.candidate);
    must(fixture.device->backend->memory_new(fixture.device, "counters", 8, &counters, &error),
         &error);
    return 0;
}

static int close_meeting(void **state) {
    (void)state;
    verify_fixture_close(&fixture);
    return 0;
}

int main(void) {
    struct device_info info;
    struct error error = {0};
    if (device_describe("cuda:0", &info, &error) < 0 || info.compute_capability < 90) {
        printf("skipped: %s\n", *error.text ? error.text : "clusters need sm_90");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(so_many_run_at_once)};
    return cmocka_run_group_tests_name("clusters on a GPU", tests, open_meeting, close_meeting);
}
