#include "outcome/fields.h"

#define OUTCOME_ROW(kind, member, column)         FIELD(struct outcome, kind, member),
#define CASE_ROW(kind, member, column)            FIELD(struct case_outcome, kind, member),
#define OUTCOME_COLUMN(kind, member, column)      FIELD_AS(struct outcome, kind, member, #column),
#define CASE_COLUMN(kind, member, column)         FIELD_AS(struct case_outcome, kind, member, #column),
#define SAMPLES_ROW(member, name, count, samples) {#name, offsetof(struct case_outcome, member)},

const struct field outcome_fields[] = {OUTCOME_FIELDS(OUTCOME_ROW){0}};
const struct field case_fields[] = {CASE_FIELDS(CASE_ROW){0}};
const struct field outcome_stored_fields[] = {OUTCOME_FIELDS(OUTCOME_COLUMN){0}};
const struct field case_stored_fields[] = {CASE_FIELDS(CASE_COLUMN){0}};
const struct samples_field case_samples[] = {CASE_SAMPLES(SAMPLES_ROW){0}};

struct latency *samples_latency(const struct samples_field *field, const struct case_outcome *one) {
    return (struct latency *)((char *)one + field->offset);
}
