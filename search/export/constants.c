#include "export/constants.h"

const struct tensor *constants_strided_tensor(const struct template *template, int slot,
                                              int *index) {
    for (int t = 0; t < template->tensor_count; t++) {
        const struct tensor *tensor = &template->tensors[t];
        for (*index = 0; tensor->strided && *index < tensor->rank - 1; (*index)++)
            if (tensor->strides[*index] == slot)
                return tensor;
    }
    return NULL;
}

/* Derived quantities of constants are constants too, except strides, which the caller may
   override. */
static void add_known_derived(struct constants *constants, const struct template *template) {
    const struct space *space = template->space;
    for (int i = 0; i < space->derived_count; i++) {
        const struct slots *reads = expression_reads(space->derived[i].expression);
        bool all = constants_strided_tensor(template, space->derived[i].slot, &(int){0}) == NULL;
        for (int word = 0; word < SLOTS_MAX / 64; word++)
            all = all && (reads->words[word] & ~constants->known.words[word]) == 0;
        if (all)
            slots_add(&constants->known, space->derived[i].slot);
    }
}

int constants_of_variant(struct constants *constants, const struct template *template,
                         const struct genome *genome, int case_index, struct error *error) {
    const struct space *space = template->space;
    const struct genome usual = genome_default(space);
    *constants = (struct constants){0};
    if (space_values(space, genome != NULL ? genome : &usual, case_index >= 0 ? case_index : 0,
                     constants->values, error) < 0)
        return -1;
    for (int i = 0; i < space->gene_count; i++)
        slots_add(&constants->known, space->genes[i].slot);
    for (int i = 0; i < space->dimension_count; i++)
        /* The case's dimensions come before the device's attributes. */
        if (i >= template->dimension_count ||
            (template->dimensions[i].specialised && case_index >= 0))
            slots_add(&constants->known, space->dimensions[i]);
    add_known_derived(constants, template);
    return 0;
}
