/* measure_names: what is measured of a successful trial and may be read by a template's hints
 * (space/hints.h): MEASURED_REGISTERS ... and, if a profiler ran too, PROFILED_SM ... (definitions
 * in pool/profile.h).
 *
 *     space_name_measures(space, measure_names, MEASURE_COUNT, MEASURE_PROFILED);
 *     measures_put(&measures, MEASURE_REGISTERS, 168);
 */
#ifndef EVOTILE_OUTCOME_MEASURE_NAMES_H
#define EVOTILE_OUTCOME_MEASURE_NAMES_H

enum measure {
    MEASURE_REGISTERS, /* per thread, as reported by the driver */
    MEASURE_SMEM_BYTES,
    MEASURE_LOCAL_BYTES,
    MEASURE_SPILL_BYTES,
    MEASURE_CTAS_PER_SM,
    MEASURE_OCCUPANCY,             /* percent */
    MEASURE_PROFILED,              /* this one and all that follow come from a profiler */
    MEASURE_SM = MEASURE_PROFILED, /* % */
    MEASURE_MEMORY,                /* % */
    MEASURE_DRAM,                  /* % */
    MEASURE_DRAM_BYTES,
    MEASURE_SM_ACTIVE,   /* % */
    MEASURE_WARPS,       /* % */
    MEASURE_TENSOR_PIPE, /* % */
    MEASURE_BANK_CONFLICTS,
    MEASURE_WAVEFRONTS,
    MEASURE_L2_SECTORS,
    MEASURE_L2_HITS, /* % */
    MEASURE_COUNT
};

extern const char *const measure_names[MEASURE_COUNT];

#endif
