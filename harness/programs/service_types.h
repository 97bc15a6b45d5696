/* service_types.h - a service file once it was read. Callers: service*.c. */
#ifndef SCHEDLAB_SERVICE_TYPES_H
#define SCHEDLAB_SERVICE_TYPES_H

#include <stdint.h>

/* Steps are texts, "cpu 50us". The file's texts are beside the numbers that they stand for. */
struct service_class {
    char *name, *weight_text;
    char **steps;
    unsigned steps_count;
    int64_t weight, requests; /* how many requests are of this class */
};

struct service_task {
    char *name, *count_text;
    char **steps;
    unsigned steps_count;
    int64_t count; /* of goroutines: only for workers */
};

struct service {
    char *name;
    char *clients_text, *requests_text, *rate_text, *think_text, *io_text, *seed_text;
    struct service_class *classes;
    struct service_task *tasks, *workers;
    unsigned classes_count, tasks_count, workers_count;
    int64_t clients, requests, rate, think_ns, io_ns, seed; /* rate 0: a closed loop */
};

#endif
