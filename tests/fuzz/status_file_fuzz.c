/* Any text as a run's status.json: it is read, or rejected with the file's name; if it is read,
   printing and reading it again gives the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "session/status_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print(const struct run_status *status) {
    cJSON *object = run_status_json(status);
    char *text = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    if (text == NULL)
        abort();
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct run_status first, second;
    char *text = malloc(size + 1);
    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    if (run_status_parse(&first, "status.json", text, &error) < 0) {
        if (strstr(error.text, "status.json") == NULL)
            BUG("refused without a place: %s", error.text);
    } else {
        char *printed = print(&first);
        if (run_status_parse(&second, "again", printed, &error) < 0)
            BUG("%s: %s", error.text, printed);
        char *again = print(&second);
        if (strcmp(printed, again) != 0)
            BUG("%s\nreads as\n%s", printed, again);
        cJSON_free(printed);
        cJSON_free(again);
    }
    free(text);
    return 0;
}
