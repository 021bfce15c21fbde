// Positions in a circular buffer of stages, each with an mbarrier (mbarrier.cuh) that says when it
// is full and one that says when it is empty.
#ifndef EVOTILE_LIB_PIPELINE
#define EVOTILE_LIB_PIPELINE

#include "lib/types.cuh"

// Of a producer or a consumer (CUTLASS PipelineState): the index of the stage and the parity of the
// phase of its barriers.
template <int stages> struct pipeline_state {
    int stage = 0;
    u32 phase = 0;

    // At most one wrap-around: `tiles` <= stages.
    DEVICE void advance(int tiles) {
        stage += tiles;
        if (stage >= stages) {
            stage -= stages;
            phase ^= 1;
        }
    }

    // Past any number of tiles.
    DEVICE void skip(int tiles) {
        stage += tiles;
        phase ^= stage / stages & 1;
        stage %= stages;
    }
};

#endif
