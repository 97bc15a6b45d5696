/* environment.h - where and with what a run was made: the content of environment.json.
 *
 * Callers: sweep, once per run, before the first sample; doctor for what can be counted.
 */
#ifndef SCHEDLAB_ENVIRONMENT_H
#define SCHEDLAB_ENVIRONMENT_H

#include <jansson.h>

/* The whole object, owned by the caller. A fact that is not available is {"absent": "reason"} in
 * place of its value. Initializes PAPI. */
json_t *environment_to_json(void);

/* Its part on events: {domain, events: [{name, source, help, absent?, absent_inherited?}]}, as
 * counted on the calling thread. absent_inherited says why an event that can be counted on one
 * thread cannot be inherited by others, and so is absent where every goroutine has a thread. */
json_t *environment_counting_to_json(void);

/* The same of another list of events than the default one; {absent: reason} if it is malformed. The
 * program's own events can be described once in a process, here or above: libsde keeps a name that
 * was unregistered, and fails when it is registered again. */
json_t *environment_counting_of(const char *events);

#endif
