/*
 * export_wheel: builds the wheel of an exported folder, by its own Makefile.
 *
 *     char wheel[PATH_SIZE];
 *     if (export_build_wheel("kernels/night", wheel, &error) == 0)
 *         log_info("the wheel is %s", wheel);
 */
#ifndef EVOTILE_CLI_EXPORT_WHEEL_H
#define EVOTILE_CLI_EXPORT_WHEEL_H

#include "base/error.h"
#include "base/path.h"

/* Runs `make wheel` there, with $PYTHON or python3; what make prints on its standard error is
   passed on. The folder stays as it is if that fails. */
int export_build_wheel(const char *folder, char wheel[PATH_SIZE], struct error *error);

#endif
