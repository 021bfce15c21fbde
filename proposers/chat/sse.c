/* sse: reads server-sent events. */
#include "proposers/chat/sse.h"

#include <string.h>

static void end_event(struct sse *sse, sse_event *event, void *context) {
    if (sse->has_data)
        event(context, sse->data.bytes, sse->data.used);
    sse->data.used = 0;
    sse->has_data = false;
}

static void end_line(struct sse *sse, sse_event *event, void *context) {
    const char *line = sse->line.bytes;
    size_t length = sse->line.used;
    sse->line.used = 0;
    if (length == 0) {
        end_event(sse, event, context);
        return;
    }
    if (length < 4 || memcmp(line, "data", 4) != 0 || (length > 4 && line[4] != ':'))
        return;
    size_t start = length > 4 ? 5 : 4;
    if (start < length && line[start] == ' ')
        start++;
    if (sse->has_data)
        strbuf_add(&sse->data, "\n", 1);
    strbuf_add(&sse->data, line + start, length - start);
    sse->has_data = true;
}

bool sse_feed(struct sse *sse, const char *bytes, size_t count, sse_event *event, void *context) {
    for (size_t i = 0; i < count && !sse->too_long; i++) {
        bool second = sse->after_cr && bytes[i] == '\n';
        sse->after_cr = bytes[i] == '\r';
        if (second)
            continue;
        if (bytes[i] == '\n' || bytes[i] == '\r')
            end_line(sse, event, context);
        else
            strbuf_add(&sse->line, bytes + i, 1);
        sse->too_long = sse->line.used + sse->data.used > SSE_EVENT_BYTES_MAX;
    }
    return !sse->too_long;
}

void sse_release(struct sse *sse) {
    strbuf_release(&sse->line);
    strbuf_release(&sse->data);
    *sse = (struct sse){0};
}
