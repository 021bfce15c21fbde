/*
 * image_file: a candidate's machine code in a file without a name, which the parent of a pool owns:
 * a compile worker writes it, and a device worker reads it. It is memory, not disk, and ends with
 * its last owner.
 *
 *     char path[IMAGE_FILE_PATH_SIZE];
 *     struct device_image images[CASES_MAX];
 *     int file = image_file_new();                          // the parent
 *     image_file_path(file, path);
 *
 *     image_file_write(path, images, &error);        // a compile worker
 *     image_file_read(path, "kernel.cu", images, &error);   // a device worker
 */
#ifndef EVOTILE_POOL_IMAGE_FILE_H
#define EVOTILE_POOL_IMAGE_FILE_H

#include "device/nvrtc.h"
#include "outcome/outcome.h"

enum { IMAGE_FILE_PATH_SIZE = 64 };

/* Returns an empty file, which close() releases; -1 if there are too many open files. */
int image_file_new(void);
/* The path under which other processes of the same user open it while this one has it open. */
void image_file_path(int file, char path[IMAGE_FILE_PATH_SIZE]);

/* Replaces the file's content. Empty images are left out. After -1 the file is empty. */
int image_file_write(const char *path, const struct device_image images[CASES_MAX],
                     struct error *error);
/* Fills all images, those left out with zeros; the caller releases them (nvrtc_image_release).
   `name`, the source's, is borrowed. -1: the file cannot be read, is empty or damaged; then
   nothing is to release. */
int image_file_read(const char *path, const char *name, struct device_image images[CASES_MAX],
                    struct error *error);

#endif
