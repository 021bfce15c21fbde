/*
 * gnuplot: the program that draws our pictures, fed a script through a pipe.
 *
 *     FILE *gnuplot = gnuplot_open(&error);       // NULL: not installed, with the remedy
 *     fputs("set output ", gnuplot);
 *     gnuplot_quote("it's.svg", gnuplot);
 *     fputs("\nplot sin(x)\nunset output\n", gnuplot);
 *     if (gnuplot_close(gnuplot, &error) < 0) ...
 *
 * What it complains of goes to stderr. SIGPIPE must be ignored.
 */
#ifndef EVOTILE_RENDER_GNUPLOT_H
#define EVOTILE_RENDER_GNUPLOT_H

#include "base/error.h"

FILE *gnuplot_open(struct error *error);

/* Waits until all is drawn; -1 where something was not. */
int gnuplot_close(FILE *gnuplot, struct error *error);

/* The text in single quotes, in which gnuplot takes everything as it is. A line break, which would
   end the command, becomes a space. */
void gnuplot_quote(const char *text, FILE *gnuplot);

#endif
