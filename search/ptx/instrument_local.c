/* Local memory in the race checker: a thread's loads of what it never wrote. */
#include "ptx/instrument.h"

#include <string.h>

/* Padding and unused elements may be loaded together with written ones: only an element none of
   whose bytes was written is reported. */
void instrument_local(struct warp *warp, const struct instruction *instruction,
                      const struct access *access, int lane, uint64_t offset, bool is_store) {
    const struct block *block = warp->block;
    uint8_t *written = cluster_shadow_of(block)->local_written;
    size_t bytes = access->element_bytes, all = bytes * access->vector;
    size_t thread = ((size_t)block->rank * (size_t)block->warp_count + (size_t)warp->index) * LANES;
    const struct finding_report report = {.kind = PTX_FINDING_UNWRITTEN,
                                          .warp = warp,
                                          .instruction = instruction,
                                          .lane = lane,
                                          .address = offset,
                                          .tensor = "local memory",
                                          .other = NO_PC};
    if (!written || offset + all > block->local_bytes)
        return;
    written += (thread + (size_t)lane) * block->local_bytes + offset;
    if (is_store)
        memset(written, 1, all);
    for (size_t i = 0; i < all && !is_store; i += bytes)
        if (!memchr(written + i, 1, bytes)) {
            if (!racecheck_count_repeat(&report))
                racecheck_report(&report,
                                 "loaded %zu bytes at local memory 0x%llx, which is uninitialized",
                                 bytes, (unsigned long long)(offset + i));
            return;
        }
}
