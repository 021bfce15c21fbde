// Programmatic dependent launch (PDL): a kernel whose launch is "early" (template.json) starts
// while the previous launch still runs, and waits for it where necessary. sm_90 and later.
#ifndef EVOTILE_LIB_PDL
#define EVOTILE_LIB_PDL

#include "lib/types.cuh"

// Waits until the previous launch has completed and its writes are visible.
DEVICE void griddepcontrol_wait() {
    asm volatile("griddepcontrol.wait;" : : : "memory");
}

// Allows the next launch to start once every block has called this or has exited.
DEVICE void griddepcontrol_launch_dependents() {
    asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
}

#endif
