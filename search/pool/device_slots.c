#include "pool/device_slots.h"

#include <math.h>

/* A device fails when a run of lost trials of this length has at most this probability, given
   the rate of lost trials on the other devices. */
static const double quarantine_probability = 1e-6;

void device_slots_init(struct device_slots *slots, const struct device_list *list) {
    *slots = (struct device_slots){.count = list->count};
    for (int p = 0; p < list->count; p++)
        snprintf(slots->items[p].info.spec, sizeof slots->items[p].info.spec, "%s", list->specs[p]);
}

int device_slots_active_count(const struct device_slots *slots) {
    int left = 0;
    for (int p = 0; p < slots->count; p++)
        left += !slots->items[p].quarantined;
    return left;
}

int device_slots_first_active(const struct device_slots *slots) {
    for (int p = 0; p < slots->count; p++)
        if (slots->items[p].described && !slots->items[p].quarantined)
            return p;
    return -1;
}

bool device_slots_all_described(const struct device_slots *slots) {
    for (int p = 0; p < slots->count; p++)
        if (!slots->items[p].described && !slots->items[p].quarantined)
            return false;
    return true;
}

int device_slots_describe(struct device_slots *slots, int slot, const struct device_info *info,
                          struct error *error) {
    int first = device_slots_first_active(slots);
    if (first >= 0 && !device_same_model(&slots->items[first].info, info))
        return error_input(error,
                           "%s is %s and %s is %s: figures of two models do not mix; give each "
                           "model a run of its own with --device",
                           slots->items[first].info.spec, slots->items[first].info.name, info->spec,
                           info->name);
    slots->items[slot].info = *info; /* includes the spec that `auto` resolved to */
    slots->items[slot].described = true;
    slots->items[slot].failed_starts = 0;
    return 0;
}

int device_slots_record_trial(struct device_slots *slots, int slot, enum verdict verdict,
                              struct error *error) {
    struct device_slot *device_slot = &slots->items[slot];
    int trial_count = 0, lost_count = 0;
    bool is_lost =
        verdict == VERDICT_CRASHED || verdict == VERDICT_TIMEOUT || verdict == VERDICT_LOST;
    device_slot->trial_count++;
    device_slot->lost_count += is_lost;
    device_slot->consecutive_lost = is_lost ? device_slot->consecutive_lost + 1 : 0;
    for (int p = 0; p < slots->count; p++) {
        trial_count += p != slot ? slots->items[p].trial_count : 0;
        lost_count += p != slot ? slots->items[p].lost_count : 0;
    }
    if (!is_lost || device_slots_active_count(slots) == 1 ||
        pow((lost_count + 1.0) / (trial_count + 2.0), device_slot->consecutive_lost) >
            quarantine_probability)
        return 0;
    return error_set(
        error,
        "its last %d trials all crashed or hung, but only %d of the other devices' %d; see "
        "nvidia-smi",
        device_slot->consecutive_lost, lost_count, trial_count);
}
