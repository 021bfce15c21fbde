/* Invalid asynchronous stores and copies between blocks of a cluster, and bulk reductions of
   unsupported types: each is a fault with a specific message. Valid uses are in samples/across.cu.
   */
#include "ptx/harness.h"

/* Four blocks of one thread. %n and %f are the addresses of 256 bytes of `words` in the next and in
   the far block, %b and %c those of an initialised mbarrier there; %o and %m are the block's own.
   */
static const char head[] =
    ".version 8.4\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .u64 out)\n.reqnctapercluster 4, 1, 1\n{\n"
    ".reg .b32 %n, %f, %b, %c, %o, %m, %t, %r, %s;\n.reg .b64 %d, %g;\n"
    ".shared .align 128 .b8 words[256];\n.shared .align 8 .b64 bar;\n.shared .align 8 .b64 none;\n"
    "ld.param.u64 %d, [out];\ncvta.to.global.u64 %d, %d;\nmov.u32 %o, words;\nmov.u32 %m, bar;\n"
    "mov.u32 %t, %tid.x;\nmov.u32 %r, %cluster_ctarank;\n"
    "add.u32 %s, %r, 1;\nand.b32 %s, %s, 3;\nmapa.shared::cluster.u32 %n, %o, %s;\n"
    "mapa.shared::cluster.u32 %b, %m, %s;\nadd.u32 %s, %r, 2;\nand.b32 %s, %s, 3;\n"
    "mapa.shared::cluster.u32 %f, %o, %s;\nmapa.shared::cluster.u32 %c, %m, %s;\n"
    "cvt.u64.u32 %g, %o;\ncvta.shared.u64 %g, %g;\n"
    "mbarrier.init.shared.b64 [%m], 1;\n"
    "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
static const char tail[] = "\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nret;\n}\n";

#define STORE  "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes"
#define SEND   "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
#define REDUCE "cp.reduce.async.bulk.global.shared::cta.bulk_group"
#define FIELD  "tensormap.replace.tile."
/* A tensor map of 16 bytes in shared memory. */
#define MAP                                                                                        \
    FIELD "rank.shared::cta.b1024.b32 [%o], 0; " FIELD                                             \
          "global_address.shared::cta.b1024.b64 [%o], %d; " FIELD                                  \
          "global_dim.shared::cta.b1024.b32 [%o], 0, 8; " FIELD                                    \
          "swizzle_mode.shared::cta.b1024.b32 [%o], 0; "
#define REDUCE_TENSOR                                                                              \
    "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%g, {%r}], [%o+128];"

static const struct {
    const char *body;
    enum ptx_fault_kind kind;
    const char *expected_text;
} invalid[] = {
    {STORE ".b32 [%n], %t, [%b];", PTX_FAULT_NONE, ""},
    {STORE ".b32 [%o], %t, [%b];", PTX_FAULT_UNDEFINED, "its own block's shared memory"},
    {STORE ".b32 [%n], %t, [%m];", PTX_FAULT_UNDEFINED, "its own block's shared memory"},
    {STORE ".b32 [%n], %t, [%c];", PTX_FAULT_UNDEFINED, "with an mbarrier of another"},
    {STORE ".b32 [%n], %t, [%b+8];", PTX_FAULT_UNDEFINED, "not initialized"},
    {STORE ".b32 [%n+254], %t, [%b];", PTX_FAULT_MISALIGNED, "not a multiple of 4"},
    {STORE ".v4.b32 [%n+8], {%t, %t, %t, %t}, [%b];", PTX_FAULT_MISALIGNED, "not a multiple of 16"},
    {STORE ".b64 [%n+272], %d, [%b];", PTX_FAULT_STORE, "out of bounds (272 bytes)"},
    {SEND " [%n], [%o], 24, [%b];", PTX_FAULT_MISALIGNED, "multiple of 16"},
    {SEND " [%n], [%o+8], 16, [%b];", PTX_FAULT_MISALIGNED, "multiple of 16"},
    {SEND " [%n], [%f], 16, [%b];", PTX_FAULT_UNDEFINED, "from another block's"},
    {SEND " [%n], [%o], 16, [%c];", PTX_FAULT_UNDEFINED, "with an mbarrier of another"},
    {SEND " [%n], [%o], 288, [%b];", PTX_FAULT_STORE, "out of bounds (272 bytes)"},
    {SEND " [%n], [%o], 16, [%b]; exit;", PTX_FAULT_UNDEFINED,
     "out of shared memory 0x0 and did not wait"},
    {STORE ".b32 [%n], %t, [%b]; exit;", PTX_FAULT_STORE, "that block has exited"},
    {REDUCE ".add.u32 [%d], [%o], 20;", PTX_FAULT_MISALIGNED, "multiples of 16"},
    {REDUCE ".add.u32 [%d+64], [%o], 16;", PTX_FAULT_STORE, "past the end of 'out'"},
    {REDUCE ".add.u32 [%d], [%n], 16;", PTX_FAULT_UNDEFINED, "from another block's"},
    {MAP FIELD "elemtype.shared::cta.b1024.b32 [%o], 1; " FIELD
               "box_dim.shared::cta.b1024.b32 [%o], 0, 8; " REDUCE_TENSOR,
     PTX_FAULT_UNDEFINED, "format (2-byte elements) does not support"},
    {FIELD "fill_mode.shared::cta.b1024.b32 [%o], 1;", PTX_FAULT_UNDEFINED,
     "fill mode of a tensor map to 1"},
    {FIELD "rank.shared::cta.b1024.b32 [%o], 5;", PTX_FAULT_UNDEFINED, "rank of a tensor map to 5"},
    {FIELD "element_stride.shared::cta.b1024.b32 [%o], 0, 2;", PTX_FAULT_UNDEFINED,
     "element stride of a tensor map to 2"},
};

static void invalid_async_stores_fault(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        char text[8192];
        struct harness harness;
        snprintf(text, sizeof text, "%s%s%s", head, invalid[i].body, tail);
        harness_open(&harness, text);
        uint64_t out = harness_buffer(&harness, "out", 64, NULL);
        harness_argument(&harness, &out, 8);
        harness_try(&harness, "k", 4, 1);
        if (harness.fault.kind != invalid[i].kind ||
            !strstr(harness.fault.text, invalid[i].expected_text))
            fail_msg("%s: %d, %s", invalid[i].body, (int)harness.fault.kind, harness.fault.text);
        harness_close(&harness);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invalid_async_stores_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
