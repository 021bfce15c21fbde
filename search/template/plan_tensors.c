#include "template/plan_tensors.h"

#include "base/error.h"
#include "template/load.h"

int plan_evaluate_expression(const struct template *template, const struct expression *expression,
                             const int64_t *values, int64_t *result, struct error *error) {
    if (expression_evaluate(expression, values, result, error) == 0)
        return 0;
    return error_prefix(error, "%s: %s", template->document.file, expression_text(expression));
}

int plan_evaluate_condition(const struct template *template, const struct expression *when,
                            const int64_t *values, bool *result, struct error *error) {
    int64_t number = 1;
    if (when != NULL && plan_evaluate_expression(template, when, values, &number, error) < 0)
        return -1;
    *result = number != 0;
    return 0;
}

/* Computes the size of a strided tensor: the elements from its first to its last, including the
   gaps between them. */
static int plan_strided_size(const struct template *template, const struct tensor *tensor,
                             const int64_t *values, struct planned_tensor *planned,
                             struct error *error) {
    const int64_t *extents = planned->extents;
    int64_t elements = planned->row;
    for (int i = 0; i < tensor->rank - 1; i++) {
        int64_t stride = values[tensor->strides[i]];
        int64_t steps;
        if (stride < 0)
            return error_input(error, "%s: tensor %s: stride %d is %lld", template->document.file,
                               tensor->name, i, (long long)stride);
        planned->strides[i] = stride;
        if (__builtin_mul_overflow(extents[i] - 1, stride, &steps) ||
            __builtin_add_overflow(elements, steps, &elements) || elements > INT64_C(1) << 40)
            return error_input(error, "%s: tensor %s: its size fits no GPU",
                               template->document.file, tensor->name);
    }
    if (tensor->role == ROLE_OUTPUT && elements != planned->elements)
        return error_input(error, "%s: tensor %s: an output must be dense, in any order",
                           template->document.file, tensor->name);
    planned->elements = elements;
    return 0;
}

static int plan_tensor(const struct template *template, const struct tensor *tensor,
                       const int64_t *values, struct planned_tensor *planned, struct error *error) {
    int64_t *extents = planned->extents;
    bool condition_holds;
    *planned = (struct planned_tensor){.elements = 1, .rank = tensor->rank};
    if (plan_evaluate_condition(template, tensor->when, values, &planned->present, error) < 0)
        return -1;
    if (!planned->present)
        return 0;
    if (plan_evaluate_condition(template, tensor->dtype_when, values, &condition_holds, error) < 0)
        return -1;
    planned->dtype = condition_holds ? tensor->dtype : tensor->other_dtype;
    planned->written = planned->dtype;
    planned->precision = tensor->coarse ? tensor->precision : planned->dtype;
    for (int i = 0; i < tensor->rank; i++) {
        if (plan_evaluate_expression(template, tensor->shape[i], values, &extents[i], error) < 0)
            return -1;
        if (extents[i] < 1 ||
            __builtin_mul_overflow(planned->elements, extents[i], &planned->elements) ||
            planned->elements > INT64_C(1) << 40)
            return error_input(error,
                               "%s: tensor %s: extent %d is %lld: it must be positive, and "
                               "the tensor of a size that fits a GPU",
                               template->document.file, tensor->name, i, (long long)extents[i]);
        planned->row = extents[i];
    }
    int64_t stride = 1;
    for (int i = tensor->rank - 1; i >= 0; i--) {
        planned->strides[i] = stride;
        stride *= extents[i];
    }
    if (tensor->strided && plan_strided_size(template, tensor, values, planned, error) < 0)
        return -1;
    planned->bytes = planned->elements * dtype_bytes(planned->dtype);
    return tensor->role == ROLE_INPUT || tensor->role == ROLE_SETUP
               ? plan_fill(template, tensor->name, &tensor->fill, values, planned, &planned->fill,
                           error)
               : 0;
}

/* Fills the extents of a tensor map from the tensor's, fastest dimension first. */
static int plan_map_extents(const struct template *template, const struct tensor_map_spec *map,
                            const int64_t *values, struct tensor_map *planned,
                            struct error *error) {
    const struct tensor *tensor = &template->tensors[map->tensor];
    uint64_t packed = planned->element_bytes;
    for (int i = 0; i < tensor->rank; i++) {
        int from = tensor->rank - 1 - i;
        int64_t extent;
        int64_t box;
        if (plan_evaluate_expression(template, tensor->shape[from], values, &extent, error) < 0 ||
            plan_evaluate_expression(template, map->box[from], values, &box, error) < 0)
            return -1;
        planned->extents[i] = (uint64_t)extent;
        planned->box[i] = box < 0 || box > UINT32_MAX ? 0 : (uint32_t)box;
        packed *= (uint64_t)extent;
        if (from > 0)
            planned->strides[i] = tensor->strided ? (uint64_t)values[tensor->strides[from - 1]] *
                                                        planned->element_bytes
                                                  : packed;
    }
    return 0;
}

static int plan_map(const struct template *template, const struct tensor_map_spec *map,
                    const struct planned_tensor *tensor, const int64_t *values,
                    struct tensor_map *planned, struct error *error) {
    bool present;
    bool condition_holds;
    *planned = (struct tensor_map){0};
    if (plan_evaluate_condition(template, map->when, values, &present, error) < 0)
        return -1;
    if (!present || !tensor->present)
        return 0;
    if (plan_evaluate_condition(template, map->swizzle_when, values, &condition_holds, error) < 0)
        return -1;
    planned->rank = (uint8_t) template->tensors[map->tensor].rank;
    planned->element_bytes = (uint8_t)dtype_bytes(tensor->dtype);
    planned->swizzle = (uint8_t)(condition_holds ? map->swizzle : map->other_swizzle);
    if (plan_map_extents(template, map, values, planned, error) < 0)
        return -1;
    return tensor_map_check(planned, error) < 0
               ? error_prefix(error, "%s: tensor map %s (add a constraint)",
                              solution_file(template), map->name)
               : 0;
}

int plan_maps(const struct template *template, const int64_t *values, struct launch_plan *plan,
              struct error *error) {
    for (int m = 0; m < template->map_count; m++)
        if (plan_map(template, &template->maps[m], &plan->tensors[template->maps[m].tensor], values,
                     &plan->maps[m], error) < 0)
            return -1;
    return 0;
}

int plan_tensors(const struct template *template, const int64_t *values, int with,
                 struct launch_plan *plan, struct error *error) {
    for (int t = 0; t < template->tensor_count; t++) {
        struct planned_tensor *planned = &plan->tensors[t];
        if (plan_tensor(template, &template->tensors[t], values, planned, error) < 0)
            return -1;
        const int role = (int)template->tensors[t].role;
        planned->present =
            planned->present && (role == with || (role != ROLE_MAGNITUDE && role != ROLE_SETUP));
    }
    return plan_scalars(template, values, plan, error);
}
