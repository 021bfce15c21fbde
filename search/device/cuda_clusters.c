#include "device/cuda_device.h"

/* A kernel that does nothing, for the architectures that have clusters. */
static const char empty_kernel[] = ".version 7.8\n.target sm_90\n.address_size 64\n"
                                   ".visible .entry evotile_empty()\n{\n    ret;\n}\n";

static int count(struct cuda_device *self, CUfunction function, unsigned blocks) {
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value.clusterDim = {blocks, 1, 1}};
    const CUlaunchConfig config = {
        .gridDimX = blocks * (unsigned)self->device.info.sm_count,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = 128,
        .blockDimY = 1,
        .blockDimZ = 1,
        .sharedMemBytes =
            (unsigned)self->device.info.smem_per_block_optin, /* a block takes an SM */
        .attrs = &attribute,
        .numAttrs = 1};
    int clusters = 0;
    CUresult status = self->driver.cuOccupancyMaxActiveClusters(&clusters, function, &config);
    return status == CUDA_SUCCESS ? clusters : 0;
}

void cuda_count_clusters(struct cuda_device *self) {
    struct device_info *info = &self->device.info;
    CUfunction function;
    CUmodule module;
    if (info->compute_capability < 90 ||
        self->driver.cuModuleLoadData(&module, empty_kernel) != CUDA_SUCCESS)
        return;
    if (self->driver.cuModuleGetFunction(&function, module, "evotile_empty") == CUDA_SUCCESS &&
        self->driver.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                        info->smem_per_block_optin) == CUDA_SUCCESS) {
        info->clusters_of_2 = count(self, function, 2);
        info->clusters_of_4 = count(self, function, 4);
        info->clusters_of_8 = count(self, function, 8);
    }
    self->driver.cuModuleUnload(module);
}
