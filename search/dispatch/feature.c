#include "dispatch/feature.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>

struct feature_list {
    int count;
    struct tree_feature *items;
};

static void add_feature(struct feature_list *list, struct tree_feature feature) {
    list->items = xgrow(list->items, (size_t)list->count, sizeof *list->items);
    list->items[list->count++] = feature;
}

/* Whether the product of the inputs cannot overflow. */
static bool is_bounded(const struct tree_inputs *inputs, const struct tree_feature *feature) {
    int64_t most = 1;
    for (int i = 0; i < feature->factor_count; i++)
        if (__builtin_mul_overflow(most, inputs->maxima[feature->factors[i]], &most))
            return false;
    return true;
}

/* Adds the products of `count` of the inputs from `first` on with those that the feature has. */
static void add_products(struct feature_list *list, const struct tree_inputs *inputs,
                         struct tree_feature feature, int first, int count) {
    if (count == 0) {
        if (is_bounded(inputs, &feature))
            add_feature(list, feature);
        return;
    }
    for (int i = first; i < inputs->count; i++) {
        if (inputs->maxima[i] <= 1)
            continue;
        struct tree_feature longer = feature;
        longer.factors[longer.factor_count++] = i;
        add_products(list, inputs, longer, i + 1, count - 1);
    }
}

struct tree_feature *features_list(const struct tree_inputs *inputs, int *count) {
    struct feature_list list = {0};
    for (int i = 0; i < inputs->count; i++)
        add_feature(&list, (struct tree_feature){1, {i}});
    for (int factors = 2; factors <= TREE_FACTORS_MAX; factors++)
        add_products(&list, inputs, (struct tree_feature){0}, 0, factors);
    *count = list.count;
    return list.items;
}

int64_t feature_value(const struct tree_feature *feature, const int64_t *values) {
    int64_t value = 1;
    for (int i = 0; i < feature->factor_count; i++)
        value *= values[feature->factors[i]];
    return value;
}
