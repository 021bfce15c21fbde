/* Any text from the queue's server: it is a description or a beat, or is refused; what is taken
   stays within its bounds and prints as text that is taken again as the same. */
#include "queue/notice.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_path(const char *path) {
    if (*path == '/' || strstr(path, "../") == path || strstr(path, "/../") != NULL ||
        strcmp(path, "..") == 0)
        BUG("a file may be written to %s", path);
}

static void as_description(const char *text) {
    struct description first, second;
    struct error error = {0};
    if (description_parse(&first, text, &error) < 0)
        return;
    for (int f = 0; f < first.file_count; f++)
        check_path(first.files[f].path);
    char *printed = description_print(&first);
    if (description_parse(&second, printed, &error) < 0)
        BUG("%s: %s", error.text, printed);
    char *again = description_print(&second);
    if (strcmp(printed, again) != 0)
        BUG("%s\nreads as\n%s", printed, again);
    free(printed);
    free(again);
    description_release(&first);
    description_release(&second);
}

static void as_beat(const char *text) {
    struct beat first, second;
    struct error error = {0};
    if (beat_parse(&first, text, &error) < 0)
        return;
    char *printed = beat_print(&first);
    if (beat_parse(&second, printed, &error) < 0)
        BUG("%s: %s", error.text, printed);
    free(printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = strndup((const char *)data, size);
    if (text == NULL)
        abort();
    as_description(text);
    as_beat(text);
    free(text);
    return 0;
}
