/*
 * uses: what a module uses although a kernel that only computes its outputs rarely needs it. With
 * such things a kernel can notice that it is timed, or keep results between calls; none of them is
 * wrong by itself. Read from the PTX, so that inline assembly and macros hide nothing.
 *
 *     char uses[256] = "";
 *     ptx_list_uses(text, uses, sizeof uses); // "clock64, gridid, vprintf, variable counter"
 *
 * Listed are:
 *     special registers    clocks, the global timer, the grid's, multiprocessor's and warp's
 * number, environment registers (cooperative groups' grid barrier reads two), performance counters,
 * the graph that runs called functions     that the module does not define: vprintf, malloc, free
 * ...; not
 *                          __assertfail
 *     variable NAME        a .global variable that the module may write: a store or an atomic takes
 *                          an address made of its own, or this address leaves the function. Not the
 *                          text of a printf, and no table that is only read
 */
#ifndef EVOTILE_PTX_USES_H
#define EVOTILE_PTX_USES_H

#include <stddef.h>

/* Appends to `uses`, words with commas between, what it does not list yet. "..." ends a list that
   is cut; PTX that cannot be parsed is listed as "unreadable PTX". */
void ptx_list_uses(const char *text, char *uses, size_t size);

#endif
