/*
 * fields: the plain fields of an outcome and of its cases, listed once. The protocol between
 * processes sends them, and the store has a column for each: a field needs its member in outcome.h
 * and its row here.
 *
 *     for (const struct field *field = case_fields; field->name != NULL; field++)
 *         puts(field->name); // errors.relative_l2 ...
 *
 * Not listed, because they are no plain values: the verdict, which is sent and stored by its name,
 * and the samples, which CASE_SAMPLES lists.
 */
#ifndef EVOTILE_OUTCOME_FIELDS_H
#define EVOTILE_OUTCOME_FIELDS_H

#include "base/field.h"
#include "outcome/outcome.h"

/* X(kind, member of struct outcome, column in the table `trials`) */
#define OUTCOME_FIELDS(X)                                                                          \
    X(TEXT, reason, reason)                                                                        \
    X(BOOL, predicted, predicted)                                                                  \
    X(BOOL, raced, raced)                                                                          \
    X(DOUBLE, score_us, score_us)                                                                  \
    X(INT, case_count, case_count)                                                                 \
    X(INT, resources.registers, registers)                                                         \
    X(INT, resources.smem_bytes, smem_bytes)                                                       \
    X(INT, resources.local_bytes, local_bytes)                                                     \
    X(INT, resources.spill_bytes, spill_bytes)                                                     \
    X(INT, resources.ctas_per_sm, ctas_per_sm)                                                     \
    X(DOUBLE, resources.occupancy, occupancy)                                                      \
    X(DOUBLE, compile_s, compile_s)                                                                \
    X(DOUBLE, verify_s, verify_s)                                                                  \
    X(DOUBLE, measure_s, measure_s)                                                                \
    X(INT, duel.result, duel)                                                                      \
    X(INT, duel.blocks, duel_blocks)                                                               \
    X(DOUBLE, duel.ratio, duel_ratio)                                                              \
    X(DOUBLE, duel.low, duel_low)                                                                  \
    X(DOUBLE, duel.high, duel_high)                                                                \
    X(INT, conditions.sm_mhz_low, sm_mhz_low)                                                      \
    X(INT, conditions.sm_mhz_high, sm_mhz_high)                                                    \
    X(INT, conditions.sm_mhz, sm_mhz)                                                              \
    X(INT, conditions.memory_mhz, memory_mhz)                                                      \
    X(INT, conditions.temperature_c, temperature_c)                                                \
    X(DOUBLE, conditions.power_w, power_w)                                                         \
    X(INT64, conditions.slowdowns, slowdowns)                                                      \
    X(INT, conditions.discarded, discarded)                                                        \
    X(BOOL, limited_range, limited_range)                                                          \
    X(TEXT, checks, checks)                                                                        \
    X(TEXT, uses, uses)

/* X(kind, member of struct case_outcome, column in the table `cases`) */
#define CASE_FIELDS(X)                                                                             \
    X(DOUBLE, errors.relative_l2, relative_l2)                                                     \
    X(DOUBLE, errors.row_relative_l2, row_relative_l2)                                             \
    X(DOUBLE, errors.max_absolute, max_absolute)                                                   \
    X(DOUBLE, warm.p10_us, p10_us)                                                                 \
    X(DOUBLE, warm.p50_us, p50_us)                                                                 \
    X(DOUBLE, warm.p90_us, p90_us)                                                                 \
    X(DOUBLE, tflops, tflops)                                                                      \
    X(INT, ctas, ctas)                                                                             \
    X(DOUBLE, cold.p10_us, cold_p10_us)                                                            \
    X(DOUBLE, cold.p50_us, cold_p50_us)                                                            \
    X(DOUBLE, cold.p90_us, cold_p90_us)                                                            \
    X(DOUBLE, gb_per_s, gb_per_s)                                                                  \
    X(DOUBLE, ceiling, ceiling)                                                                    \
    X(DOUBLE, bound.relative_l2, bound_relative_l2)                                                \
    X(DOUBLE, bound.row_relative_l2, bound_row_relative_l2)                                        \
    X(DOUBLE, bound.max_absolute, bound_max_absolute)                                              \
    X(INT, placements.count, placements)                                                           \
    X(DOUBLE, placements.least_us, placement_least_us)                                             \
    X(DOUBLE, placements.most_us, placement_most_us)                                               \
    X(DOUBLE, energy.mj, energy_mj)                                                                \
    X(DOUBLE, energy.error, energy_error)                                                          \
    X(DOUBLE, energy.watts, energy_watts)                                                          \
    X(DOUBLE, energy.idle_watts, idle_watts)

/* X(latency of struct case_outcome, its name in the protocol, the columns of the number of samples
   and of the samples) */
#define CASE_SAMPLES(X)                                                                            \
    X(warm, samples, sample_count, samples_us)                                                     \
    X(cold, cold_samples, cold_count, cold_samples_us)

/* Tables of these lists, in their order. */
extern const struct field outcome_fields[];
extern const struct field case_fields[];
/* The same, named as the columns of the store: what JSON for a reader calls them. */
extern const struct field outcome_stored_fields[];
extern const struct field case_stored_fields[];

/* A latency of a case, for its samples. */
struct samples_field {
    const char *name; /* in the protocol; NULL: the end of the table */
    size_t offset;    /* of the struct latency in its struct case_outcome */
};
extern const struct samples_field case_samples[];
/* As field_member. */
struct latency *samples_latency(const struct samples_field *field, const struct case_outcome *one);

#endif
