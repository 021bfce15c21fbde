#include "session/task_distance.h"

#include <math.h>
#include <string.h>

static const double specialised_distance = 2; /* a specialised dimension differs: another kernel */
static const double device_model_distance = 1;
static const double architecture_distance = 2;

static double case_distance(const struct template *ours, const struct shape *shape,
                            const struct template *theirs, const struct shape *other) {
    double distance = 0;
    for (int d = 0; d < ours->dimension_count; d++) {
        int64_t value = shape->values[d];
        int64_t was = template_dimension(theirs, other, ours->dimensions[d].name, value);
        if (value != was && !ours->dimensions[d].real) /* real ones do not change the work */
            distance += ours->dimensions[d].specialised
                            ? specialised_distance
                            : fabs(log2((double)(value + 1) / (double)(was + 1)));
    }
    return distance;
}

/* The mean, over our goal's cases, of the distance to the nearest case of the other goal. */
static double goal_distance(const struct config *ours, int goal, const struct config *theirs,
                            int other) {
    double sum = 0;
    int first, count, other_first, other_count;
    config_goal_cases(ours, goal, &first, &count);
    config_goal_cases(theirs, other, &other_first, &other_count);
    if (count == 0 || other_count == 0) /* a recorded space has no cases */
        return 0;
    for (int i = 0; i < count; i++) {
        double least = INFINITY;
        for (int j = 0; j < other_count; j++)
            least = fmin(least, case_distance(ours->shapes, &ours->cases[first + i], theirs->shapes,
                                              &theirs->cases[other_first + j]));
        sum += least;
    }
    return sum / count;
}

static double device_distance(const struct device_info *ours, const struct device_info *theirs) {
    if (strcmp(ours->name, theirs->name) == 0)
        return 0;
    return device_model_distance +
           (ours->compute_capability != theirs->compute_capability ? architecture_distance : 0) +
           fabs(log2((ours->sm_count + 1.0) / (theirs->sm_count + 1.0)));
}

/* Words of device names, newer and older, by who makes them. */
static const struct maker_word {
    const char *word, *maker;
} maker_words[] = {
    {"NVIDIA", "NVIDIA"}, {"GeForce", "NVIDIA"}, {"Tesla", "NVIDIA"},
    {"Quadro", "NVIDIA"}, {"TITAN", "NVIDIA"},   {"AMD", "AMD"},
    {"Radeon", "AMD"},    {"Instinct", "AMD"},   {"Intel", "Intel"},
};

/* NULL: the name does not say. */
static const char *maker_of(const char *device_name) {
    for (size_t i = 0; i < sizeof maker_words / sizeof *maker_words; i++)
        if (strstr(device_name, maker_words[i].word) != NULL)
            return maker_words[i].maker;
    return NULL;
}

double task_recorded_distance(const char *device_name, const char *recorded_name) {
    const char *ours = maker_of(device_name), *theirs = maker_of(recorded_name);
    const bool other_maker = ours != NULL && theirs != NULL && strcmp(ours, theirs) != 0;
    return device_model_distance + (other_maker ? architecture_distance : 0);
}

double task_distance(const struct config *config, int goal, const struct device_info *device,
                     const struct config *earlier, int other,
                     const struct device_info *earlier_device) {
    return goal_distance(config, goal, earlier, other) + device_distance(device, earlier_device);
}

bool task_same_solution(const struct config *config, int goal, const struct config *earlier,
                        int other) {
    const char *ours = config_goal_solution(config, goal),
               *theirs = config_goal_solution(earlier, other);
    return ours == NULL || theirs == NULL || strcmp(ours, theirs) == 0;
}
