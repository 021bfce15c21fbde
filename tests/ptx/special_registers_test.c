/* Every thread of a launch of several blocks in three dimensions reads the special registers that
 * say where it is. */
#include "ptx/harness.h"

enum { LANES = 32, REGISTERS = 18 };

static const unsigned grid[3] = {2, 3, 2}, block[3] = {12, 5, 2}; /* the last warp is not full */

static const char *const names[REGISTERS] = {
    "%tid.x",       "%tid.y",       "%tid.z",       "%ntid.x",      "%ntid.y",      "%ntid.z",
    "%ctaid.x",     "%ctaid.y",     "%ctaid.z",     "%nctaid.x",    "%nctaid.y",    "%nctaid.z",
    "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt", "%laneid",
};

/* The register's value in a thread of a block, by the PTX ISA's definition. */
static uint32_t expected(int which, unsigned thread, unsigned in_grid) {
    const unsigned lane = thread % LANES;
    const unsigned at[3] = {thread % block[0], thread / block[0] % block[1],
                            thread / block[0] / block[1]};
    const unsigned of[3] = {in_grid % grid[0], in_grid / grid[0] % grid[1],
                            in_grid / grid[0] / grid[1]};
    uint32_t masks[] = {0, 0, 0, 0, 0};
    for (unsigned other = 0; other < LANES; other++) {
        const bool in[] = {other == lane, other <= lane, other<lane, other >= lane, other> lane};
        for (int m = 0; m < 5; m++)
            masks[m] |= (uint32_t)in[m] << other;
    }
    return which < 3    ? at[which]
           : which < 6  ? block[which - 3]
           : which < 9  ? of[which - 6]
           : which < 12 ? grid[which - 9]
           : which < 17 ? masks[which - 12]
                        : lane;
}

/* A kernel that stores the registers of each thread one after the other. */
static void print_kernel(char *text, size_t size) {
    size_t used =
        (size_t)snprintf(text, size,
                         ".version 8.0\n.target sm_80\n.address_size 64\n"
                         ".visible .entry read_all(.param .u64 to) {\n"
                         ".reg .u32 %%value, %%thread, %%index; .reg .u64 %%out, %%offset;\n"
                         "ld.param.u64 %%out, [to];\n"
                         "mad.lo.u32 %%thread, %%tid.z, %%ntid.y, %%tid.y;\n"
                         "mad.lo.u32 %%thread, %%thread, %%ntid.x, %%tid.x;\n"
                         "mad.lo.u32 %%index, %%ctaid.z, %%nctaid.y, %%ctaid.y;\n"
                         "mad.lo.u32 %%index, %%index, %%nctaid.x, %%ctaid.x;\n"
                         "mad.lo.u32 %%index, %%index, %u, %%thread;\n"
                         "mul.wide.u32 %%offset, %%index, %d;\n"
                         "add.u64 %%out, %%out, %%offset;\n",
                         block[0] * block[1] * block[2], 4 * REGISTERS);
    for (int i = 0; i < REGISTERS; i++)
        used += (size_t)snprintf(text + used, size - used,
                                 "mov.u32 %%value, %s;\nst.global.u32 [%%out+%d], %%value;\n",
                                 names[i], 4 * i);
    snprintf(text + used, size - used, "ret;\n}\n");
}

static void special_registers_say_where_a_thread_is(void **state) {
    (void)state;
    const unsigned threads = block[0] * block[1] * block[2], blocks = grid[0] * grid[1] * grid[2];
    char text[4096];
    struct harness harness;
    uint32_t *values;
    print_kernel(text, sizeof text);
    harness_open(&harness, text);
    uint64_t to = harness_buffer(&harness, "to", (size_t)blocks * threads * REGISTERS * 4, &values);
    harness_argument(&harness, &to, sizeof to);
    harness.launch.kernel = ptx_module_kernel(harness.module, "read_all");
    harness.launch.arguments = harness.arguments;
    memcpy(harness.launch.grid, grid, sizeof grid);
    memcpy(harness.launch.block, block, sizeof block);
    if (ptx_launch(&harness.launch, &harness.counts, &harness.fault) < 0)
        fail_msg("%s", harness.fault.text);
    for (unsigned b = 0; b < blocks; b++)
        for (unsigned t = 0; t < threads; t++)
            for (int i = 0; i < REGISTERS; i++) {
                uint32_t value = values[(b * threads + t) * REGISTERS + (unsigned)i];
                if (value != expected(i, t, b))
                    fail_msg("%s is 0x%x in thread %u of block %u, not 0x%x", names[i], value, t, b,
                             expected(i, t, b));
            }
    harness_close(&harness);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_registers_say_where_a_thread_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
