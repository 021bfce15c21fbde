/*
 * feature: what a dispatcher may compare of a shape: an *input* (a dimension of the shape, a figure
 * of a device), or a product of two or three of them.
 *
 *     const char *const names[] = {"S", "B"};
 *     const int64_t maxima[] = {65536, 256};
 *     const struct tree_inputs inputs = {.count = 2, .names = names, .maxima = maxima};
 *     int count;
 *     struct tree_feature *features = features_list(&inputs, &count);   // S, B, S * B
 *     int64_t value = feature_value(&features[2], (int64_t[]){512, 4}); // 2048
 *     free(features);
 */
#ifndef EVOTILE_DISPATCH_FEATURE_H
#define EVOTILE_DISPATCH_FEATURE_H

#include <stdint.h>

enum { TREE_INPUTS_MAX = 48, TREE_FACTORS_MAX = 3 };

struct tree_inputs {
    int count;
    const char *const *names; /* C identifiers, each once */
    const int64_t *maxima;    /* of each the largest value: no product overflows. An input whose
                                 maximum is 1 or less is in no product; the others are 0 or more */
};

/* The product of these inputs. */
struct tree_feature {
    int factor_count; /* of a node of a tree: 0: it is a leaf */
    int factors[TREE_FACTORS_MAX];
};

/* The inputs, then products of two, then of three: of equally good splits the simplest comes first.
   The caller frees the list. */
struct tree_feature *features_list(const struct tree_inputs *inputs, int *count);

/* Of a feature from the list, for values of at most the maxima. */
int64_t feature_value(const struct tree_feature *feature, const int64_t *values);

#endif
