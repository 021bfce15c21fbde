#include "base/json_message.h"

#include <stdbool.h>
#include <string.h>

size_t utf8_length(const char *text, size_t left) {
    const unsigned char *at = (const unsigned char *)text;
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = *at < 0x80 ? 1 : *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
    unsigned code = *at & (length == 1 ? 0x7f : 0xffu >> (length + 1));
    if (length > left || (*at >= 0x80 && *at < 0xc2) || *at > 0xf4 || *at == '\0')
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3f);
    }
    return code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0
                                                                                        : length;
}

static bool is_text(const char *text, size_t size) {
    for (size_t used = 0, length; used < size; used += length)
        if ((length = utf8_length(text + used, size - used)) == 0)
            return false;
    return true;
}

/* cJSON ends a string at \u0000. */
static bool has_nul_escape(const char *text) {
    for (const char *at = strchr(text, '\\'); at != NULL && at[1] != '\0';
         at = strchr(at + 2, '\\'))
        if (strncmp(at + 1, "u0000", 5) == 0)
            return true;
    return false;
}

cJSON *json_parse_message(const char *text, size_t size, size_t limit, struct error *error) {
    if (size > limit) {
        error_input(error, "a message has at most %zu MB: send less", limit >> 20);
        return NULL;
    }
    if (!is_text(text, size)) {
        error_input(error, "the message is not UTF-8 text, or holds a NUL byte: send JSON");
        return NULL;
    }
    if (has_nul_escape(text)) {
        error_input(error, "a text cannot hold \\u0000: remove it");
        return NULL;
    }
    const char *end = NULL;
    cJSON *object = cJSON_ParseWithOpts(text, &end, true);
    if (object == NULL)
        error_input(error, "not valid JSON at byte %zu: look for a missing comma, quote or bracket",
                    end != NULL ? (size_t)(end - text) + 1 : 1);
    return object;
}
