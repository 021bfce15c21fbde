#include "serve/metrics_text.h"

#include "base/strbuf.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The characters of a metric's name. */
static void add_name(struct strbuf *text, const char *key) {
    strbuf_print(text, "evotile_");
    for (const char *at = key; *at != '\0'; at++)
        strbuf_print(text, "%c", isalnum((unsigned char)*at) ? *at : '_');
}

static void add_label(struct strbuf *text, const char *label) {
    strbuf_print(text, "{name=\"");
    for (const char *at = label; *at != '\0'; at++)
        if (*at == '\n')
            strbuf_print(text, "\\n");
        else
            strbuf_print(text, "%s%c", *at == '"' || *at == '\\' ? "\\" : "", *at);
    strbuf_print(text, "\"}");
}

static void add_type(struct strbuf *text, const char *key) {
    size_t length = strlen(key);
    bool counts = length > 6 && strcmp(key + length - 6, "_total") == 0;
    strbuf_print(text, "# TYPE ");
    add_name(text, key);
    strbuf_print(text, " %s\n", counts ? "counter" : "gauge");
}

static void add_parts(struct strbuf *text, const cJSON *metric) {
    char position[16];
    int index = 0;
    bool first = true;
    for (const cJSON *part = metric->child; part != NULL; part = part->next, index++) {
        if (!cJSON_IsNumber(part))
            continue;
        if (first)
            add_type(text, metric->string);
        first = false;
        snprintf(position, sizeof position, "%d", index);
        add_name(text, metric->string);
        add_label(text, part->string != NULL ? part->string : position);
        strbuf_print(text, " %.17g\n", part->valuedouble);
    }
}

char *metrics_text(const cJSON *metrics) {
    struct strbuf text = {0};
    strbuf_add(&text, "", 0);
    for (const cJSON *metric = metrics->child; metric != NULL; metric = metric->next) {
        if (cJSON_IsNumber(metric)) {
            add_type(&text, metric->string);
            add_name(&text, metric->string);
            strbuf_print(&text, " %.17g\n", metric->valuedouble);
        } else {
            add_parts(&text, metric);
        }
    }
    return text.bytes;
}
