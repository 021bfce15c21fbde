/*
 * filled: fills and compares records by their tables of fields (base/field.h), so that a test
 * covers each field of the tables.
 *
 *     struct outcome outcome = {0};
 *     fill_outcome(&outcome, 2, 1);
 *     assert_true(outcomes_equal(&outcome, &read));
 */
#ifndef EVOTILE_TESTS_OUTCOME_FILLED_H
#define EVOTILE_TESTS_OUTCOME_FILLED_H

#include "outcome/fields.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Gives each field a value of its own, which depends on `*number`; none is 0, except that every
   second number makes a boolean false. */
static inline void fill_fields(const struct field *fields, void *record, int *number) {
    for (const struct field *field = fields; field->name != NULL; field++) {
        void *member = field_member(field, record);
        int value = ++*number;
        if (field->kind == FIELD_INT)
            *(int *)member = value;
        else if (field->kind == FIELD_INT64)
            *(int64_t *)member = (int64_t)value << 33 | 1;
        else if (field->kind == FIELD_DOUBLE)
            *(double *)member = value + 1.0 / 3;
        else if (field->kind == FIELD_BOOL)
            *(bool *)member = value % 2;
        else
            snprintf(member, field->size, "text %d", value);
    }
}

static inline bool fields_equal(const struct field *fields, const void *a, const void *b) {
    for (const struct field *field = fields; field->name != NULL; field++) {
        const void *left = field_member(field, a), *right = field_member(field, b);
        bool equal = field->kind == FIELD_TEXT
                         ? strcmp(left, right) == 0
                         : memcmp(left, right, field->size) == 0 ||
                               (field->kind == FIELD_DOUBLE && isnan(*(const double *)left) &&
                                isnan(*(const double *)right));
        if (!equal) {
            fprintf(stderr, "%s differs\n", field->name);
            return false;
        }
    }
    return true;
}

/* The number of bytes of a record that no field covers. */
static inline size_t uncovered_bytes(const struct field *fields, size_t record_size) {
    for (const struct field *field = fields; field->name != NULL; field++)
        record_size -= field->size;
    return record_size;
}

/* `outcome` is zeroed or filled before. Numbers of either parity together show each boolean in
   both states. */
static inline void fill_outcome(struct outcome *outcome, int case_count, int number) {
    outcome_release(outcome);
    fill_fields(outcome_fields, outcome, &number);
    outcome->verdict = (enum verdict)(number % VERDICT_COUNT);
    outcome->duel.result = (enum duel_result)(1 + number % DUEL_UNDECIDED);
    outcome->case_count = 0;
    outcome_set_cases(outcome, case_count);
    for (int c = 0; c < case_count; c++) {
        struct case_outcome *one = &outcome->cases[c];
        fill_fields(case_fields, one, &number);
        for (const struct samples_field *field = case_samples; field->name != NULL; field++) {
            struct latency *latency = samples_latency(field, one);
            int count = 1 + ++number % SAMPLES_MAX;
            double *samples_us = latency_reserve(latency, count);
            for (int i = 0; i < count; i++)
                samples_us[i] = number + i / 7.0;
            latency->sample_count = count;
        }
    }
}

static inline bool cases_equal(const struct case_outcome *a, const struct case_outcome *b) {
    if (!fields_equal(case_fields, a, b))
        return false;
    for (const struct samples_field *field = case_samples; field->name != NULL; field++) {
        const struct latency *left = samples_latency(field, a), *right = samples_latency(field, b);
        if (left->sample_count != right->sample_count ||
            (left->sample_count > 0 &&
             memcmp(left->samples_us, right->samples_us,
                    (size_t)left->sample_count * sizeof *left->samples_us) != 0)) {
            fprintf(stderr, "%s differ\n", field->name);
            return false;
        }
    }
    return true;
}

static inline bool outcomes_equal(const struct outcome *a, const struct outcome *b) {
    bool equal = a->verdict == b->verdict && fields_equal(outcome_fields, a, b);
    for (int c = 0; c < a->case_count && equal; c++)
        equal = cases_equal(&a->cases[c], &b->cases[c]);
    return equal;
}

#endif
