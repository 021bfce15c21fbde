/*
 * compile_options: which compiler options a template may give. A template may come from elsewhere,
 * and NVRTC has options that write or read files anywhere (--create-pch, --fdevice-time-trace,
 * --pre-include): only those of a list are passed to it.
 *
 *     char why[OPTION_REFUSAL_SIZE];
 *     if (!compile_option_allowed("--create-pch=/etc/x", why))
 *         puts(why); // "--create-pch=/etc/x" is not an option that a template may give ...
 *
 * Source: "NVRTC", section "Supported Compile Options", of CUDA 12.9.
 */
#ifndef EVOTILE_TEMPLATE_COMPILE_OPTIONS_H
#define EVOTILE_TEMPLATE_COMPILE_OPTIONS_H

#include <stdbool.h>

enum { OPTION_REFUSAL_SIZE = 512 };

/* Whether a template may give the option, as one word: a value is joined by "=" or, for -D and -U,
   follows at once. If not, `why` is one line. */
bool compile_option_allowed(const char *option, char why[OPTION_REFUSAL_SIZE]);

#endif
