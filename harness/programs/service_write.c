/* service_write.c - the program of a service: see service.h.
 *
 * Each connection is a goroutine that serves one request after the other. In a closed loop a client
 * per connection sends a request and waits for its reply. In an open loop each request is a
 * goroutine that comes by the clock, whether or not the connection is free.
 */
#include "harness/base/memory.h"
#include "harness/programs/service.h"
#include "harness/programs/service_steps.h"
#include "workloads/program.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_ARRIVALS = 2, STREAM_THINK = 3 };

/* A goroutine that a request has started. */
struct child {
    const struct service_task *task;
    uint64_t number;
    uint32_t wait; /* which of the connection's waits it ends; 0: none */
};

/* A connection while it is written. */
struct connection {
    const struct service *service;
    int64_t number;
    uint32_t waits;      /* written so far */
    uint32_t *read_wait; /* of each request: the wait with which it is read */
    struct child *children;
    size_t children_count, children_max, waited; /* those before that were waited for */
    FILE *to;
};

/* Steps that are the same everywhere. */
static void write_step(const struct service_step *step, FILE *to)
{
    switch (step->kind) {
    case STEP_CPU:
        fprintf(to, "run %" PRId64 "\n", step->ns);
        break;
    case STEP_LOCK:
        fprintf(to, "lock %s\nrun %" PRId64 "\nunlock %s\n", step->name, step->ns, step->name);
        break;
    case STEP_SLEEP:
        fprintf(to, "sleep %" PRId64 "\n", step->ns);
        break;
    case STEP_CALL:
        fprintf(to, "call %" PRId64 "\n", step->ns);
        break;
    case STEP_SEND:
        fprintf(to, "send %s\n", step->name);
        break;
    case STEP_RECEIVE:
        fprintf(to, "receive %s\n", step->name);
        break;
    default:
        break;
    }
}

static void write_steps(const struct service_task *task, FILE *to)
{
    for (unsigned i = 0; i < task->steps_count; i++) {
        struct service_step step = service_step_of(task->steps[i]);
        write_step(&step, to);
    }
}

static void write_io(const struct service *service, FILE *to)
{
    if (service->io_ns > 0)
        fprintf(to, "call cpu %" PRId64 "\n", service->io_ns);
}

/* Connections ---------------------------------------------------------------------------------- */

static void spawn(struct connection *self, const char *name)
{
    const struct service_task *task = self->service->tasks;
    while (strcmp(task->name, name) != 0)
        task++;
    uint64_t number = self->children_count;
    array_push(self->children, self->children_count, self->children_max) =
        (struct child){task, number, 0};
    fprintf(self->to, "go task-%" PRId64 "-%" PRIu64 "\n", self->number, number);
}

static void wait_for_children(struct connection *self)
{
    for (; self->waited < self->children_count; self->waited++) {
        fputs("wait spawned\n", self->to);
        self->children[self->waited].wait = ++self->waits;
    }
}

static void reply(const struct connection *self, int64_t request)
{
    write_io(self->service, self->to);
    if (self->service->rate > 0)
        fprintf(self->to, "wake request-%" PRId64 "\n", request);
    else
        fprintf(self->to, "wake client-%" PRId64 "\n", self->number);
}

static void serve(struct connection *self, int64_t request)
{
    const struct service_class *class = service_class_of(self->service, request);
    bool has_replied = false;
    fputs("wait " PROGRAM_NETWORK "\n", self->to);
    self->read_wait[request] = ++self->waits;
    write_io(self->service, self->to);
    for (unsigned i = 0; i < class->steps_count; i++) {
        struct service_step step = service_step_of(class->steps[i]);
        if (step.kind == STEP_SPAWN)
            spawn(self, step.name);
        else if (step.kind == STEP_WAIT)
            wait_for_children(self);
        else if (step.kind == STEP_WRITE)
            reply(self, request);
        else
            write_step(&step, self->to);
        has_replied |= step.kind == STEP_WRITE;
    }
    if (!has_replied)
        reply(self, request);
    self->waited = self->children_count; /* the next request waits for its own */
}

