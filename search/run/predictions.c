#include "run/predictions.h"

#include "base/json_stream.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/statistics.h"
#include "run/run_artifacts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char artifact_name[] = "predictions";

/* ---- stored with a run ---- */

static bool read_pair(const cJSON *pair, struct prediction *prediction) {
    const cJSON *trial = cJSON_GetArrayItem(pair, 0), *us = cJSON_GetArrayItem(pair, 1);
    if (!cJSON_IsArray(pair) || cJSON_GetArraySize(pair) != 2 || !cJSON_IsNumber(trial) ||
        !cJSON_IsNumber(us) || !(fabs(trial->valuedouble) < 9e15) || !(us->valuedouble > 0) ||
        !isfinite(us->valuedouble))
        return false;
    *prediction = (struct prediction){(int64_t)trial->valuedouble, us->valuedouble};
    return true;
}

/* Walks the list itself: json_at would count from its start for each of many trials. */
static int read_list(const struct json *list, struct predictions *predictions,
                     struct error *error) {
    const cJSON *pair;
    predictions->items = xcalloc((size_t)json_count(list) + 1, sizeof *predictions->items);
    cJSON_ArrayForEach(pair, list->value) {
        if (!read_pair(pair, &predictions->items[predictions->count]))
            return json_error(list, error,
                              "element %d is not a trial with its microseconds: fit again",
                              predictions->count);
        predictions->count++;
    }
    return 1;
}

int predictions_read(struct store *store, struct predictions *predictions, struct error *error) {
    struct json_document document;
    struct json list;
    *predictions = (struct predictions){0};
    int found = run_artifact_read(store, artifact_name, &document, error);
    if (found <= 0)
        return found;
    struct json root = json_root(&document);
    found = json_is_object(&root, error) < 0 || json_require(&root, "trials", &list, error) < 0 ||
                    json_is_array(&list, error) < 0
                ? -1
                : read_list(&list, predictions, error);
    json_release(&document);
    if (found < 0)
        predictions_release(predictions);
    return found;
}

void predictions_release(struct predictions *predictions) {
    free(predictions->items);
    *predictions = (struct predictions){0};
}

int predictions_write(const char *run_dir, const struct predictions *predictions,
                      struct error *error) {
    cJSON *object = cJSON_CreateObject();
    cJSON *list = cJSON_AddArrayToObject(object, "trials");
    for (int i = 0; i < predictions->count; i++) {
        const struct prediction *figures = &predictions->items[i];
        const double pair[2] = {(double)figures->trial, figures->predicted_us};
        cJSON_AddItemToArray(list, cJSON_CreateDoubleArray(pair, 2));
    }
    return run_artifact_write_to(run_dir, artifact_name, object, error);
}

/* ---- predictions of the rows of a recorded space ---- */

static const char rows_key[] = "predicted_us";

static int read_row(struct json_stream *stream, double *predicted_us) {
    enum json_scalar kind;
    if (json_stream_scalar(stream, &kind) < 0)
        return -1;
    const char *token = json_stream_token(stream);
    *predicted_us = kind == JSON_NUMBER ? strtod(token, NULL) : NAN;
    return (kind == JSON_LITERAL && strcmp(token, "null") == 0) ||
                   (*predicted_us > 0 && isfinite(*predicted_us))
               ? 0
               : json_stream_error(stream, "%s: must be microseconds, or null", token);
}

static int read_rows(struct json_stream *stream, double *predicted_us, int64_t row_count) {
    bool first = true;
    int64_t row = 0;
    int more;
    if (json_stream_enter(stream, '[') < 0)
        return -1;
    for (; (more = json_stream_element(stream, &first)) == JSON_MORE; row++)
        if (row == row_count || read_row(stream, &predicted_us[row]) < 0)
            break;
    if (more == JSON_CLOSED && row == row_count)
        return 0;
    return json_stream_error(stream, "the space has %" PRId64 " rows, this is for another space",
                             row_count);
}

int predictions_read_rows(const char *path, double *predicted_us, int64_t row_count,
                          struct error *error) {
    struct json_stream *stream = json_stream_open(path, error);
    bool first = true, found = false;
    int more = JSON_FAILED, status = -1;
    if (stream == NULL)
        return -1;
    if (json_stream_enter(stream, '{') == 0)
        while ((more = json_stream_member(stream, &first)) == JSON_MORE) {
            bool rows = strcmp(json_stream_token(stream), rows_key) == 0;
            found = found || rows;
            if ((rows ? read_rows(stream, predicted_us, row_count) : json_stream_skip(stream)) < 0)
                break;
        }
    if (more == JSON_CLOSED)
        status = found ? 0 : json_stream_error(stream, "it has no %s: see model predict", rows_key);
    else if (more == JSON_TRUNCATED)
        json_stream_error(stream, "it ends too early");
    json_stream_close(stream);
    return status;
}

