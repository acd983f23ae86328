/* SPDX-License-Identifier: BSD-2-Clause */
/* Student's distribution, and the beta function that its tails are values of. */
#ifndef OPK_STUDENT_H
#define OPK_STUDENT_H

/* The regularized incomplete beta function I_x(a, b). */
double opk_incomplete_beta(double x, double a, double b);
/* The probability of a value at least as far from 0 as `far`; `freedom` > 0, or infinite. */
double opk_student_tails(double far, double freedom);
/* The distance from 0 that values exceed with the probability 1 - `level`; 0 < `level` < 1. */
double opk_student_quantile(double level, double freedom);

#endif
