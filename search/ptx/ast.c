#include "ptx/ast.h"

#include "ptx/arena.h"

#include <string.h>

static const struct {
    const char *name;
    int bytes;
    bool is_signed, is_float;
} type_table[TYPE_COUNT] = {
    [TYPE_NONE] = {"", 0, false, false},         [TYPE_PRED] = {"pred", 0, false, false},
    [TYPE_B8] = {"b8", 1, false, false},         [TYPE_U8] = {"u8", 1, false, false},
    [TYPE_S8] = {"s8", 1, true, false},          [TYPE_E4M3] = {"e4m3", 1, false, false},
    [TYPE_E5M2] = {"e5m2", 1, false, false},     [TYPE_B16] = {"b16", 2, false, false},
    [TYPE_U16] = {"u16", 2, false, false},       [TYPE_S16] = {"s16", 2, true, false},
    [TYPE_F16] = {"f16", 2, false, true},        [TYPE_BF16] = {"bf16", 2, false, true},
    [TYPE_E4M3X2] = {"e4m3x2", 2, false, false}, [TYPE_E5M2X2] = {"e5m2x2", 2, false, false},
    [TYPE_B32] = {"b32", 4, false, false},       [TYPE_U32] = {"u32", 4, false, false},
    [TYPE_S32] = {"s32", 4, true, false},        [TYPE_F32] = {"f32", 4, false, true},
    [TYPE_F16X2] = {"f16x2", 4, false, true},    [TYPE_BF16X2] = {"bf16x2", 4, false, true},
    [TYPE_U16X2] = {"u16x2", 4, false, false},   [TYPE_S16X2] = {"s16x2", 4, true, false},
    [TYPE_TF32] = {"tf32", 4, false, true},      [TYPE_B64] = {"b64", 8, false, false},
    [TYPE_U64] = {"u64", 8, false, false},       [TYPE_S64] = {"s64", 8, true, false},
    [TYPE_F64] = {"f64", 8, false, true},        [TYPE_B128] = {"b128", 16, false, false},
};

int type_bytes(enum type type) {
    return type_table[type].bytes;
}

bool type_is_signed(enum type type) {
    return type_table[type].is_signed;
}

bool type_is_float(enum type type) {
    return type_table[type].is_float;
}

bool slice_is(struct slice slice, const char *text) {
    return (int)strlen(text) == slice.length && memcmp(slice.text, text, (size_t)slice.length) == 0;
}

enum type type_parse(const char *text, int length) {
    for (int type = TYPE_PRED; type < TYPE_COUNT; type++)
        if (slice_is((struct slice){text, length}, type_table[type].name))
            return (enum type)type;
    return TYPE_NONE;
}

int ast_find_name(const struct ast *ast, const char *name) {
    for (int index = 0; index < ast->name_count; index++)
        if (slice_is(ast->names[index].slice, name))
            return index;
    return -1;
}

void ast_free(struct ast *ast) {
    if (ast)
        arena_free(ast->arena);
}

const struct function *ast_find_function(const struct ast *ast, int name) {
    const struct function *function = NULL;
    for (int i = 0; i < ast->function_count; i++)
        if (ast->functions[i].name == name && !ast->functions[i].is_entry &&
            (!function || ast->functions[i].is_defined))
            function = &ast->functions[i];
    return function;
}
