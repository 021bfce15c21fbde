/* How well trees choose among an exported dispatcher's genomes at shapes that they were not fitted
   to, by cross-validation on the times in its manifest: of the times themselves, and of smoothed
   ones (dispatch/smooth.h).

   usage: dispatch_fit_bench KERNEL_DIR [folds] [repeats]

   The run's cases are always fitted to. Further shapes are made of the dimensions of fitted ones.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path.h"
#include "base/random.h"
#include "base/statistics.h"
#include "dispatch/smooth.h"
#include "dispatch/tree.h"

#include <cjson/cJSON.h>

enum { FURTHER = 500, DEPTH = 8, MANIFEST_BYTES_MAX = 64 << 20 };

struct data {
    int shape_count, input_count, kernel_count, case_count;
    const char *names[TREE_INPUTS_MAX];
    int64_t maxima[TREE_INPUTS_MAX];
    int64_t *values; /* [shape][input] */
    double *us;      /* [shape][kernel] */
};

static cJSON *read_manifest(const char *folder) {
    char path[PATH_SIZE];
    struct error error = {0};
    char *text = path_join(path, folder, "manifest.json", &error) == 0
                     ? path_read_file(path, MANIFEST_BYTES_MAX, NULL, &error)
                     : NULL;
    cJSON *root = text != NULL ? cJSON_Parse(text) : NULL;
    free(text);
    return root;
}

/* Units of one genome are one kernel. */
static int kernel_of(const cJSON *units, int unit, int *kernels) {
    const char *genome =
        cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetArrayItem(units, unit), "genome"));
    for (int u = 0; u < unit; u++)
        if (strcmp(genome, cJSON_GetStringValue(
                               cJSON_GetObjectItem(cJSON_GetArrayItem(units, u), "genome"))) == 0)
            return kernels[u];
    int most = -1;
    for (int u = 0; u < unit; u++)
        most = kernels[u] > most ? kernels[u] : most;
    return most + 1;
}

static void read_shape(struct data *data, const cJSON *row, int s, int unit_count,
                       const int *kernels) {
    const cJSON *shape = cJSON_GetObjectItem(row, "shape"), *us = cJSON_GetObjectItem(row, "us");
    for (int i = 0; i < data->input_count; i++)
        data->values[s * data->input_count + i] =
            (int64_t)cJSON_GetNumberValue(cJSON_GetObjectItem(shape, data->names[i]));
    for (int k = 0; k < data->kernel_count; k++)
        data->us[s * data->kernel_count + k] = NAN;
    for (int u = 0; u < unit_count; u++) {
        const cJSON *time = cJSON_GetArrayItem(us, u);
        if (cJSON_IsNumber(time))
            data->us[s * data->kernel_count + kernels[u]] = time->valuedouble;
    }
}

/* An input of two values is a flag or a list, and in no product, as in an export. */
static void find_maxima(struct data *data) {
    for (int i = 0; i < data->input_count; i++) {
        int64_t first = data->values[i], second = first;
        for (int s = 0; s < data->shape_count; s++) {
            const int64_t value = data->values[s * data->input_count + i];
            second = value != first && second == first ? value : second;
            if (value != first && value != second)
                data->maxima[i] = 1 << 20;
        }
    }
}

static int read_data(const char *folder, struct data *data, cJSON **root) {
    *root = read_manifest(folder);
    const cJSON *dispatch = cJSON_GetObjectItem(*root, "dispatch");
    const cJSON *units = cJSON_GetObjectItem(*root, "units");
    const cJSON *rows = cJSON_GetObjectItem(dispatch, "shapes"), *row;
    const cJSON *inputs = cJSON_GetObjectItem(cJSON_GetObjectItem(dispatch, "choice"), "inputs");
    int kernels[DISPATCH_KERNELS_MAX], s = 0;
    const int unit_count = cJSON_GetArraySize(units);
    if (rows == NULL || unit_count > DISPATCH_KERNELS_MAX)
        return -1;
    for (int u = 0; u < unit_count; u++) {
        kernels[u] = kernel_of(units, u, kernels);
        data->kernel_count = kernels[u] >= data->kernel_count ? kernels[u] + 1 : data->kernel_count;
    }
    data->input_count = cJSON_GetArraySize(inputs);
    data->shape_count = cJSON_GetArraySize(rows);
    data->case_count = cJSON_GetArraySize(cJSON_GetObjectItem(*root, "cases"));
    for (int i = 0; i < data->input_count; i++) {
        data->names[i] = cJSON_GetStringValue(cJSON_GetArrayItem(inputs, i));
        data->maxima[i] = 1;
    }
    data->values =
        xcalloc((size_t)data->shape_count * (size_t)data->input_count, sizeof *data->values);
    data->us = xcalloc((size_t)data->shape_count * (size_t)data->kernel_count, sizeof *data->us);
    cJSON_ArrayForEach(row, rows) read_shape(data, row, s++, unit_count, kernels);
    find_maxima(data);
    return 0;
}

/* Of the dimensions of two fitted shapes; those whose names begin alike, as H and H_KV, are of one.
 */
static int64_t *make_further(const struct data *data, const int *fitted, int fitted_count,
                             struct random *random) {
    int64_t *further = xcalloc((size_t)FURTHER * (size_t)data->input_count, sizeof *further);
    for (int f = 0; f < FURTHER; f++) {
        const int one = fitted[random_below(random, (uint64_t)fitted_count)];
        const int other = fitted[random_below(random, (uint64_t)fitted_count)];
        for (int i = 0; i < data->input_count; i++) {
            const bool swaps = random_below(random, 2) == 0;
            int from = swaps && data->maxima[i] > 1 ? other : one;
            for (int before = 0; before < i; before++)
                if (data->names[before][0] == data->names[i][0])
                    from = further[f * data->input_count + before] ==
                                   data->values[other * data->input_count + before]
                               ? other
                               : one;
            further[f * data->input_count + i] = data->values[from * data->input_count + i];
        }
    }
    return further;
}

