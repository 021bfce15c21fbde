/* Any text: it is read or rejected; if it is read, the document can be walked, and every value has
   a position. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Queries the position of at most `*left` values, because each query walks the text. */
static void walk(const struct json *value, int *left) {
    static const char *const keys[] = {"template", "cases", NULL};
    struct error error = {0};
    const char *string;
    double number;
    int64_t whole;
    bool flag;
    if ((*left)-- <= 0)
        return;
    (void)json_error(value, &error, "here");
    if (json_string(value, &string, &error) == 0 && strlen(string) >= strlen(value->document->text))
        BUG("a string longer than its text");
    (void)json_number(value, &number, &error);
    (void)json_integer(value, &whole, &error);
    (void)json_bool(value, &flag, &error);
    (void)json_check_keys(value, keys, &error);
    for (int i = 0; i < json_count(value) && i < 100; i++) {
        struct json member = json_at(value, i);
        struct json found;
        if (json_key(&member) != NULL &&
            (!json_find(value, json_key(&member), &found) || found.value != member.value))
            BUG("a key is not found again");
        walk(&member, left);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct json_document document;
    struct error error = {0};
    char *text = malloc(size + 1);
    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    if (json_read_text(&document, "fuzz.json", text, &error) == 0) {
        struct json root = json_root(&document);
        int left = 50;
        walk(&root, &left);
        json_release(&document);
    } else if (error.kind != ERROR_INPUT || strncmp(error.text, "fuzz.json:", 10) != 0) {
        BUG("refused without a place: %s", error.text);
    }
    free(text);
    return 0;
}
