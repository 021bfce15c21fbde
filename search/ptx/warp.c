/* Lane divergence and reconvergence of a warp (rules in machine.h). */
#include "ptx/execute.h"
#include "ptx/instrument.h"

/* A loop in which some lanes wait for an action of others (a spin lock) would never end if the
   lowest pc always had priority. After BACK_JUMPS_MAX backward jumps the oldest group runs for
   GRACE instructions. */
enum { BACK_JUMPS_MAX = 4096, GRACE = 1024 };

void warp_park(struct warp *warp, uint32_t mask, enum group_state state, uint32_t members) {
    warp->active &= ~mask;
    warp->parked[warp->parked_count++] =
        (struct divergent_group){warp->pc, mask, state, members, warp->tick};
}

static void resume_group(struct warp *warp, int index) {
    warp->pc = warp->parked[index].pc;
    warp->active = warp->parked[index].mask;
    warp->parked[index] = warp->parked[--warp->parked_count];
}

/* The ready group with the lowest pc or, by age, the one that was parked first; -1: none. */
static int first_ready(const struct warp *warp, bool by_age) {
    int first = -1;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < warp->parked_count; i++) {
        const struct divergent_group *group = &warp->parked[i];
        uint64_t rank = by_age ? group->since : group->pc;
        if (group->state == GROUP_READY && rank < least) {
            first = i;
            least = rank;
        }
    }
    return first;
}

/* Groups at bar.warp.sync synchronise even if they are at different bar.warp.sync instructions (PTX
   ISA 9.7.13.3). */
static bool release_at_warp_barrier(struct warp *warp) {
    for (int i = 0; i < warp->parked_count; i++) {
        if (warp->parked[i].state != GROUP_AWAITS_LANES)
            continue;
        uint32_t members = warp->parked[i].members, arrived = 0, group_mask = 0;
        for (int j = i; j < warp->parked_count; j++) {
            const struct divergent_group *other = &warp->parked[j];
            if (other->state == GROUP_AWAITS_LANES && other->members == members &&
                warp->kernel->code[other->pc].execute == execute_bar_warp_sync) {
                arrived |= other->mask;
                group_mask |= 1u << j;
            }
        }
        if (!group_mask || (members & warp->live & ~arrived))
            continue;
        if (warp->block->racecheck)
            instrument_warp_sync(warp, arrived);
        FOR_EACH_LANE(j, group_mask) {
            warp->parked[j].state = GROUP_READY;
            warp->parked[j].pc++;
        }
        return true;
    }
    return false;
}

/* Whether the group needs another warp or an event to continue. */
static bool is_waiting(const struct divergent_group *group) {
    return group->state == GROUP_AT_BARRIER || group->state == GROUP_AWAITS_EVENT;
}

/* Merges groups at the current pc, switches to a group at a lower pc, and sets stop_pc. */
static void reschedule(struct warp *warp) {
    if (!warp->grace) {
        int lowest = first_ready(warp, false);
        if (lowest >= 0 && warp->parked[lowest].pc < warp->pc) {
            warp_park(warp, warp->active, GROUP_READY, 0);
            resume_group(warp, lowest);
        }
    }
    warp->stop_pc = NO_PC;
    for (int i = 0; i < warp->parked_count;) {
        struct divergent_group *other = &warp->parked[i];
        if (!is_waiting(other) && other->pc == warp->pc) {
            warp->active |= other->mask;
            *other = warp->parked[--warp->parked_count];
            continue;
        }
        if (!is_waiting(other) && other->pc > warp->pc && other->pc < warp->stop_pc)
            warp->stop_pc = other->pc;
        i++;
    }
    if (!warp->parked_count)
        warp->back_jumps = warp->grace = 0;
}

/* Resumes a ready group; false if all wait or none is left. */
static bool pick_group(struct warp *warp) {
    int lowest = first_ready(warp, false);
    if (lowest < 0) {
        if (!release_at_warp_barrier(warp))
            return false;
        lowest = first_ready(warp, false);
    }
    resume_group(warp, lowest);
    reschedule(warp);
    return true;
}

enum action warp_branch(struct warp *warp, uint32_t taken, uint32_t target) {
    uint32_t stay = warp->active & ~taken;
    critical_path_branch(warp);
    if (warp->parked_count + (stay != 0) && target <= warp->pc)
        warp->back_jumps++;
    if (stay) {
        warp->pc++;
        warp_park(warp, stay, GROUP_READY, 0);
    }
    warp->pc = target;
    if (warp->back_jumps > BACK_JUMPS_MAX) {
        int oldest = first_ready(warp, true);
        warp->back_jumps = 0;
        if (oldest >= 0) {
            warp_park(warp, warp->active, GROUP_READY, 0);
            resume_group(warp, oldest);
            warp->grace = GRACE;
        }
    }
    return ACTION_JUMP;
}

