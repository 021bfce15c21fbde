/*
 * matrices: where the operands of a form that is an mma or a wgmma have its matrices, as PTX says
 * it (9.7.14.5, 9.7.14.6, 9.7.15.5). Written for tests: element by element.
 *
 *     struct form_product product = form_product_of(form, inputs);
 *     uint32_t word = form_word(&product, warp, 0, row, k / 2);     // two halves of a
 *     int column = form_kept(&product, warp, row, i, 4, true);      // of what a sparse row keeps
 *
 * A warp's product has m rows, of which a warp of a wgmma has 16. In table.h a wgmma's b, and an a
 * that is called `left`, are core matrices in the order of the block's threads.
 */
#ifndef EVOTILE_TESTS_DEVICE_PTX_FORMS_MATRICES_H
#define EVOTILE_TESTS_DEVICE_PTX_FORMS_MATRICES_H

#include "ptx/forms/forms.h"

struct form_product {
    const struct form *form;
    const unsigned char *inputs;
    int m, k;     /* k: of b */
    int selector; /* of a sparse a */
    bool is_sparse, in_group, left_in_shared;
};

static inline struct form_product form_product_of(const struct form *form, const void *inputs) {
    const char *body = form->row->body ? form->row->body : "";
    struct form_product product = {.form = form,
                                   .inputs = inputs,
                                   .is_sparse = strstr(form->opcode, ".sp") != NULL,
                                   .in_group = strstr(form->opcode, "wgmma") != NULL,
                                   .left_in_shared = strstr(body, "left, to") != NULL};
    const char *shape = strstr(form->opcode, "n8k"); /* after m64, m16, m8 */
    product.m = shape[-2] == 'm' ? 8 : 16;
    product.k = atoi(shape + 3);
    if (product.is_sparse)
        product.selector = product.in_group ? strstr(body, "$e, 1") != NULL : *form->extra - '0';
    return product;
}

/* A register of a group: 0 is a, 1 b, 2 c, 3 metadata. */
static inline uint32_t form_register(const struct form_product *product, int thread, int group,
                                     int index) {
    uint32_t word;
    for (int i = 0; i < group; i++)
        index += product->form->operands[i].count;
    memcpy(&word, product->inputs + thread * form_stride(product->form) + 8 * index, sizeof word);
    return word;
}

/* 32 bits of a row of a (group 0), or of a column of b (1): the index-th along k. */
static inline uint32_t form_word(const struct form_product *product, int warp, int group, int line,
                                 int index) {
    int first = warp / 4 * FORM_THREADS, lines8 = group == 0 ? product->m / 8 : 1;
    int row = warp % 4 * 16 + line; /* of the group's 64 rows */
    if (product->in_group && group == 1)
        return form_register(product, first + index / 4 * 8 + line, group, index % 4);
    if (product->left_in_shared && group == 0)
        return form_register(product, first + row / 8 * 16 + index / 4 * 8 + row % 8, group,
                             index % 4);
    return form_register(product, 32 * warp + line % 8 * 4 + index % 4, group,
                         index / 4 * lines8 + line / 8);
}

/* The column of a row's i-th stored number. Four bits of metadata cover `width` columns; for 16-bit
   formats and tf32 a word covers two rows. */
static inline int form_kept(const struct form_product *product, int warp, int row, int i, int width,
                            bool paired) {
    int four = i / (width / 2), lanes = product->k / width / 4;
    int lane = row % 8 * 4 + product->selector * lanes;
    lane += paired ? four / 4 : four / 8 * 2 + row / 8;
    uint32_t bits = form_register(product, 32 * warp + lane, 3, 0);
    bits = bits >> (paired ? four % 4 * 4 + row / 8 * 16 : four % 8 * 4) & 15;
    if (width == 2) /* 0b0100 is the first, 0b1110 the second */
        return 2 * four + (bits == 14);
    int part = width / 4, place = (int)(bits >> i / part % 2 * 2 & 3);
    return (four * 4 + place) * part + i % part;
}

#endif
