/* audit_outcome.c - see audit_outcome.h. */
#include "harness/records/audit_outcome.h"

const char *audit_outcome_text(enum audit_outcome outcome)
{
    static const char *const texts[] = {[AUDIT_HOLDS] = "holds",
                                        [AUDIT_FAILS] = "does not hold",
                                        [AUDIT_SAYS_NOTHING] = "says nothing"};
    return texts[outcome];
}
