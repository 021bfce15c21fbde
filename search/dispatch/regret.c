#include "dispatch/regret.h"

#include "base/json_fields.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/statistics.h"

#include <float.h>
#include <math.h>

enum { RESAMPLES = 1000 };

/* Fills the intervals. */
static void resample(struct regret *regret, const double *ratios, uint64_t seed) {
    double *medians = xmalloc(RESAMPLES * sizeof *medians),
           *p95s = xmalloc(RESAMPLES * sizeof *p95s);
    double *drawn = xmalloc((size_t)regret->count * sizeof *drawn);
    struct random random;
    random_seed(&random, seed, 0x726567726574); /* "regret" */
    for (int r = 0; r < RESAMPLES; r++) {
        for (int i = 0; i < regret->count; i++)
            drawn[i] = ratios[random_below(&random, (uint64_t)regret->count)];
        medians[r] = statistics_median(drawn, regret->count);
        p95s[r] = statistics_percentile(drawn, regret->count, 95);
    }
    regret->median_low = statistics_percentile(medians, RESAMPLES, 2.5);
    regret->median_high = statistics_percentile(medians, RESAMPLES, 97.5);
    regret->p95_low = statistics_percentile(p95s, RESAMPLES, 2.5);
    regret->p95_high = statistics_percentile(p95s, RESAMPLES, 97.5);
    free(medians);
    free(p95s);
    free(drawn);
}

void regret_compute(struct regret *regret, const double *ratios, int count, int unserved,
                    uint64_t seed) {
    *regret = (struct regret){.count = count, .unserved = unserved};
    if (count == 0)
        return;
    for (int i = 1; i < count; i++)
        if (ratios[i] > ratios[regret->worst_case])
            regret->worst_case = i;
    regret->worst = ratios[regret->worst_case];
    regret->median = statistics_median(ratios, count);
    regret->p95 = statistics_percentile(ratios, count, 95);
    regret->worse_share = 1 - pow(0.05, 1.0 / count);
    resample(regret, ratios, seed);
}

cJSON *regret_json(const struct regret *regret) {
    cJSON *object = cJSON_CreateObject();
    json_add(object, "shapes=%d unserved=%d", regret->count, regret->unserved);
    if (regret->count > 0)
        json_add(object,
                 "median=%g median_low=%g median_high=%g p95=%g p95_low=%g p95_high=%g worst=%g "
                 "worse_share=%g",
                 regret->median, regret->median_low, regret->median_high, regret->p95,
                 regret->p95_low, regret->p95_high, regret->worst, regret->worse_share);
    return object;
}

#define RATIO(member) JSON_FIELD_REQUIRED(struct regret, member, #member, DOUBLE, 1, DBL_MAX)

int regret_read(struct regret *regret, const struct json *object, struct error *error) {
    static const struct json_field counts[] = {
        JSON_FIELD_REQUIRED(struct regret, count, "shapes", INT, 0, INT32_MAX),
        JSON_FIELD_REQUIRED(struct regret, unserved, "unserved", INT, 0, INT32_MAX),
        {0}};
    static const struct json_field ratios[] = {
        RATIO(median),
        RATIO(median_low),
        RATIO(median_high),
        RATIO(p95),
        RATIO(p95_low),
        RATIO(p95_high),
        RATIO(worst),
        JSON_FIELD_REQUIRED(struct regret, worse_share, "worse_share", DOUBLE, 0, 1),
        {0}};
    *regret = (struct regret){0};
    if (json_is_object(object, error) < 0 || json_fields_read(object, counts, regret, error) < 0)
        return -1;
    return regret->count == 0 ? 0 : json_fields_read(object, ratios, regret, error);
}
