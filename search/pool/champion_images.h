/*
 * champion_images: the machine code of the candidates that became champion, so that duels against
 * them need no compiler. Private to the local pool.
 *
 *     struct champion_images champions;
 *     champion_images_init(&champions);
 *     champion_images_add(&champions, goal, &genome, file);        // a new best trial of its goal
 *     file = champion_images_find(&champions, goal, &genome);      // -1: unknown
 *     champion_images_release(&champions);
 */
#ifndef EVOTILE_POOL_CHAMPION_IMAGES_H
#define EVOTILE_POOL_CHAMPION_IMAGES_H

#include "outcome/outcome.h"
#include "space/genome.h"

/* Of each goal: the champion, and the one before, whose duels may still be queued. */
enum { CHAMPION_IMAGES_PER_GOAL = 2 };

struct champion_images {
    struct {
        struct genome genome;
        int file;                                 /* of pool/image_file.h; -1: none */
    } items[GOALS_MAX][CHAMPION_IMAGES_PER_GOAL]; /* newest first */
};

void champion_images_init(struct champion_images *champions);
void champion_images_release(struct champion_images *champions);
/* Takes ownership of the file; drops the oldest of the goal. */
void champion_images_add(struct champion_images *champions, int goal, const struct genome *genome,
                         int file);
/* Returns the file, which stays the table's; -1 if it has none. */
int champion_images_find(const struct champion_images *champions, int goal,
                         const struct genome *genome);

#endif
