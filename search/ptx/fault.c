/* Formats faults and their source locations. */
#include "ptx/execute.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void format_source_location(const struct kernel *kernel, const struct instruction *instruction,
                            struct ptx_fault *fault, char *text, size_t text_bytes) {
    const struct ast *ast = kernel->module->ast;
    size_t used = 0;
    text[0] = '\0';
    int index = instruction ? instruction->location : -1;
    if (instruction && ast->location_count == 0)
        snprintf(text, text_bytes, " at instruction %d", (int)(instruction - kernel->code));
    for (int depth = 0; index >= 0 && depth < 4 && used < text_bytes; depth++) {
        const struct location *location = &ast->locations[index];
        struct slice file = {"", 0};
        if (location->file < ast->file_count)
            file = ast->files[location->file];
        /* The innermost location fills the fields; line 0 means code without one. */
        if (!depth) {
            snprintf(fault->file, sizeof fault->file, "%.*s", file.length, file.text);
            fault->line = location->line;
        }
        const char *slash = memrchr(file.text, '/', (size_t)file.length);
        if (slash)
            file = (struct slice){slash + 1, (int)(file.text + file.length - slash - 1)};
        used += (size_t)snprintf(text + used, text_bytes - used, "%s%.*s:%d",
                                 depth ? ", inlined at " : " at ",
                                 file.length > 80 ? 80 : file.length, file.text, location->line);
        index = location->inlined;
    }
}

void fault_format(struct ptx_fault *fault, const struct kernel *kernel,
                  const struct instruction *instruction, enum ptx_fault_kind kind,
                  const char *subject, const char *what) {
    char place[256];
    fault->kind = kind;
    format_source_location(kernel, instruction, fault, place, sizeof place);
    snprintf(fault->text, sizeof fault->text, "%s%s: %s%s", kernel->info.name, place, subject,
             what);
}

void fault_fill(struct ptx_fault *fault, const struct warp *warp,
                const struct instruction *instruction, int lane, enum ptx_fault_kind kind,
                uint64_t address, const char *text) {
    const struct block *block = warp->block;
    char subject[128];
    *fault = (struct ptx_fault){.address = address};
    memcpy(fault->block, block->position, sizeof block->position);
    thread_position(block, warp->index, lane, fault->thread);
    snprintf(subject, sizeof subject, "thread (%u,%u,%u) of block (%u,%u,%u) ", fault->thread[0],
             fault->thread[1], fault->thread[2], block->position[0], block->position[1],
             block->position[2]);
    fault_format(fault, warp->kernel, instruction, kind, subject, text);
}

void thread_position(const struct block *block, int warp, int lane, unsigned thread[3]) {
    const unsigned *size = block->launch->block;
    unsigned index = (unsigned)(warp * LANES + lane);
    thread[0] = index % size[0];
    thread[1] = index / size[0] % size[1];
    thread[2] = index / size[0] / size[1];
}

enum action fault_at(struct warp *warp, const struct instruction *instruction, int lane,
                     enum ptx_fault_kind kind, uint64_t address, const char *what, ...) {
    char text[320];
    va_list arguments;
    va_start(arguments, what);
    vsnprintf(text, sizeof text, what, arguments);
    va_end(arguments);
    fault_fill(warp->block->fault, warp, instruction, lane, kind, address, text);
    return ACTION_FAULT;
}
