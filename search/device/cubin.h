/* cubin: reads a kernel's machine code file, an ELF file, without a driver.
 *
 *     uint64_t mark;
 *     if (!cubin_global_u64(bytes, size, TEMPLATE_TAG_SYMBOL, &mark))
 *         ...; // damaged, or another program's
 */
#ifndef EVOTILE_DEVICE_CUBIN_H
#define EVOTILE_DEVICE_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the initial value of a module-scope variable of 8 bytes. False if the file, which may hold
   anything, is not a whole ELF file of 64 bits or has no such variable. */
bool cubin_global_u64(const void *cubin, size_t size, const char *name, uint64_t *value);

#endif
