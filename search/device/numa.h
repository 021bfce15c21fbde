/*
 * numa: keeps a process on the processors that are nearest to a GPU, where the system says which.
 *
 *     numa_pin("/sys", "0000:1a:00.0");     // before the driver makes threads and pins memory
 *
 * Sources: numa_node of a PCI device and cpulist of a node, Linux's
 * Documentation/ABI/testing/sysfs-bus-pci and .../stable/sysfs-devices-node.
 */
#ifndef EVOTILE_DEVICE_NUMA_H
#define EVOTILE_DEVICE_NUMA_H

#include <stdbool.h>

/* Of the processors that we may use, leaves those of the device's node. False, and nothing is
   changed, where the system does not say or none of them is ours. `sysfs` is a folder. */
bool numa_pin(const char *sysfs, const char *pci_bus_id);

#endif
