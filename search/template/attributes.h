/*
 * attributes: what a template's expressions may read of the device. Private to template/.
 *
 *     int64_t values[ATTRIBUTE_COUNT];
 *     attributes_read(&setting, values); // values[i] is that of attribute_names[i]
 */
#ifndef EVOTILE_TEMPLATE_ATTRIBUTES_H
#define EVOTILE_TEMPLATE_ATTRIBUTES_H

#include "template/template.h"

enum { ATTRIBUTE_COUNT = 9 };

extern const char *const attribute_names[ATTRIBUTE_COUNT]; /* SM_COUNT, SMEM_LIMIT ... */

/* Of the setting's device, which must be known. */
void attributes_read(const struct template_setting *setting, int64_t values[ATTRIBUTE_COUNT]);

#endif
