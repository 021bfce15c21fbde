/* Any text from the queue's server: it is a description or a heartbeat, or is rejected; an accepted
   message is within its bounds, contains no terminal control sequences, and printing and reading it
   again gives the same. */
#include "remote/messages.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_path(const char *path) {
    if (*path == '/' || strstr(path, "../") == path || strstr(path, "/../") != NULL ||
        strcmp(path, "..") == 0)
        BUG("a file may be written to %s", path);
}

static void check_words(const char *words) {
    for (const unsigned char *at = (const unsigned char *)words; *at != '\0'; at++)
        if (*at < 0x20 || *at == 0x7f || (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0))
            BUG("a terminal would obey '%s'", words);
}

static void check_place(const struct platform *platform) {
    check_words(platform->device.spec);
    check_words(platform->device.name);
    check_words(platform->device.driver);
    check_words(platform->nvrtc);
    check_words(platform->method);
}

static void as_description(const char *text) {
    struct run_description first, second;
    struct error error = {0};
    if (run_description_parse(&first, text, &error) < 0) {
        check_words(error.text);
        return;
    }
    check_words(first.name);
    check_place(&first.platform);
    for (int f = 0; f < first.file_count; f++) {
        check_path(first.files[f].path);
        check_words(first.files[f].path);
    }
    char *printed = run_description_print(&first);
    if (run_description_parse(&second, printed, &error) < 0)
        BUG("%s: %s", error.text, printed);
    char *again = run_description_print(&second);
    if (strcmp(printed, again) != 0)
        BUG("%s\nreads as\n%s", printed, again);
    free(printed);
    free(again);
    run_description_release(&first);
    run_description_release(&second);
}

static void as_beat(const char *text) {
    struct heartbeat first, second;
    struct error error = {0};
    if (heartbeat_parse(&first, text, &error) < 0) {
        check_words(error.text);
        return;
    }
    check_words(first.host);
    check_place(&first.platform);
    char *printed = heartbeat_print(&first);
    if (heartbeat_parse(&second, printed, &error) < 0)
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