enum action warp_branch_subset(struct warp *warp, uint32_t mask, uint32_t taken, uint32_t target) {
    uint32_t skip = warp->active & ~mask, others = mask & ~taken;
    if (others)
        warp_park(warp, others, GROUP_READY, 0);
    if (skip) {
        warp->pc++;
        warp_park(warp, skip, GROUP_READY, 0);
        warp->pc--;
    }
    return warp_branch(warp, taken, target);
}

enum action warp_exit(struct warp *warp, uint32_t mask) {
    warp->active &= ~mask;
    warp->live &= ~mask;
    if (!warp->live)
        block_signal_event(warp->block);
    cluster_barrier_try_complete(warp->block->cluster);
    for (int i = 0; i < warp->parked_count; i++)
        if (warp->parked[i].state == GROUP_AWAITS_LANES)
            warp->parked[i].state = GROUP_READY;
    return warp->active ? ACTION_NEXT : ACTION_WAIT;
}

void warp_release(struct warp *warp, int barrier) {
    for (int i = 0; i < warp->parked_count; i++) {
        struct divergent_group *group = &warp->parked[i];
        if (group->state != GROUP_AT_BARRIER || group->members != (uint32_t)barrier)
            continue;
        if (warp->block->racecheck)
            instrument_leave(warp, sync_key_barrier(warp->block->rank, (unsigned)barrier),
                             group->mask);
        finish_barrier_reduction(warp, &warp->kernel->code[group->pc], group->mask,
                                 &warp->block->barriers[barrier]);
        if (critical_path_pace(warp))
            critical_path_wait(warp, warp->block->barriers[barrier].arrived_at +
                                         critical_path_pace(warp)->barrier);
        group->pc++;
        group->state = GROUP_READY;
    }
}

enum action warp_await_event(struct warp *warp, uint32_t mask) {
    critical_path_repeat(warp);
    warp_park(warp, mask, GROUP_AWAITS_EVENT, (uint32_t)warp->block->cluster->events);
    return warp->active ? ACTION_NEXT : ACTION_WAIT;
}

enum action warp_yield_group(struct warp *warp, uint32_t mask) {
    critical_path_repeat(warp);
    warp_park(warp, mask, GROUP_AWAITS_EVENT, (uint32_t)warp->block->cluster->events - 1);
    return warp->active ? ACTION_NEXT : ACTION_WAIT;
}

void warp_wake(struct warp *warp, bool every) {
    for (int i = 0; i < warp->parked_count; i++) {
        struct divergent_group *group = &warp->parked[i];
        if (group->state == GROUP_AWAITS_EVENT &&
            (every || group->members != (uint32_t)warp->block->cluster->events))
            group->state = GROUP_READY;
    }
}

enum action warp_run(struct warp *warp, uint32_t budget) {
    const struct instruction *code = warp->kernel->code;
    const bool follows = critical_path_pace(warp) != NULL;
    uint64_t start = warp->tick;
    enum action action = ACTION_WAIT;
    while (warp->tick - start < budget) {
        if (!warp->active) {
            if (!pick_group(warp))
                break;
            action = ACTION_NEXT;
        }
        warp->tick++;
        if (warp->grace && --warp->grace == 0)
            reschedule(warp);
        const struct instruction *instruction = &code[warp->pc];
        uint32_t mask = warp->active;
        if (instruction->guard >= 0) {
            uint32_t predicate = *(uint32_t *)(warp->registers + instruction->guard);
            mask &= instruction->guard_negated ? ~predicate : predicate;
        }
        if (follows)
            critical_path_start(warp, instruction);
        action = mask ? instruction->execute(warp, instruction, mask) : ACTION_NEXT;
        if (follows)
            critical_path_finish(warp, instruction);
        if (action == ACTION_NEXT || action == ACTION_YIELD) {
            warp->pc++;
            if (warp->pc >= warp->stop_pc)
                reschedule(warp);
            if (action == ACTION_YIELD)
                break;
        } else if (action == ACTION_JUMP) {
            if (warp->parked_count)
                reschedule(warp);
        } else if (action == ACTION_FAULT) {
            break;
        }
    }
    warp->block->counts->warp_instructions += warp->tick - start;
    return action;
}
