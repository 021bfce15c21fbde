/*
 * t1_internal: an import under way: t1.c reads parameters, conditions and arguments, ktt.c what
 * only KTT's files have, t1_write.c writes the launch and the files. Private to import/.
 *
 *     struct importer importer = {0};
 *     if (importer_read_space(&importer, &error) < 0)
 *         return -1;
 *     importer_choose_defaults(&importer);
 *     importer_write_space(&importer);
 */
#ifndef EVOTILE_IMPORT_T1_INTERNAL_H
#define EVOTILE_IMPORT_T1_INTERNAL_H

#include "base/json.h"
#include "base/strbuf.h"
#include "import/t1.h"

enum { ARGUMENT_COUNT_MAX = 32 };

/* A file of the template's folder with what an input holds. */
struct import_file {
    char name[NAME_SIZE + 8];
    char *bytes; /* owned */
    size_t size;
};

struct importer {
    const struct import_options *options;
    const struct json_document *document;
    const cJSON *kernel; /* KernelSpecification */
    struct import_space space;
    struct import_texts conditions;    /* in Python */
    struct import_texts constraints;   /* translated */
    struct import_texts because;       /* the condition of each constraint */
    struct python_scope problem_sizes; /* ProblemSize */
    char name[NAME_SIZE];
    cJSON *template;
    double elements, bytes; /* of all tensors */
    struct import_file files[ARGUMENT_COUNT_MAX];
    int file_count;
};

/* A member that is a string; NULL: there is none. */
const char *importer_text(const cJSON *object, const char *key);
void importer_note(struct importer *importer, const char *text);
/* The text of a string or of a number, which the caller frees; NULL if it is neither. */
char *importer_expression(const cJSON *value);
/* The words behind NAME= in "NAME=A,OTHER=B"; with `alone`, "" if NAME is in "NAME,OTHER". NULL: it
   is not there. The caller frees them. */
char *importer_option(const char *list, const char *name, bool alone);

int importer_read_space(struct importer *importer, struct error *error);
void importer_choose_defaults(struct importer *importer);
/* Adds genes and constraints to the template. */
void importer_write_space(struct importer *importer);
/* Adds tensors, and real dimensions; `arguments` get those of the launch. */
int importer_read_arguments(struct importer *importer, cJSON *arguments, struct error *error);

/* Fills a tensor of `count` elements by the argument's DataSource: an expression of `i`, or a file
   of raw bytes beside the description. Adds a file. */
int importer_put_data(struct importer *importer, const cJSON *argument, const char *name,
                      const char *dtype, int64_t count, cJSON *tensor, struct error *error);
/* KernelName, with KernelTypeNames: "scale<float>". */
void importer_print_kernel(const struct importer *importer, struct strbuf *text);
/* Budget, or 100 trials. Notes what of KTT's search has no counterpart. */
void importer_write_budget(struct importer *importer, cJSON *budget);

#endif
