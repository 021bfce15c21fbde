/* Decodes mma.m8n8k4 of f16: PTX ISA 9.7.14.5.1. */
#include "device/ptx/execute.h"
#include "device/ptx/opcodes.h"

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

int decode_quarters_product(struct decoder *decoder, enum type d) {
    struct instruction instruction = {.execute = execute_multiply_quarters,
                                      .float_mode = FLOAT_ANY};
    struct quarters_form *form = &instruction.as.quarters;
    int a_layout = take_layout(decoder), b_layout = take_layout(decoder);
    enum type a = take_type(decoder), b = take_type(decoder), c = take_type(decoder);
    form->a_along = a_layout == 0;
    form->b_along = b_layout == 1;
    form->half_result = d == TYPE_F16;
    form->half_addend = c == TYPE_F16;
    bool known = a_layout >= 0 && b_layout >= 0 && a == TYPE_F16 && b == a &&
                 (c == TYPE_F16 || (c == TYPE_F32 && d == c));
    if (!known || expect_operands(decoder, 4, 4) < 0)
        return decode_fail(decoder, "unsupported shape or types");
    return emit_product(decoder, &instruction,
                        (int[]){form->half_result ? 4 : 8, 2, 2, form->half_addend ? 4 : 8}, 4,
                        NULL);
}
