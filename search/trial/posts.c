#include "trial/posts.h"

#include <math.h>

/* A device fails when a run of lost trials of this length has at most this probability, given
   the rate of lost trials on the other devices. */
static const double bad_luck = 1e-6;

void posts_init(struct posts *posts, const struct device_list *list) {
    *posts = (struct posts){.count = list->count};
    for (int p = 0; p < list->count; p++)
        snprintf(posts->items[p].info.spec, sizeof posts->items[p].info.spec, "%s", list->specs[p]);
}

int posts_left(const struct posts *posts) {
    int left = 0;
    for (int p = 0; p < posts->count; p++)
        left += !posts->items[p].set_aside;
    return left;
}

int posts_first(const struct posts *posts) {
    for (int p = 0; p < posts->count; p++)
        if (posts->items[p].known && !posts->items[p].set_aside)
            return p;
    return -1;
}

bool posts_all_known(const struct posts *posts) {
    for (int p = 0; p < posts->count; p++)
        if (!posts->items[p].known && !posts->items[p].set_aside)
            return false;
    return true;
}

int posts_take(struct posts *posts, int post, const struct device_info *info, struct error *error) {
    int first = posts_first(posts);
    if (first >= 0 && !device_same_model(&posts->items[first].info, info))
        return error_input(error,
                           "%s is %s and %s is %s: figures of two models do not mix; give each "
                           "model a run of its own with --device",
                           posts->items[first].info.spec, posts->items[first].info.name, info->spec,
                           info->name);
    posts->items[post].info = *info; /* includes the spec that `auto` resolved to */
    posts->items[post].known = true;
    posts->items[post].deaths = 0;
    return 0;
}

int posts_note(struct posts *posts, int post, enum verdict verdict, struct error *error) {
    struct post *its = &posts->items[post];
    int done = 0, lost = 0;
    bool is_lost = verdict == VERDICT_CRASHED || verdict == VERDICT_TIMEOUT;
    its->done++;
    its->lost += is_lost;
    its->lost_in_a_row = is_lost ? its->lost_in_a_row + 1 : 0;
    for (int p = 0; p < posts->count; p++) {
        done += p != post ? posts->items[p].done : 0;
        lost += p != post ? posts->items[p].lost : 0;
    }
    if (!is_lost || posts_left(posts) == 1 ||
        pow((lost + 1.0) / (done + 2.0), its->lost_in_a_row) > bad_luck)
        return 0;
    return error_set(
        error,
        "its last %d trials all crashed or hung, but only %d of the other devices' %d; see "
        "nvidia-smi",
        its->lost_in_a_row, lost, done);
}
