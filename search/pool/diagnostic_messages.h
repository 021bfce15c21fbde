/*
 * diagnostic_messages: a trial's diagnostics (evaluate/diagnostics.h) as a value of a message.
 *
 *     struct diagnostics *diagnostics = diagnostics_new();
 *     cJSON *object = message_print_diagnostics(diagnostics);
 *     bool ok = true;
 *     struct diagnostics *read = message_read_diagnostics(object, &ok);
 *     cJSON_Delete(object);
 *     diagnostics_free(diagnostics);
 *     diagnostics_free(read);
 */
#ifndef EVOTILE_POOL_DIAGNOSTIC_MESSAGES_H
#define EVOTILE_POOL_DIAGNOSTIC_MESSAGES_H

#include "evaluate/diagnostics.h"

#include <cjson/cJSON.h>

cJSON *message_print_diagnostics(const struct diagnostics *diagnostics);
/* The caller frees it, also if it clears `ok`. */
struct diagnostics *message_read_diagnostics(const cJSON *object, bool *ok);

#endif
