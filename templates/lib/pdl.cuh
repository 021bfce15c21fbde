// Programmatic dependent launch: a kernel whose launch is "early" (template.json) begins while the
// one before it still runs, and waits for it where it must. sm_90 and later.
#ifndef EVOTILE_LIB_DEPENDENT
#define EVOTILE_LIB_DEPENDENT

#include "lib/types.cuh"

// Waits until the launch before has ended and what it wrote is visible.
DEVICE void griddepcontrol_wait() {
    asm volatile("griddepcontrol.wait;" : : : "memory");
}

// The launch after may begin, once every block has said so or has ended.
DEVICE void griddepcontrol_launch_dependents() {
    asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
}

#endif
