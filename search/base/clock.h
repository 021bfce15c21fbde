/* clock: seconds for measuring how long things took, and for deadlines. */
#ifndef EVOTILE_BASE_CLOCK_H
#define EVOTILE_BASE_CLOCK_H

/* Since some fixed moment; never goes back. */
double clock_seconds(void);

#endif
