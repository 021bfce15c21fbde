/*
 * acquisition: how much a model expects of a trial, from its predicted mean and variance; the
 * candidate with the largest value is proposed. Values are positive; less is better in what is
 * predicted.
 *
 *     double gain = acquisition_expected_improvement(best, mean, variance);
 */
#ifndef EVOTILE_STRATEGY_ACQUISITION_H
#define EVOTILE_STRATEGY_ACQUISITION_H

/* The expected improvement on `best` (Jones, Schonlau and Welch, "Efficient global optimization
   of expensive black-box functions", 1998). */
double acquisition_expected_improvement(double best, double mean, double variance);

/* The lower confidence bound at three standard deviations, mapped to a positive value to maximise
   (Srinivas et al., "Gaussian process optimization in the bandit setting", 2010). */
double acquisition_confidence_bound(double mean, double variance);

#endif
