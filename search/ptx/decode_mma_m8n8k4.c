/* Decodes mma.m8n8k4 of f16: PTX ISA 9.7.14.5.1. */
#include "ptx/execute.h"
#include "ptx/opcodes.h"

/* Takes the next of "row" and "col": 0 or 1, or -1 if there is none. */
static int take_layout(struct decoder *decoder) {
    for (int i = 1; i < decoder->part_count; i++) {
        bool is_column = slice_is(decoder->parts[i], "col");
        if (decoder->taken[i] || (!is_column && !slice_is(decoder->parts[i], "row")))
            continue;
        decoder->taken[i] = true;
        return is_column;
    }
    return -1;
}

int decode_mma_m8n8k4(struct decoder *decoder, enum type d) {
    struct instruction instruction = new_instruction(execute_mma_m8n8k4);
    struct mma_m8n8k4_form *form = &instruction.as.m8n8k4;
    int a_layout = take_layout(decoder), b_layout = take_layout(decoder);
    enum type a = take_type(decoder), b = take_type(decoder), c = take_type(decoder);
    form->a_is_k_contiguous = a_layout == 0;
    form->b_is_k_contiguous = b_layout == 1;
    form->half_result = d == TYPE_F16;
    form->half_accumulator = c == TYPE_F16;
    bool is_supported = a_layout >= 0 && b_layout >= 0 && a == TYPE_F16 && b == a &&
                        (c == TYPE_F16 || (c == TYPE_F32 && d == c));
    if (!is_supported || expect_operands(decoder, 4, 4) < 0)
        return decode_fail(decoder, "unsupported shape or types");
    return emit_mma(decoder, &instruction,
                    (int[]){form->half_result ? 4 : 8, 2, 2, form->half_accumulator ? 4 : 8}, 4,
                    NULL);
}
