/* Any bytes as the file of an input: they are a tensor that lies within the file, or are refused.
   The first byte chooses .npy or .safetensors; the next one, how much longer the file is than its
   head. */
#include <stdint.h>

#include "template/data_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int status, const struct data_file *file, int64_t file_bytes,
                  const struct error *error) {
    int64_t bytes = dtype_bytes(file->dtype);
    if (status < 0 && (error->kind != ERROR_INPUT || error->text[0] == '\0'))
        BUG("refused without a reason");
    if (status < 0)
        return;
    if (file->rank < 0 || file->rank > RANK_MAX || file->raw)
        BUG("a tensor of %d extents", file->rank);
    for (int i = 0; i < file->rank; i++) {
        if (file->extents[i] < 1)
            BUG("an extent of %lld", (long long)file->extents[i]);
        bytes *= file->extents[i];
    }
    if (file->bytes != bytes || file->offset < 0 || file->offset > file_bytes ||
        bytes > file_bytes - file->offset)
        BUG("%lld bytes from byte %lld of %lld", (long long)bytes, (long long)file->offset,
            (long long)file_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct data_file file = {0};
    struct error error = {0};
    if (size < 2)
        return 0;
    const int64_t file_bytes = (int64_t)(size - 2) + (data[1] == 255 ? DATA_FILE_MAX : data[1]);
    int status = safetensors_parse(data + 2, size - 2, file_bytes, "w", &file, &error);
    check(status, &file, file_bytes, &error);
    return 0;
}
