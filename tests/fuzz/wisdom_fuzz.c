/* Any bytes as a wisdom file: libevotile_wisdom refuses them in one line, or picks and launches
   with them within its own memory. Digests and sizes are made right first, or nothing behind them
   would ever be reached. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVOTILE_WISDOM_FORMAT
#include "base/error.h"
#include "base/path.h"
#include "base/signature.h"
#include "wisdom/evotile_wisdom.h"
#include "wisdom/stand_in_driver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/tmp/evotile-fuzz-wisdom-XXXXXX";

static void discard(void) {
    unlink(path);
}

static void make_path(void) {
    const int file = mkstemp(path);
    if (file < 0)
        abort();
    close(file);
    atexit(discard);
}

/* Makes the digests of codes right that lie within the file. */
static void seal_codes(uint8_t *file, size_t size) {
    const struct wisdom_header *header = (const struct wisdom_header *)file;
    const uint64_t offset = header->sections[WISDOM_CODES].offset;
    for (uint64_t i = 0; i < header->sections[WISDOM_CODES].count && i < 64; i++) {
        if (offset % 8 != 0 || offset > size ||
            (i + 1) * sizeof(struct wisdom_code) > size - offset)
            return;
        struct wisdom_code *code = (struct wisdom_code *)(file + offset) + i;
        if (code->offset % 16 != 0 || code->offset > size || code->bytes > size - code->offset ||
            code->bytes < sizeof(struct wisdom_program))
            continue;
        struct wisdom_program *program = (struct wisdom_program *)(file + code->offset);
        if (program->cubin_bytes > code->bytes - sizeof *program)
            continue;
        digest_bytes(file + code->offset + code->bytes - program->cubin_bytes, program->cubin_bytes,
                     program->cubin_digest);
        digest_bytes(program, code->bytes - program->cubin_bytes, code->digest);
    }
}

static void seal(uint8_t *file, size_t size) {
    struct wisdom_header *header = (struct wisdom_header *)file;
    if (size < sizeof *header)
        return;
    header->file_bytes = size;
    seal_codes(file, size);
    memset(header->digest, 0, sizeof header->digest);
    if (header->index_bytes <= size)
        digest_bytes(file, header->index_bytes, header->digest);
}

static void check_refusal(int status, const struct evotile_wisdom_message *message) {
    if (status < 0 && (message->text[0] == '\0' || strchr(message->text, '\n') != NULL))
        BUG("refused without one line");
}

static void use_kernel(const struct evotile_wisdom_kernel *kernel) {
    static const int64_t sizes[] = {0, 1, 4, 40, 64, 1000, INT64_MAX};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (int i = 0; i < SIZES * SIZES; i++) {
        struct evotile_wisdom_choice choice;
        char text[128];
        void *tensors[] = {(void *)0x10000, (void *)0x20000};
        const int64_t shape[] = {sizes[i % SIZES], sizes[i / SIZES]};
        if (evotile_wisdom_pick(kernel, shape, EVOTILE_WISDOM_TAKE_UNVERIFIED, &choice) != 0)
            continue;
        evotile_wisdom_describe(&choice, text, sizeof text);
        const int64_t workspace = evotile_wisdom_workspace(&choice);
        const struct evotile_wisdom_call call = {
            .tensors = tensors, .workspace = (void *)0x40000, .workspace_bytes = workspace};
        evotile_wisdom_launch(&choice, &call);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const dimensions[] = {"ROWS", "COLS", NULL}, *const tensors[] = {"x", "y",
                                                                                        NULL};
    static const struct evotile_wisdom_names names = {"softmax_rows", dimensions, tensors, NULL};
    static const struct evotile_wisdom_device device = {"NVIDIA H200", 9, 0, 132};
    struct evotile_wisdom *wisdom;
    struct evotile_wisdom_kernel *kernel;
    struct evotile_wisdom_message message;
    struct error error = {0};
    if (strstr(path, "XXXXXX") != NULL)
        make_path();
    uint8_t *file = malloc(size + 1);
    memcpy(file, data, size);
    seal(file, size);
    if (path_write_unsynced(path, file, size, &error) < 0)
        BUG("%s", error.text);
    free(file);
    stand_in.context = 1;
    int status = evotile_wisdom_load(&wisdom, path, &message);
    check_refusal(status, &message);
    if (status == 0) {
        status = evotile_wisdom_open(&kernel, wisdom, &names, &device, &message);
        check_refusal(status, &message);
        if (status == 0)
            use_kernel(kernel);
        evotile_wisdom_close(status == 0 ? kernel : NULL);
    }
    evotile_wisdom_free(wisdom);
    return 0;
}
