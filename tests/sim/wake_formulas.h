/* wake_formulas.h - sim_formulas.c and wake_formulas.c, to each other. */
#ifndef SCHEDLAB_TESTS_WAKE_FORMULAS_H
#define SCHEDLAB_TESTS_WAKE_FORMULAS_H

#include <jansson.h>

/* The measured number may be off by so much either way, or the test fails. Every claim is kept for
 * --json. Within a test of cmocka. */
void claim(const char *what, double formula, double bound, double measured);
extern json_t *claims;

/* Holds the formulas of wake_formulas.c, on a machine of their own: in another process, to be
 * called before sim_run(). Adds their claims to `claims`. Returns 0 if all hold. */
int wake_formulas(void);

#endif
