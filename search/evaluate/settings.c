#include "evaluate/settings.h"

#include "device/device.h"

#include <stdlib.h>

void evaluation_settings_release(struct evaluation_settings *settings) {
    free(settings->goals);
    *settings = (struct evaluation_settings){0};
}

struct template_setting evaluation_setting(const struct template_setting *setting,
                                           const struct device_info *device) {
    struct template_setting on_device = *setting;
    on_device.device = device;
    on_device.smem_limit = device_smem_limit(device, setting->smem_limit);
    return on_device;
}

struct template *evaluation_template(const struct evaluation_settings *settings, int goal,
                                     const struct device_info *device, struct error *error) {
    const struct template_setting setting = evaluation_setting(&settings->goals[goal], device);
    return template_load(settings->template_folder, &setting, error);
}
