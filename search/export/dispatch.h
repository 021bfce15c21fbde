/*
 * dispatch: what an export has of the tree that chooses among its variants. Private to export/.
 *
 *     if (dispatch_is_exported(export))
 *         dispatch_add_tree(export, values);           // for the launcher
 */
#ifndef EVOTILE_EXPORT_DISPATCH_H
#define EVOTILE_EXPORT_DISPATCH_H

#include "export/internal.h"

/* Whether a tree chooses: of one variant there is nothing to choose. */
bool dispatch_is_exported(const struct export *export);
/* Adds `tree` and `orders` for launcher.c.in. */
void dispatch_add_tree(const struct export *export, cJSON *values);
/* Adds `dispatch`, a comment, for header.h.in; empty if no tree chooses. */
void dispatch_add_comment(const struct export *export, cJSON *values);
/* Adds the object of the manifest, if there is one. */
void dispatch_add_manifest(const struct export *export, cJSON *root);

#endif