int predictions_write_rows(const char *path, const double *predicted_us, int64_t row_count,
                           struct error *error) {
    char *text = NULL;
    size_t size;
    FILE *out = xopen_memstream(&text, &size);
    fprintf(out, "{\"%s\": [", rows_key);
    for (int64_t row = 0; row < row_count; row++) {
        fprintf(out, row > 0 ? ",%s" : "%s", row % 16 == 0 ? "\n" : "");
        if (isnan(predicted_us[row]))
            fprintf(out, "null");
        else
            fprintf(out, "%.5g", predicted_us[row]);
    }
    fprintf(out, "]}\n");
    fclose(out);
    int status = path_write_file(path, text, size, error);
    free(text);
    return status;
}

/* ---- agreement with measurement ---- */

static int by_prediction(const void *left, const void *right) {
    const struct prediction_pair *a = left, *b = right;
    return a->predicted_us < b->predicted_us ? -1 : a->predicted_us > b->predicted_us;
}

/* Fisher's transformation, with the standard error of Bonett and Wright ("Sample size requirements
   for estimating Pearson, Kendall and Spearman correlations", 2000). An estimate of 1 has no width
   by it. */
static void find_rank_interval(struct agreement *figures) {
    static const double normal_quantile = 2.5758; /* 99 % */
    const double rank = figures->rank_correlation;
    figures->rank_low = figures->rank_high = NAN;
    if (figures->count < 4 || isnan(rank))
        return;
    double width = normal_quantile * sqrt((1 + rank * rank / 2) / (figures->count - 3));
    figures->rank_low = fabs(rank) < 1 ? tanh(atanh(rank) - width) : rank;
    figures->rank_high = fabs(rank) < 1 ? tanh(atanh(rank) + width) : rank;
}

struct agreement agreement_compute(struct prediction_pair *pairs, int count) {
    struct agreement figures = {.count = count, .fastest_us = INFINITY};
    double *measured = xcalloc((size_t)count, sizeof *measured);
    double *predicted = xcalloc((size_t)count, sizeof *predicted);
    double log_error_square = 0, chosen_us = INFINITY;
    int hundredth = (count + 99) / 100;
    qsort(pairs, (size_t)count, sizeof *pairs, by_prediction);
    for (int i = 0; i < count; i++) {
        measured[i] = pairs[i].measured_us;
        predicted[i] = pairs[i].predicted_us;
        log_error_square += pow(log(predicted[i] / measured[i]), 2) / count;
        figures.fastest_us = fmin(figures.fastest_us, measured[i]);
        figures.slowest_us = fmax(figures.slowest_us, measured[i]);
        if (i < hundredth)
            chosen_us = fmin(chosen_us, measured[i]);
    }
    figures.rank_correlation =
        count > 1 ? statistics_rank_correlation(measured, predicted, count) : NAN;
    find_rank_interval(&figures);
    figures.off_percent = 100 * (exp(sqrt(log_error_square)) - 1);
    figures.best_hundredth = chosen_us / figures.fastest_us;
    free(measured);
    free(predicted);
    return figures;
}

const struct table_column agreement_columns[AGREEMENT_COLUMNS] = {
    {.name = "run", .heading = "run"},
    {.name = "goal", .heading = "goal"},
    {.name = "trials", .heading = "trials", .right = true},
    {.name = "fastest_us", .heading = "measured\nus from", .right = true},
    {.name = "slowest_us", .heading = "to", .right = true},
    {.name = "rank_correlation", .heading = "rank\ncorrelation", .right = true},
    {.name = "rank_low", .heading = "99 %\nlow", .right = true},
    {.name = "rank_high", .heading = "high", .right = true},
    {.name = "off_percent", .heading = "off by\n%", .right = true},
    {.name = "best_hundredth",
     .heading = "fastest of the 1 %\npredicted best, to all",
     .right = true},
};

void agreement_add_cells(struct table *table, const struct agreement *agreement) {
    table_add(table, "%d %.2f %.2f %.3f %.3f %.3f %.0f %.3f", agreement->count,
              agreement->fastest_us, agreement->slowest_us, agreement->rank_correlation,
              agreement->rank_low, agreement->rank_high, agreement->off_percent,
              agreement->best_hundredth);
}
