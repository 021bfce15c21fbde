/*
 * metrics_text: metrics in the text format of Prometheus.
 *
 *     char *text = metrics_text(metrics);
 *     free(text);
 *
 * A number under the key "clients" is evotile_clients 3. Those of an object under "tasks" are
 * evotile_tasks{name="waiting"} 2 and so on; those of a list have their position as a name. Other
 * values are left out. A key that ends with _total is a counter, any other a gauge.
 */
#ifndef EVOTILE_SERVE_METRICS_TEXT_H
#define EVOTILE_SERVE_METRICS_TEXT_H

#include <cjson/cJSON.h>

/* The caller frees it. */
char *metrics_text(const cJSON *metrics);

#endif
