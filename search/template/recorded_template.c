/* Loads a recorded tuning space as a template. */
#include "base/error.h"
#include "base/path.h"
#include "device/device.h"
#include "device/recorded.h"
#include "template/load.h"

#include <string.h>

int load_recorded_template(struct template *template, const struct template_setting *setting,
                           struct error *error) {
    struct recorded *known = setting != NULL ? setting->recorded : NULL;
    if (setting != NULL && setting->restriction_count > 0)
        return error_input(error, "%s: a recorded space cannot be restricted: remove \"genes\"",
                           template->folder);
    template->recorded =
        known != NULL ? recorded_retain(known) : recorded_read(template->folder, error);
    if (template->recorded == NULL)
        return -1;
    const struct recorded *recorded = template->recorded;
    size_t count = (size_t)recorded->row_count;
    struct hasher *hasher = hasher_new();
    hasher_add(hasher, recorded->genomes, count * sizeof *recorded->genomes);
    hasher_add(hasher, recorded->verdicts, count * sizeof *recorded->verdicts);
    hasher_add(hasher, recorded->times_us, count * sizeof *recorded->times_us);
    template->hash = hasher_finish(hasher);
    space_free(template->space);
    template->space = recorded->space;
    template->device = RECORDED_DEVICE;
    template->case_count = 1;
    snprintf(template->name, sizeof template->name, "%.*s", NAME_SIZE - 1,
             *recorded->kernel_name != '\0' ? recorded->kernel_name : "recorded");
    snprintf(template->about, sizeof template->about, "recorded measurements: %.200s",
             path_name(template->folder));
    return 0;
}

void release_recorded_template(struct template *template) {
    if (template->recorded == NULL)
        return;
    recorded_free(template->recorded); /* also frees its space */
    template->space = NULL;
}
