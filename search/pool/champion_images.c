#include "pool/champion_images.h"

#include <string.h>
#include <unistd.h>

enum { LAST = CHAMPION_IMAGES_PER_GOAL - 1 };

static void close_file(int file) {
    if (file >= 0)
        close(file);
}

void champion_images_init(struct champion_images *champions) {
    for (int goal = 0; goal < GOALS_MAX; goal++)
        for (int i = 0; i < CHAMPION_IMAGES_PER_GOAL; i++)
            champions->items[goal][i].file = -1;
}

void champion_images_release(struct champion_images *champions) {
    for (int goal = 0; goal < GOALS_MAX; goal++)
        for (int i = 0; i < CHAMPION_IMAGES_PER_GOAL; i++)
            close_file(champions->items[goal][i].file);
    champion_images_init(champions);
}

void champion_images_add(struct champion_images *champions, int goal, const struct genome *genome,
                         int file) {
    close_file(champions->items[goal][LAST].file);
    memmove(&champions->items[goal][1], &champions->items[goal][0],
            LAST * sizeof champions->items[goal][0]);
    champions->items[goal][0].genome = *genome;
    champions->items[goal][0].file = file;
}

int champion_images_find(const struct champion_images *champions, int goal,
                         const struct genome *genome) {
    for (int i = 0; i < CHAMPION_IMAGES_PER_GOAL; i++)
        if (champions->items[goal][i].file >= 0 &&
            genome_equal(&champions->items[goal][i].genome, genome))
            return champions->items[goal][i].file;
    return -1;
}
