/*
 * files: which files a template may consist of, and which its sources may include. A template may
 * come from elsewhere: it reads nothing but regular files of its own folder and of the lib/ beside
 * it, and headers of the CUDA Toolkit.
 *
 *     if (template_files_check("templates/rows", error) < 0 ||
 *         template_includes_check("kernel.cu", source, error) < 0)
 *         return -1;
 */
#ifndef EVOTILE_TEMPLATE_FILES_H
#define EVOTILE_TEMPLATE_FILES_H

#include "base/error.h"

/* Refuses a pipe, a socket, a device, and a link that leads out, anywhere below the template's
   folder or the lib/ beside it. A link may lead to a file of the two or of another template beside
   this one; lib/ itself may be a link to a folder of headers and programs (.py). Opens nothing. */
int template_files_check(const char *folder, struct error *error);

/* Refuses an include directive of `source`, a whole file, that could lead out: an absolute name, a
   name with "..", one that a macro gives, and one in quotes that is a file of the working
   directory. `path` is for messages. Directives in comments count, too. */
int template_includes_check(const char *path, const char *source, struct error *error);

#endif