struct trees {
    struct tree plain, smooth;
};

static void fit(const struct data *data, const int *fitted, int count, struct random *random,
                struct trees *trees) {
    const size_t inputs = (size_t)data->input_count, kernels = (size_t)data->kernel_count;
    const struct tree_inputs of = {data->input_count, data->names, data->maxima};
    int64_t *values = xcalloc((size_t)count * inputs, sizeof *values), *row_values;
    double *us = xcalloc((size_t)count * kernels, sizeof *us);
    bool *searched = xcalloc((size_t)count, sizeof *searched);
    for (int i = 0; i < count; i++) {
        memcpy(values + (size_t)i * inputs, data->values + (size_t)fitted[i] * inputs,
               inputs * sizeof *values);
        memcpy(us + (size_t)i * kernels, data->us + (size_t)fitted[i] * kernels,
               kernels * sizeof *us);
        searched[i] = fitted[i] < data->case_count;
    }
    const struct kernel_times times = {data->kernel_count, count, us};
    tree_fit(&trees->plain, &of, values, &times,
             &(struct tree_limits){.depth = DEPTH, .leaf_cases = 2, .within = 0.03});
    int64_t *further = make_further(data, fitted, count, random);
    const struct smoothing smoothing = {
        &of, values, times, searched, FURTHER, further, random_next(random)};
    const struct kernel_times rows = smooth_times(&smoothing, &row_values);
    tree_fit(&trees->smooth, &of, row_values, &rows,
             &(struct tree_limits){.depth = DEPTH, .leaf_cases = SMOOTH_LEAF_ROWS, .within = 0.03});
    free(further);
    free((double *)rows.us);
    free(row_values);
    free(values);
    free(us);
    free(searched);
}

static double ratio_at(const struct data *data, const struct tree *tree, int s) {
    const struct kernel_times times = {data->kernel_count, data->shape_count, data->us};
    return kernel_times_ratio(&times, s,
                              tree_choose(tree, data->values + s * data->input_count, &times, s));
}

static void print_ratios(const char *name, double *ratios, int count) {
    double sum = 0, most = 1;
    for (int i = 0; i < count; i++) {
        sum += log(ratios[i]);
        most = fmax(most, ratios[i]);
    }
    printf("%-28s %6.2f %8.2f %8.2f %8.2f\n", name, 100 * (exp(sum / count) - 1),
           100 * (statistics_percentile(ratios, count, 90) - 1),
           100 * (statistics_percentile(ratios, count, 95) - 1), 100 * (most - 1));
}

int main(int argc, char **argv) {
    struct data data = {0};
    cJSON *root = NULL;
    if (argc < 2 || read_data(argv[1], &data, &root) < 0) {
        fprintf(stderr, "usage: dispatch_fit_bench KERNEL_DIR [folds] [repeats], a folder of "
                        "`evotile export --within`\n");
        return 2;
    }
    const int folds = argc > 2 ? atoi(argv[2]) : 6, repeats = argc > 3 ? atoi(argv[3]) : 4;
    const int others = data.shape_count - data.case_count;
    double *ratios[4];
    int counts[4] = {0};
    int *order = xcalloc((size_t)data.shape_count, sizeof *order);
    int *fitted = xcalloc((size_t)data.shape_count, sizeof *fitted);
    struct random random;
    for (int i = 0; i < 4; i++)
        ratios[i] = xcalloc((size_t)repeats * (size_t)(folds * data.case_count + others),
                            sizeof *ratios[i]);
    random_seed(&random, 1, 0);
    for (int r = 0; r < repeats; r++) {
        for (int i = 0; i < others; i++) {
            const int at = (int)random_below(&random, (uint64_t)i + 1);
            order[i] = order[at];
            order[at] = data.case_count + i;
        }
        for (int fold = 0; fold < folds; fold++) {
            struct trees trees;
            int count = 0;
            for (int c = 0; c < data.case_count; c++)
                fitted[count++] = c;
            for (int i = 0; i < others; i++)
                if (i % folds != fold)
                    fitted[count++] = order[i];
            fit(&data, fitted, count, &random, &trees);
            for (int i = fold; i < others; i += folds) {
                ratios[0][counts[0]++] = ratio_at(&data, &trees.plain, order[i]);
                ratios[1][counts[1]++] = ratio_at(&data, &trees.smooth, order[i]);
            }
            for (int c = 0; c < data.case_count; c++) {
                ratios[2][counts[2]++] = ratio_at(&data, &trees.plain, c);
                ratios[3][counts[3]++] = ratio_at(&data, &trees.smooth, c);
            }
            tree_release(&trees.plain);
            tree_release(&trees.smooth);
        }
    }
    printf("%d shapes, %d of them cases; genomes: %d; folds: %d; repeats: %d\n", data.shape_count,
           data.case_count, data.kernel_count, folds, repeats);
    printf("%-28s %6s %8s %8s %8s\n", "regret in %", "mean", "p90", "p95", "worst");
    static const char *const of[] = {"others, the times themselves", "others, smoothed",
                                     "cases, the times themselves", "cases, smoothed"};
    for (int i = 0; i < 4; i++) {
        print_ratios(of[i], ratios[i], counts[i]);
        free(ratios[i]);
    }
    free(order);
    free(fitted);
    free(data.values);
    free(data.us);
    cJSON_Delete(root);
    return 0;
}
