/*
 * Results recorded on an H200 that the emulator once computed differently, compared bit for bit
 * (driver 580, 2026-11-21).
 */
/* required before cmocka.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/forms/bench.h"
#include "ptx/lanes.h"

enum { RECORDED_THREADS = 16384, RECORDED_MAX = 8 };

/* Forms whose results once differed, with opcodes_test's operands: the largest errors, and the
   first result beyond the bound of that time. */
static const struct {
    const char *form;
    uint64_t seed; /* of the operands */
    struct {
        int thread, slot;
        uint32_t bits;
    } results[RECORDED_MAX];
} recorded[] = {
    {"fma.rn.ftz.f16", 1, {{1326, 0, 0xdead8400}}},
    {"cvt.rn.tf32.f32", 0, {{15, 0, 0x7fffe000}}},
    {"cvt.rna.satfinite.tf32.f32", 1, {{46, 0, 0x7fbfe000}, {140, 0, 0xff7fe000}}},
    {"fma.rn.ftz.relu.f16x2", 1, {{13702, 0, 0x11be0000}}},
    {"fma.rn.ftz.sat.f16", 3, {{7930, 0, 0xdead0000}}},
    {"mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e4m3.f16",
     0,
     {{0, 0, 0x45d74a20}, {1, 0, 0xc37cc7a1}, {2, 0, 0xc94543b7}}},
    {"mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e5m2.f32",
     0,
     {{99, 3, 0x43478d9e}, {107, 3, 0x47d7fcd3}, {109, 2, 0x4296f58d}}},
    {"mul.ftz.f16", 5, {{6917, 0, 0xdead8000}}},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32",
     0,
     {{8, 0, 0x00fbf3da}, {42, 1, 0x8661cd6c}, {44, 2, 0x03fa4831}, {2266, 0, 0x80fffffe}}},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 0, {{12600, 1, 0x3c50babe}}},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
     0,
     {{581, 0, 0xff800000},
      {581, 2, 0xff800000},
      {587, 1, 0xff800000},
      {597, 2, 0x7f800000},
      {603, 1, 0xff800000},
      {1289, 1, 0x7f800000},
      {7272, 3, 0xbfdf8d28},
      {13796, 0, 0x3e2e3387}}},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
     0,
     {{352, 2, 0x3fd0fe5b}, {1982, 2, 0x3d158370}, {9443, 3, 0x3d21b470}, {13222, 2, 0xbc4f5540}}},
    {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
     0,
     {{1, 1, 0x3f1b2abb},
      {7721, 2, 0x7f800000},
      {7722, 1, 0xff800000},
      {7729, 0, 0x7f800000},
      {7730, 3, 0x7f800000},
      {7733, 2, 0x7f800000},
      {7741, 0, 0xff800000}}},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16",
     0,
     {{2303, 1, 0x45a7c478}, {11169, 1, 0x00003ec6}}},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 1, {{6574, 1, 0x4ce00000}}},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 2, {{3122, 0, 0xc4c00000}}},
    {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
     0,
     {{122, 2, 0x3e888ebb},
      {6113, 0, 0x7c01faf0},
      {6114, 0, 0xff275e12},
      {6821, 2, 0xff800000},
      {8042, 0, 0x7f800000},
      {8054, 2, 0x7f800000},
      {8058, 0, 0x7f800000}}},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
     0,
     {{480, 0, 0x3f5038ec},
      {10928, 2, 0xbc07ece0},
      {12546, 2, 0xbd36b450},
      {15364, 2, 0x3b62e588},
      {15365, 3, 0x3ab36638},
      {15367, 3, 0x3c5056b0}}},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
     0,
     {{763, 2, 0x7e4de640},
      {5257, 3, 0xbfff11e7},
      {5433, 1, 0x7f800000},
      {5435, 0, 0x7f800000},
      {6852, 1, 0xff800000},
      {6854, 0, 0xff800000},
      {12264, 0, 0xff800000}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 -1,1,0", 0, {{7964, 1, 0xc741c9ad}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 1,-1,0,0", 0, {{10546, 0, 0xfa316cc1}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 1,1,0", 0, {{1806, 0, 0x416bc5f3}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 1,1,0,0", 0, {{2112, 0, 0x38c848ed}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 1,1,0,1", 0, {{15029, 1, 0x1ceb24e7}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 1,1,0,1", 2, {{883, 1, 0x0000078d}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 1,1,1,0", 0, {{1814, 0, 0x3a0ac867}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 -1,1,0",
     0,
     {{2040, 3, 0x3c6724e0},
      {2183, 1, 0xbe3eb144},
      {3366, 2, 0x3ff57685},
      {5201, 0, 0xbdae3b80},
      {5873, 3, 0x3e9020b0},
      {5922, 2, 0xc18124a6}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 1,-1,0,0",
     0,
     {{1281, 1, 0x3e5aef24},
      {1295, 0, 0xbe500864},
      {3534, 2, 0xc4d0bee2},
      {3624, 1, 0x3eac0846},
      {3638, 0, 0xbf79cc85},
      {3640, 1, 0x3e7a24ab},
      {11470, 0, 0x3dcf73ac}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 1,1,0", 0, {{2795, 3, 0x3fa560dc}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 1,1,0,0", 0, {{106, 3, 0xbe5b413c}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 1,1,0,1", 0, {{310, 3, 0xc7800555}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 1,1,1,0", 0, {{1476, 3, 0xbfcde3c5}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 -1,1,0",
     0,
     {{473, 1, 0xbc990630},
      {490, 0, 0xbe88bbf1},
      {827, 3, 0x3ca52d00},
      {2727, 0, 0xc03fb873},
      {2771, 3, 0x3c475e00},
      {5635, 1, 0xbd2854c0},
      {12809, 3, 0x3b8c8ac0}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1,-1,0,0",
     0,
     {{333, 3, 0xbfd3c360},
      {834, 1, 0xbe7a0726},
      {1143, 3, 0xbe23f248},
      {1441, 3, 0x437de710},
      {1804, 2, 0xbf6cba22},
      {4178, 2, 0xbf31947c},
      {15027, 0, 0x3d6281e8}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1,1,0", 0, {{5750, 2, 0x3f75f35a}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1,1,0,0", 0, {{4113, 3, 0x457b361a}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1,1,0,1", 0, {{1661, 1, 0x3f70c8d5}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1,1,1,0", 0, {{2230, 3, 0x4224102d}}},
};

/* wgmma of fp8: the 32 bytes of each factor of an element, the accumulator, and the sum; cases in
   which truncation at 12, 14 or 25 bits would give a different sum. */
static const struct {
    enum matrix_format left, right;
    bool half_accumulators;
    const char *left_bytes, *right_bytes;
    uint32_t before, after; /* f32 or f16 */
} recorded_sums[] = {
    {MATRIX_E4M3, MATRIX_E4M3, false,
     "44293dc2b52ac1b2b647a82aadabb4c0c4c2b1b828b63d36bb30adad2cbeafc7",
     "2ab9a8adacafb03bbb36c73143aabbb639a933a9b8b942b2aabfc0323fb3b73d", 0xc2016d72, 0xc1cc7800},
    {MATRIX_E4M3, MATRIX_E4M3, false,
     "b934b041a9b2c7372e2d29bc38ab322a3cb43342b0412f3fc737acbe3744b3bd",
     "2bb5c5b8abbb4135442b29aec6ad3c2db8acbb303c3537473231b4413db5af34", 0x4392c080, 0x438ea400},
    {MATRIX_E5M2, MATRIX_E5M2, false,
     "00000000000000000000000000000000000000000000000000000000a500008f",
     "93b8d7649d24af31f66612cbe1b00159c404904a0d107852aab8e69c2ab69336", 0xbafedc98, 0xbb45ec00},
    {MATRIX_E5M2, MATRIX_E5M2, false,
     "000000000000d300000000000024000000000000000000000000000000000000",
     "7b5f376c15ccf4e841d3a54302e318aaeb85b9a971e84cdf835063ad33b28883", 0x45cb537f, 0x49619400},
    {MATRIX_E4M3, MATRIX_E5M2, false,
     "38c7b1c1bdbd32b9bf42afb3b8bb42ae2fc1b42e363eb0b330b2b0bd2bbabfa8",
     "c2c0b643c0be39b6bdb7bbc13d3738423d3dbf3bc2bd38b742bb37b842c1353a", 0x454e97e7, 0x454ee400},
    {MATRIX_E4M3, MATRIX_E5M2, false,
     "37423338a9442aaf2ca8ad29acbdbbbeba2ea928ad4146ba3eb635b3b92cb3c5",
     "34c03a3b39c2c140423c3fb4bc3f36b4343a3fbf38b9c3c238be3fbb42ba3434", 0x454112fe, 0x453f5800},
    {MATRIX_E5M2, MATRIX_E4M3, false,
     "0000b00000000000000000000000000000870000000000000000000000000000",
     "17dc0a0ae4321614b482782aa118b4823864682ed4f933daefb3e319896fe4f1", 0xc1efafb8, 0xc1efb800},
    {MATRIX_E5M2, MATRIX_E4M3, false,
     "00000000000000e8000000000000000000000000500000000000000000000000",
     "c70ade654f4f6d6352284c3f0463f721c2266e6c41bde8824a3de31b051547eb", 0x462dbebf, 0xc79a2800},
    {MATRIX_E4M3, MATRIX_E4M3, true,
     "2c3f42303e2e30b831baa83d45b62ca83231c5353fc02db9bbc3acb9ba2da844",
     "bc4138352fc23a2dc533a83eb42a2f2ead4429afaa37c53246343ca92b34bd2f", 0x00005e6f, 0x00005e59},
    {MATRIX_E4M3, MATRIX_E4M3, true,
     "313047322d2dc24732a9413d3cc64043c5c536c5b431aeb74140a9bf2c292bc2",
     "302b2fb33abfc544382f46462b2ac5c5c14535bcbbb0b5bbb031323a34b1abb9", 0x0000d50f, 0x0000d31e},
    {MATRIX_E5M2, MATRIX_E5M2, true,
     "0000000000000000000000ec0000000053000000000000000000000000000000",
     "10962ecde6c28665c35e9cc2e3c832e2db0d20eedf99e6b418b729b5a560583e", 0x0000c313, 0x0000dc0c},
    {MATRIX_E5M2, MATRIX_E5M2, true,
     "0000dc0000000000000000000000000000220000000000000000000000000000",
     "2c131397af5460bcea100378b1f452101d18901577d2634d13180522e96951e9", 0x0000326d, 0x0000a497},
    {MATRIX_E4M3, MATRIX_E5M2, true,
     "3547c1b32a3f433bb8c7b23436323bc3c7b7c132c3aeadc6b740472a303532ac",
     "c03b43bbc34142bbc1bbbc39c1b8ba393bc235343abf403440c33d42bb3b3bb7", 0x00002caf, 0x0000374a},
    {MATRIX_E4M3, MATRIX_E5M2, true,
     "bcbfb42eb431a8c5c13fbc28b1352c32422b35c33741b33c4630b63d32433839",
     "c2bd3cc035b54139bcc2363737b6b6373936c3bac3bf3743c3ba41c03e3fbbb4", 0x00005f78, 0x00005f35},
    {MATRIX_E5M2, MATRIX_E4M3, true,
     "0000000000000000000000000000000000007900000000000037000000000000",
     "808dad0ec40087b7be8f77831ff670fc805a818649bc23dd9ae1b6f48941c947", 0x00004a8d, 0x0000d52b},
    {MATRIX_E5M2, MATRIX_E4M3, true,
     "0000000000000000000000000000000000250000000000000000f60000000000",
     "a59975d403151035df5a4da05db2282ebc499b69fcf665f0f3e781e8835cbd77", 0x0000419b, 0x0000525b},
};

/* Into the first column. */
static void read_bytes(const char *hex, const struct lanes *lanes, enum matrix_format format,
                       float *out, int stride) {
    for (int k = 0; k < MMA_DEPTH_MAX; k++) {
        const char digits[] = {hex[2 * k], hex[2 * k + 1], 0};
        uint8_t byte = (uint8_t)strtoul(digits, NULL, 16);
        lanes->widen(&out[k * stride], &byte, 1, format);
    }
}

static void fp8_sums_match_gpu(void **state) {
    (void)state;
    static float left[16][MMA_DEPTH_MAX], right[MMA_DEPTH_MAX][MMA_COLUMNS_MAX];
    static float sums[16][MMA_COLUMNS_MAX];
    const struct lanes variants[] = {lanes_select(), lanes_portable()};
    for (size_t i = 0; i < 2 * sizeof recorded_sums / sizeof *recorded_sums; i++) {
        const struct lanes *lanes = &variants[i % 2];
        const struct matrix_shape shape = {.k = MMA_DEPTH_MAX,
                                           .left = recorded_sums[i / 2].left,
                                           .right = recorded_sums[i / 2].right,
                                           .half_accumulators =
                                               recorded_sums[i / 2].half_accumulators};
        uint32_t before = recorded_sums[i / 2].before, after = recorded_sums[i / 2].after;
        read_bytes(recorded_sums[i / 2].left_bytes, lanes, shape.left, left[0], 1);
        read_bytes(recorded_sums[i / 2].right_bytes, lanes, shape.right, right[0], MMA_COLUMNS_MAX);
        sums[0][0] = shape.half_accumulators ? half_to_float((uint16_t)before) : bits_float(before);
        lanes->rows(&shape, 8, sums, (const float(*)[MMA_DEPTH_MAX])left,
                    (const float(*)[MMA_COLUMNS_MAX])right);
        uint32_t is = shape.half_accumulators ? round_accumulator_to_half(sums[0][0])
                                              : float_bits(sums[0][0]);
        if (is != after)
            fail_msg("sum %d: 0x%x; a GPU gave 0x%x", (int)i / 2, is, after);
    }
}

static void results_match_gpu(void **state) {
    (void)state;
    struct form_list list;
    struct form_bench bench;
    struct error error = {0};
    int count = 0, bad = 0;
    form_list_make(&list);
    if (form_bench_open(&bench, "emulated:sm_90", RECORDED_THREADS, &error) < 0)
        fail_msg("%s", error.text);
    unsigned char *inputs = malloc(form_input_bytes(RECORDED_THREADS));
    uint64_t *results = malloc(form_input_bytes(RECORDED_THREADS));
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
        const struct form *form = form_of_list(&list, recorded[i].form);
        struct form_result result = {0};
        forms_fill(form, inputs, RECORDED_THREADS, form_seed(form, recorded[i].seed));
        if (!form_bench_alone(&bench, &list, (int)(form - list.forms), inputs, results, &result))
            fail_msg("%s", result.failure);
        for (int j = 0; j < RECORDED_MAX && recorded[i].results[j].bits; j++, count++) {
            int thread = recorded[i].results[j].thread, slot = recorded[i].results[j].slot;
            uint32_t is = (uint32_t)results[thread * form->result_slots + slot];
            if (is == recorded[i].results[j].bits)
                continue;
            bad++;
            print_error("%s, thread %d, result %d: 0x%x; a GPU gave 0x%x\n", recorded[i].form,
                        thread, slot, is, recorded[i].results[j].bits);
        }
    }
    form_bench_unload(&bench);
    device_close(bench.device);
    free(inputs);
    free(results);
    form_list_free(&list);
    assert_int_equal(count, 103);
    assert_int_equal(bad, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_match_gpu),
        cmocka_unit_test(fp8_sums_match_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
