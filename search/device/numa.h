/*
 * numa: pins a process to the CPU cores nearest to a GPU.
 *
 *     numa_pin("/sys", "0000:1a:00.0");     // before the driver creates threads and pins memory
 *
 * Sources: numa_node of a PCI device and cpulist of a node, Linux's
 * Documentation/ABI/testing/sysfs-bus-pci and .../stable/sysfs-devices-node.
 */
#ifndef EVOTILE_DEVICE_NUMA_H
#define EVOTILE_DEVICE_NUMA_H

#include <stdbool.h>

/* Restricts the process's CPU affinity to the cores of the device's NUMA node. Returns false
   without a change if the node is unknown or none of its cores is allowed. `sysfs` is the folder
   /sys. */
bool numa_pin(const char *sysfs, const char *pci_bus_id);

#endif