static void write_children(const struct connection *self)
{
    for (size_t i = 0; i < self->children_count; i++) {
        const struct child *child = &self->children[i];
        fprintf(self->to, "goroutine task-%" PRId64 "-%" PRIu64 " %s\n", self->number,
                child->number, child->task->name);
        write_steps(child->task, self->to);
        if (child->wait > 0)
            fprintf(self->to, "wake connection-%" PRId64 " %" PRIu32 "\n", self->number,
                    child->wait);
        fputs("end\n", self->to);
    }
}

/* Requests go to connections in turn. */
static void write_connection(struct connection *self)
{
    const struct service *service = self->service;
    fprintf(self->to, "goroutine connection-%" PRId64 " connection\n", self->number);
    self->waits = 0;
    self->children_count = self->waited = 0;
    for (int64_t i = 0; i < service->requests; i++)
        serve(self, i * service->clients + self->number);
    fputs("end\n", self->to);
    write_children(self);
}

/* Clients -------------------------------------------------------------------------------------- */

static void write_request(const struct connection *self, int64_t request)
{
    fprintf(self->to, "begin %s\nwake connection-%" PRId64 " %" PRIu32 "\nwait reply\ndone\n",
            service_class_of(self->service, request)->name, request % self->service->clients,
            self->read_wait[request]);
}

/* Clients think before each request, and not all begin at once. */
static void write_client(const struct connection *self, int64_t client)
{
    const struct service *service = self->service;
    fprintf(self->to, "goroutine client-%" PRId64 " client\n", client);
    for (int64_t i = 0; i < service->requests; i++) {
        int64_t think_ns = service->think_ns;
        if (i == 0 && think_ns > 0)
            think_ns = (int64_t)(service_random(service, STREAM_THINK, (uint64_t)client) %
                                 (uint64_t)think_ns);
        if (think_ns > 0)
            fprintf(self->to, "sleep %" PRId64 "\n", think_ns);
        write_request(self, i * service->clients + client);
    }
    fputs("end\n", self->to);
}

/* Gaps between arrivals are independent and exponential. */
static void write_arrivals(const struct connection *self)
{
    const struct service *service = self->service;
    double at_ns = 0;
    for (int64_t i = 0; i < service->clients * service->requests; i++) {
        uint64_t bits = service_random(service, STREAM_ARRIVALS, (uint64_t)i) >> 11;
        at_ns -= log(((double)bits + 1) / 9007199254740992.0) * 1e9 / (double)service->rate;
        fprintf(self->to, "goroutine request-%" PRId64 " request\npoll at %" PRId64 "\n", i,
                (int64_t)at_ns);
        write_request(self, i);
        fputs("end\n", self->to);
    }
}

/* Workers share out the messages beforehand; who takes which one is decided when it comes. */
static void write_workers(const struct service *service, const struct service_task *worker,
                          FILE *to)
{
    struct service_step first = service_step_of(worker->steps[0]);
    int64_t messages = service_messages(service, first.name);
    for (int64_t i = 0; i < worker->count; i++) {
        int64_t rounds = messages / worker->count + (i < messages % worker->count);
        fprintf(to, "goroutine worker-%s-%" PRId64 " %s\n", worker->name, i, worker->name);
        for (int64_t round = 0; round < rounds; round++)
            write_steps(worker, to);
        fputs("end\n", to);
    }
}

void service_write(const struct service *service, FILE *to)
{
    size_t requests = (size_t)(service->clients * service->requests);
    struct connection self = {
        .service = service, .to = to, .read_wait = xcalloc(requests, sizeof *self.read_wait)};
    fprintf(to, PROGRAM_HEAD " %d\n# service %s\n", PROGRAM_VERSION, service->name);
    for (self.number = 0; self.number < service->clients; self.number++)
        write_connection(&self);
    for (unsigned i = 0; i < service->workers_count; i++)
        write_workers(service, &service->workers[i], to);
    if (service->rate > 0)
        write_arrivals(&self);
    for (int64_t i = 0; service->rate == 0 && i < service->clients; i++)
        write_client(&self, i);
    free(self.children);
    free(self.read_wait);
}
