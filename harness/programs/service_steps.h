/* service_steps.h - the steps of a service file, and how often each is made.
 *
 * Callers: service.c, service_write.c.
 */
#ifndef SCHEDLAB_SERVICE_STEPS_H
#define SCHEDLAB_SERVICE_STEPS_H

#include "harness/base/error.h"
#include "harness/base/yaml_reader.h"
#include "harness/programs/service_types.h"

#include <stdbool.h>

#define SERVICE_TIMES "0 to 60 s, as in 50us, 2ms or 1s; plain numbers are us"

enum { SERVICE_NAME_SIZE = 64 };

enum service_step_kind {
    STEP_READ,
    STEP_CPU,
    STEP_LOCK, /* for a time */
    STEP_SLEEP,
    STEP_CALL,
    STEP_SEND,
    STEP_RECEIVE,
    STEP_SPAWN,
    STEP_WAIT, /* for all that were spawned */
    STEP_WRITE,
    STEP_KINDS
};

enum {
    STEPS_OF_CLASS = (1 << STEP_KINDS) - 1,
    STEPS_OF_TASK = 1 << STEP_CPU | 1 << STEP_LOCK | 1 << STEP_SLEEP | 1 << STEP_CALL |
                    1 << STEP_SEND | 1 << STEP_RECEIVE
};

struct service_step {
    enum service_step_kind kind;
    char name[SERVICE_NAME_SIZE];
    int64_t ns;
};

/* kinds: a bit for each that is valid. False, and one line in why; owner: whose steps these are. */
bool service_step_read(struct service_step *step, const char *text, unsigned kinds,
                       const char *owner, struct error *why);

/* The step of a text that was read before. */
struct service_step service_step_of(const char *text);

bool service_time(const char *text, int64_t *ns);

/* The class of a request: 0 to clients * requests - 1. */
const struct service_class *service_class_of(const struct service *service, int64_t request);

/* How many messages workers take from the channel: those that requests do not receive. */
int64_t service_messages(const struct service *service, const char *channel);

/* True if no more messages are received than sent, of each channel. */
bool service_messages_check(const struct yaml_reader *reader, const struct service *service);

/* A random number of the service's seed. */
uint64_t service_random(const struct service *service, uint64_t stream, uint64_t number);

#endif
