/*
 * code: parts of the C functions that launch kernels: a variant's (variant.c) and the reference's
 * (reference.c). Private to this folder.
 *
 *     struct code_writer writer;
 *     struct strbuf opening = {0}, body = {0};
 *     if (code_writer_init(&writer, export, 0, text, error) < 0)
 *         return -1;
 *     strbuf_print(&opening, "static int run(const struct rows_shape *shape)\n{\n");
 *     code_add_launches(&writer, &body);
 *     code_add_function(writer.printer, &opening, parameters, &body, text);
 *     code_writer_release(&writer);
 */
#ifndef EVOTILE_EXPORT_CODE_H
#define EVOTILE_EXPORT_CODE_H

#include "export/internal.h"

/* State while the functions of one variant or of the reference are written. */
struct code_writer {
    const struct export *export;
    const struct template *template;
    const struct launch_list *launches;
    int number; /* of the variant, from 1; 0: the reference, which has no workspaces */
    bool host;  /* the reference's kernels are called on the host, as evotile_launch does */
    struct expr_printer *printer, *double_printer;
    char *kernels; /* as kernel_names_copy gives them */
    struct strbuf *text;
};

/* For a variant, or with `number` 0 for the reference, whose expressions have all dimensions as
   members of `shape`, and the default genome's genes. Must be released after success. */
int code_writer_init(struct code_writer *writer, const struct export *export, int number,
                     struct strbuf *text, struct error *error);
void code_writer_release(struct code_writer *writer);

/* Adds a function: its opening, declarations of the derived quantities that its body reads, and the
   body. Casts unused parameters to void; their list ends with NULL. Releases opening and body. */
void code_add_function(const struct expr_printer *printer, struct strbuf *opening,
                       const char *const *parameters, struct strbuf *body, struct strbuf *text);

/* 1 if the condition is always true, 0 if never, -1 if it depends on the shape. */
int code_truth(const struct code_writer *writer, const struct expression *when);
/* "(const int64_t[]){shape->B, 64}" */
void code_add_list(const struct code_writer *writer, struct expression *const *items, int count,
                   struct strbuf *text);
/* "CONDITION ? YES : NO", or the one that is always chosen. */
void code_add_choice(const struct code_writer *writer, const struct expression *when,
                     const char *yes, const char *no, struct strbuf *text);
/* The bytes of an element, as code_add_choice prints them. */
void code_add_element_bytes(const struct code_writer *writer, const struct tensor *tensor,
                            struct strbuf *text);
/* Begins a statement that is skipped after a failure, and unless a condition holds that depends on
   the shape. */
void code_add_guard(const struct code_writer *writer, const struct expression *when,
                    struct strbuf *text);
/* A workspace tensor's index in `parts`. */
int code_part_index(const struct template *template, int tensor);
/* Adds `static struct code CODE = {CUBIN, NULL};`, and `static struct kernel SYMBOL = {&CODE,
   "NAME", NULL};` for every kernel of the launches, with its name in the machine code. */
void code_add_kernels(const struct code_writer *writer, const char *cubin);
/* Adds the statements that copy inputs to the variables that the kernels read them from. */
void code_add_variables(const struct code_writer *writer, struct strbuf *body);
/* Adds the statements that launch all of `launches`. */
void code_add_launches(const struct code_writer *writer, struct strbuf *body);

/* Adds the function of `shape` with this opening that returns the number of operations as a double.
   Releases the opening. */
void code_add_operations(const struct code_writer *writer, struct strbuf *opening);

/* Adds `launching` to the values of a file: how it loads machine code and launches kernels. `maps`:
   an argument may be a tensor map. */
int code_add_launching(const struct export *export, const struct launch_list *launches, bool maps,
                       cJSON *values, struct error *error);
/* The same for the launcher, and `maps`: whether a kernel of any solution takes a tensor map. */
int code_add_kernel_launching(const struct export *export, cJSON *values, struct error *error);
/* Adds `arithmetic`: the integer functions, or nothing if `code` calls none. */
void code_add_arithmetic(const char *code, cJSON *values);

#endif
