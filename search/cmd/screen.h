/* screen: draws what is known of a run on a canvas, however large that is: for `watch`, in a
 * terminal and in a file. */
#ifndef EVOTILE_CMD_SCREEN_H
#define EVOTILE_CMD_SCREEN_H

#include "cmd/canvas.h"
#include "cmd/live.h"

/* `by_trials`: the curve's axis is trials, else hours since the run was begun. */
void screen_draw(const struct live *live, bool by_trials, struct canvas *canvas);

/* The same in one line, for a log: "searching for 0:12:30, 4351 trials, 12.9/s, best 7.094 us". */
void screen_line(const struct live *live, char *text, size_t size);

#endif
