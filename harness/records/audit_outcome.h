/* audit_outcome.h - the possible results of an audit, as audit.json says them.
 *
 * Callers: audit.c, which writes it, and report_audit.c, which reads it.
 */
#ifndef SCHEDLAB_AUDIT_OUTCOME_H
#define SCHEDLAB_AUDIT_OUTCOME_H

/* Says nothing: no part fails, but the largest slowdown is found in fewer than AUDIT_POWER_MIN of
 * the comparisons. If so little can be found, finding nothing among equals proves nothing. */
#define AUDIT_POWER_MIN 0.5
enum audit_outcome { AUDIT_HOLDS, AUDIT_FAILS, AUDIT_SAYS_NOTHING };

/* "holds", "does not hold", "says nothing" */
const char *audit_outcome_text(enum audit_outcome outcome);

#endif
