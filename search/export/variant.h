/* variant: the launcher's functions for one variant. Private to launcher.c. */
#ifndef EVOTILE_EXPORT_VARIANT_H
#define EVOTILE_EXPORT_VARIANT_H

#include "export/internal.h"

/* Adds admits_N, operations_N if there are several variants, parts_N if any variant has a
   workspace, and run_N; N counts from 1. */
int add_variant(const struct export *export, int variant, struct strbuf *text, struct error *error);

#endif
