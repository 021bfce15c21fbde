/* Any text as a config of templates/softmax_rows: it is read, or rejected with a position; if it is
   read, its template loads or gives an error. Runs in the top folder. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct device_info device = {
    .compute_capability = 89,
    .sm_count = 58,
    .registers_per_sm = 65536,
    .threads_per_sm = 1536,
};

static void use(const struct config *config) {
    char name[CASE_NAME_SIZE];
    struct error error = {0};
    for (int goal = 0; goal < config_goal_count(config); goal++)
        config_goal_name(config, goal, name);
    struct template *template = config_load_template(config, 0, &device, &error);
    if (template == NULL && error.kind != ERROR_INPUT)
        BUG("no reason: %s", error.text);
    template_free(template);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    char *text = malloc(size + 1);
    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    struct config *config = config_from_text("fuzz.json", text, "templates/softmax_rows", &error);
    if (config != NULL)
        use(config);
    else if (error.kind != ERROR_INPUT || strncmp(error.text, "fuzz.json", 9) != 0)
        BUG("refused without a place: %s", error.text);
    config_free(config);
    free(text);
    return 0;
}
