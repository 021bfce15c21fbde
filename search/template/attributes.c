#include "template/attributes.h"

#include "device/device.h"

enum attribute {
    SM_COUNT,
    SMEM_LIMIT,
    CC,
    REGISTERS_PER_SM,
    THREADS_PER_SM,
    MAX_THREADS,
    CLUSTERS_OF_2,
    CLUSTERS_OF_4,
    CLUSTERS_OF_8,
};
_Static_assert(CLUSTERS_OF_8 == ATTRIBUTE_COUNT - 1, "attributes.h counts them");

const char *const attribute_names[ATTRIBUTE_COUNT] = {
    [SM_COUNT] = "SM_COUNT",
    [SMEM_LIMIT] = "SMEM_LIMIT",
    [CC] = "CC",
    [REGISTERS_PER_SM] = "REGISTERS_PER_SM",
    [THREADS_PER_SM] = "THREADS_PER_SM",
    [MAX_THREADS] = "MAX_THREADS",
    [CLUSTERS_OF_2] = "CLUSTERS_OF_2",
    [CLUSTERS_OF_4] = "CLUSTERS_OF_4",
    [CLUSTERS_OF_8] = "CLUSTERS_OF_8",
};

/* As many as there are SMs for where the device does not say: one of an earlier run, or one without
   clusters. */
static int64_t clusters_of(int blocks, int known, const struct device_info *device) {
    return known > 0 ? known : device->sm_count / blocks;
}

void attributes_read(const struct template_setting *setting, int64_t values[ATTRIBUTE_COUNT]) {
    const struct device_info *device = setting->device;
    values[SM_COUNT] = device->sm_count;
    values[SMEM_LIMIT] = setting->smem_limit;
    values[CC] = device->compute_capability;
    values[REGISTERS_PER_SM] = device->registers_per_sm;
    values[THREADS_PER_SM] = device->threads_per_sm;
    values[CLUSTERS_OF_2] = clusters_of(2, device->clusters_of_2, device);
    values[CLUSTERS_OF_4] = clusters_of(4, device->clusters_of_4, device);
    values[CLUSTERS_OF_8] = clusters_of(8, device->clusters_of_8, device);
    values[MAX_THREADS] = 1024; /* of a block on every architecture (CUDA Programming Guide,
                                   "Compute Capabilities") */
}
