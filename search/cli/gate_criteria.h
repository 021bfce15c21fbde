/*
 * gate_criteria: what `gate --criteria` collects of a kernel, and what it prints of it.
 *
 *     static struct gate_criteria it;
 *     if (gate_criteria_open(&it, "configs/criteria.json", &error) < 0)
 *         return -1;
 *     gate_criteria_add(&it, &comparison, target, result);       // after each duel
 *     gate_criteria_left_out(&it, &comparison);                  // after the last one
 *     if (gate_criteria_count(&it, &comparison.a.targets, &device, &error) < 0)
 *         return -1;
 *     bool passed = gate_criteria_judge(&it);                    // logs what is missed
 *     cJSON *object = gate_criteria_json(&it);
 */
#ifndef EVOTILE_CLI_GATE_CRITERIA_H
#define EVOTILE_CLI_GATE_CRITERIA_H

#include "analysis/criteria.h"
#include "cli/compare_records.h"

struct gate_criteria {
    const char *path; /* the caller's; NULL: no criteria, and nothing below counts */
    struct criteria criteria;
    int count;
    struct criteria_case cases[CASES_MAX];
    const struct replay_target *targets[CASES_MAX]; /* whose case it is; borrowed */
    struct criteria_missing missing;
    int row_count;
    struct criteria_row rows[CRITERIA_ROWS_MAX];
};

int gate_criteria_open(struct gate_criteria *it, const char *path, struct error *error);
/* Adds the cases of a target, whose trial has any verdict. The target must outlive this. */
void gate_criteria_add(struct gate_criteria *it, const struct record_comparison *comparison,
                       const struct replay_target *target, const struct trial_result *result);
void gate_criteria_left_out(struct gate_criteria *it, const struct record_comparison *comparison);
/* Has ncu count, if a condition reads a counter; the duels' worker must have left the device. That
   it cannot count is no error. */
int gate_criteria_count(struct gate_criteria *it, const struct replay_targets *targets,
                        const struct device_info *device, struct error *error);

/* Judges, logs the first conditions that are missed, and returns whether none is. */
bool gate_criteria_judge(struct gate_criteria *it);
/* {"file", "passed", "conditions": [{"condition", "required", "measured", "predicted", "passed",
   "where", "text"}]}. The caller owns it. */
cJSON *gate_criteria_json(const struct gate_criteria *it);

#endif
