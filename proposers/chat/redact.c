/* redact: keeps a secret out of texts. */
#include "proposers/chat/redact.h"

#include "base/memory.h"
#include "base/strbuf.h"

#include <string.h>

/* How many bytes of `text` are a part of the key; 0 if fewer than `least`. */
static size_t secret_length(const char *text, const char *key, size_t least) {
    size_t longest = 0;
    for (const char *from = key; *from != '\0'; from++) {
        size_t length = 0;
        while (from[length] != '\0' && text[length] == from[length])
            length++;
        longest = length > longest ? length : longest;
    }
    return longest >= least ? longest : 0;
}

char *redact_text(const char *text, const char *key) {
    struct strbuf out = {0};
    size_t least = key != NULL ? strlen(key) : 0;
    if (least == 0)
        return xstrdup(text);
    least = least < REDACT_PART ? least : REDACT_PART;
    strbuf_add(&out, "", 0);
    while (*text != '\0') {
        size_t secret = secret_length(text, key, least);
        if (secret > 0)
            strbuf_add(&out, "[key]", 5);
        else
            strbuf_add(&out, text, 1);
        text += secret > 0 ? secret : 1;
    }
    return out.bytes;
}
