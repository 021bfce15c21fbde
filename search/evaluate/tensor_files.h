/*
 * tensor_files: tensors of a case as .npy files: inputs for a reference's program, and the outputs
 * that it or a recording has. Private to evaluate/.
 *
 *     struct planned_tensor tensor; // of a launch plan
 *     tensor_file_write_input(device, address, &tensor, "x.npy", &error);
 *     void *doubles = tensor_file_read_output("y.npy", "y", &tensor, &error);
 *     free(doubles);
 */
#ifndef EVOTILE_EVALUATE_TENSOR_FILES_H
#define EVOTILE_EVALUATE_TENSOR_FILES_H

#include "device/device.h"
#include "template/template.h"

/* Writes a tensor of the device packed in row-major order; bf16 and 8-bit floats, which NumPy has
   not, as f32. */
int tensor_file_write_input(struct device *device, uint64_t address,
                            const struct planned_tensor *tensor, const char *path,
                            struct error *error);

/* Reads an output of the tensor's shape, whose dtype is that of the reference's plan: float64 for
   f64, integers (or bool) for i64; for f64 also integers that a double holds. Returns the elements
   as the plan stores them, which the caller frees; NULL with an error that begins with the file's
   name. */
void *tensor_file_read_output(const char *path, const char *name,
                              const struct planned_tensor *tensor, struct error *error);

/* The same of a recorded output, which may also be a float of fewer bits. */
void *tensor_file_read_answer(const char *path, const char *name,
                              const struct planned_tensor *tensor, struct error *error);

/* Reads an input of the tensor's shape and dtype (bf16 and 8-bit floats also as void bytes); as
   above, laid out with the tensor's strides. */
void *tensor_file_read_input(const char *path, const char *name,
                             const struct planned_tensor *tensor, struct error *error);

#endif
