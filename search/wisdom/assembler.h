/*
 * assembler: collects the instructions, texts and names of one launch program, and writes its code.
 * Private to this folder.
 *
 *     struct assembler to;
 *     struct strbuf code = {0};
 *     assembler_init(&to, template, constants, true);
 *     assembler_number(&to, 3);
 *     assembler_add(&to, WISDOM_STORE, 0, 0, 0);
 *     int status = assembler_write(&to, NULL, 0, NULL, 0, &code, error);
 *     assembler_release(&to);
 *
 * An error is kept until assembler_write returns it.
 */
#ifndef EVOTILE_WISDOM_ASSEMBLER_H
#define EVOTILE_WISDOM_ASSEMBLER_H

#include "base/strbuf.h"
#include "export/constants.h"

#define EVOTILE_WISDOM_FORMAT
#include "wisdom/evotile_wisdom.h"

struct assembler {
    const struct template *template;
    const struct constants *constants;
    int count, capacity;
    struct wisdom_instruction *instructions;
    struct strbuf text;
    int slots[SLOTS_MAX]; /* the program's slot of a slot of the template, or -1 */
    int slot_count;
    struct slots computed; /* derived quantities whose slots are set */
    struct slots *reads;   /* not NULL: what expressions read is collected, and nothing is added */
    int tensors[TENSORS_MAX];      /* the program's number of a tensor, or -1 */
    int given_count, tensor_count; /* given tensors come first, then workspaces */
    struct wisdom_program header;  /* names apart */
    const char *problem;           /* NULL: none so far */
};

void assembler_init(struct assembler *assembler, const struct template *template,
                    const struct constants *constants, bool with_workspaces);
void assembler_release(struct assembler *assembler);

/* Returns the number of the instruction. */
int assembler_add(struct assembler *assembler, enum wisdom_op op, int a, int b, int64_t c);
void assembler_number(struct assembler *assembler, int64_t number);
/* Appends a text; returns its offset. */
int assembler_text(struct assembler *assembler, const char *text);
/* Lets a jump lead behind the last instruction. */
void assembler_land(struct assembler *assembler, int jump);

/* The value of an expression on the stack; NULL has the value 1. */
void assembler_expression(struct assembler *assembler, const struct expression *expression);
/* 1: it always holds; 0: never; -1: that depends on the shape. NULL always holds. */
int assembler_truth(const struct assembler *assembler, const struct expression *when);
/* Begins what is skipped unless the condition holds; returns the jump, or -1 without one. */
int assembler_guard(struct assembler *assembler, const struct expression *when);
/* Computes the derived quantities that `reads` needs and that are not computed yet. */
void assembler_compute(struct assembler *assembler, const struct slots *reads);

/* Appends the code. `kernels`: the names of the kernels in the machine code. */
int assembler_write(struct assembler *assembler, const char *const *kernels, int kernel_count,
                    const void *cubin, size_t cubin_bytes, struct strbuf *code,
                    struct error *error);

#endif
