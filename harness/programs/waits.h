/* waits.h - counts what goroutines of a trace waited for, and where. Callers: import.c. */
#ifndef SCHEDLAB_WAITS_H
#define SCHEDLAB_WAITS_H

#include "harness/programs/import_facts.h"

/* One wait for `word` in that function; "": unknown. */
void waits_count(struct import_facts *facts, const char *word, const char *function, int64_t ns);

#endif
