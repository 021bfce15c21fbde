/*
 * t1: the T1 format of the autotuning community, and KTT's JSON, as the folder of a template.
 *
 *     struct import_options options = {.file = "gemm.json", .out = "gemm", .name = "gemm"};
 *     struct import_texts notes = {0};
 *     if (import_t1(&options, config, &notes, &error) < 0)
 *         return -1;
 *     for (int i = 0; i < notes.count; i++)
 *         puts(notes.items[i]);
 *
 * What T1 does not say (which arguments are outputs, how large they are, what is correct) comes
 * from the options; an error names the option that is missing.
 */
#ifndef EVOTILE_IMPORT_T1_H
#define EVOTILE_IMPORT_T1_H

#include "import/translate.h"

struct import_options {
    const char *file;             /* the description */
    const char *kernel;           /* the CUDA source; NULL: the one that the description names */
    const char *reference;        /* .cu or .py; NULL: the default genome is the reference */
    const char *outputs, *inouts; /* names of arguments, separated by commas; NULL: none */
    const char *sizes;            /* NAME=EXPRESSION, separated by commas; NULL: none */
    const char *name;             /* NULL: the kernel's */
    const char *out;              /* the folder in which NAME and NAME.json are made */
};

/* Writes the folder and a config beside it. `notes` are for the user; `config` of PATH_SIZE gets
   the config's path. */
int import_t1(const struct import_options *options, char *config, struct import_texts *notes,
              struct error *error);

#endif
