/*
 * t1_internal: an import under way: t1.c reads parameters, conditions and arguments, t1_write.c
 * writes the launch and the files. Private to import/.
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
#include "import/t1.h"

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

#endif
