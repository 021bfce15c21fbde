#include "pool/image_file.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PART_COUNT = 4 }; /* cubin, PTX, log, names of kernels */

/* Precedes the parts of each image. Both ends are the same binary. */
struct image_header {
    uint64_t case_index;
    uint64_t bytes[PART_COUNT];
};

int image_file_new(void) {
    return memfd_create("evotile images", MFD_CLOEXEC);
}

void image_file_path(int file, char path[IMAGE_FILE_PATH_SIZE]) {
    snprintf(path, IMAGE_FILE_PATH_SIZE, "/proc/%ld/fd/%d", (long)getpid(), file);
}

/* ---- writing ---- */

static size_t text_bytes(const char *text) {
    return text != NULL ? strlen(text) : 0;
}

static bool write_image(FILE *file, int case_index, const struct device_image *image) {
    const void *const parts[PART_COUNT] = {image->cubin, image->ptx, image->log, image->kernels};
    const struct image_header header = {
        .case_index = (uint64_t)case_index,
        .bytes = {image->cubin_bytes, text_bytes(image->ptx), text_bytes(image->log),
                  text_bytes(image->kernels)},
    };
    bool ok = fwrite(&header, sizeof header, 1, file) == 1;
    for (int i = 0; i < PART_COUNT; i++)
        ok = ok && (header.bytes[i] == 0 ||
                    fwrite(parts[i], 1, header.bytes[i], file) == header.bytes[i]);
    return ok;
}

int image_file_write(const char *path, const struct device_image images[CASES_MAX],
                     struct error *error) {
    int descriptor = sandbox_open(path, O_WRONLY | O_TRUNC);
    if (descriptor < 0)
        return error_set(error, "cannot open %s: %s", path, strerror(errno));
    FILE *file = fdopen(descriptor, "w");
    if (file == NULL)
        BUG("out of memory");
    bool ok = true;
    for (int c = 0; c < CASES_MAX; c++)
        if (images[c].cubin != NULL)
            ok = ok && write_image(file, c, &images[c]);
    ok = fclose(file) == 0 && ok;
    if (ok)
        return 0;
    error_set(error, "cannot write %s: %s", path, strerror(errno));
    if ((descriptor = sandbox_open(path, O_WRONLY | O_TRUNC)) < 0)
        log_warn("cannot empty %s: %s", path, strerror(errno));
    else
        close(descriptor);
    return -1;
}

/* ---- reading ---- */

/* Returns a NUL-terminated copy of the next part, or NULL; `left` counts the file's bytes. */
static char *read_part(FILE *file, uint64_t bytes, uint64_t *left) {
    if (bytes > *left)
        return NULL;
    char *part = xmalloc(bytes + 1);
    part[bytes] = '\0';
    *left -= bytes;
    if (fread(part, 1, bytes, file) == bytes)
        return part;
    free(part);
    return NULL;
}

static bool read_image(FILE *file, const char *name, struct device_image images[CASES_MAX],
                       uint64_t *left) {
    struct image_header header;
    if (*left < sizeof header || fread(&header, sizeof header, 1, file) != 1 ||
        header.case_index >= CASES_MAX || images[header.case_index].cubin != NULL)
        return false;
    *left -= sizeof header;
    struct device_image *image = &images[header.case_index];
    image->name = name;
    image->cubin = read_part(file, header.bytes[0], left);
    image->cubin_bytes = header.bytes[0];
    image->ptx = read_part(file, header.bytes[1], left);
    image->log = read_part(file, header.bytes[2], left);
    image->kernels = read_part(file, header.bytes[3], left);
    return image->cubin != NULL && image->ptx != NULL && image->log != NULL &&
           image->kernels != NULL;
}

int image_file_read(const char *path, const char *name, struct device_image images[CASES_MAX],
                    struct error *error) {
    struct stat status;
    int descriptor = sandbox_open(path, O_RDONLY);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
    if (file == NULL)
        return error_set(error, "cannot open %s: %s", path, strerror(errno));
    memset(images, 0, CASES_MAX * sizeof *images);
    uint64_t left = fstat(fileno(file), &status) == 0 ? (uint64_t)status.st_size : 0;
    bool ok = left > 0;
    while (ok && left > 0)
        ok = read_image(file, name, images, &left);
    fclose(file);
    if (ok)
        return 0;
    for (int c = 0; c < CASES_MAX; c++)
        nvrtc_image_release(&images[c]);
    return error_set(error, "%s is not a file of machine code", path);
}
