/*
 * settings: what evaluating a candidate needs to know of its run: the template, the cases of each
 * goal, the limits and the timing. evaluate/ knows no config: pool/settings.h makes these from one.
 *
 *     struct evaluation_settings settings;
 *     evaluation_settings_from_config(&settings, config);      // pool/settings.h
 *     struct template *template = evaluation_template(&settings, goal, &device->info, &error);
 */
#ifndef EVOTILE_EVALUATE_SETTINGS_H
#define EVOTILE_EVALUATE_SETTINGS_H

#include "outcome/minimised.h"
#include "outcome/timing.h"
#include "template/template.h"

struct evaluation_settings {
    const char *template_folder;
    struct timing timing;
    enum minimised minimise; /* by a search's trials; requested ones are scored by latency */
    const double *weights;   /* of the cases of a joint goal; NULL: all are equal. Borrowed */
    int goal_count;
    /* These name no device and hold the limits that are set, whatever the device allows. */
    struct template_setting *goals; /* owned */
    struct template_setting
        held_out; /* the cases on which only champions are verified; maybe none */
};

void evaluation_settings_release(struct evaluation_settings *settings);

/* Returns a setting with the device in it, and the limits reduced to the device's. */
struct template_setting evaluation_setting(const struct template_setting *setting,
                                           const struct device_info *device);
/* Loads the template for the cases of a goal, or NULL with `error`. */
struct template *evaluation_template(const struct evaluation_settings *settings, int goal,
                                     const struct device_info *device, struct error *error);

#endif
