/* service_steps.c - see service_steps.h. */
#include "harness/programs/service_steps.h"

#include "harness/spec/spec.h"
#include "workloads/workload.h"

#include <inttypes.h>
#include <string.h>

enum { WORDS_MAX = 3, TEXT_SIZE = 256 };

static const struct {
    const char *word;
    bool has_name, has_time;
    const char *form;
} forms[STEP_KINDS] = {
    [STEP_READ] = {"read", false, false, "read"},
    [STEP_CPU] = {"cpu", false, true, "cpu TIME"},
    [STEP_LOCK] = {"lock", true, true, "lock NAME TIME"},
    [STEP_SLEEP] = {"sleep", false, true, "sleep TIME"},
    [STEP_CALL] = {"call", false, true, "call TIME"},
    [STEP_SEND] = {"send", true, false, "send NAME"},
    [STEP_RECEIVE] = {"receive", true, false, "receive NAME"},
    [STEP_SPAWN] = {"spawn", true, false, "spawn TASK"},
    [STEP_WAIT] = {"wait", false, false, "wait"},
    [STEP_WRITE] = {"write", false, false, "write"},
};

bool service_time(const char *text, int64_t *ns)
{
    struct error why;
    const int64_t most_ns = INT64_C(60000000000);
    return (strcmp(text, "0") == 0 && (*ns = 0) == 0) ||
           option_time("time", text, 1000, 1, most_ns, ns, &why);
}

static bool complain_of_kind(struct error *to, const char *word, unsigned kinds, const char *owner)
{
    char valid[TEXT_SIZE] = "";
    for (unsigned kind = 0; kind < STEP_KINDS; kind++)
        if (kinds >> kind & 1)
            snprintf(valid + strlen(valid), sizeof valid - strlen(valid), "%s%s",
                     *valid ? ", " : "", forms[kind].form);
    return error_quote(to, "\"%s\" is no step of %s; valid: %s", word, owner, valid);
}

bool service_step_read(struct service_step *step, const char *text, unsigned kinds,
                       const char *owner, struct error *why)
{
    char copy[TEXT_SIZE], *words[WORDS_MAX + 1] = {NULL}, *rest = copy;
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word; count <= WORDS_MAX && (word = strsep(&rest, " \t"));)
        if (*word)
            words[count++] = word;
    unsigned kind = 0;
    while (count > 0 && kind < STEP_KINDS &&
           !(strcmp(words[0], forms[kind].word) == 0 && kinds >> kind & 1))
        kind++;
    if (count == 0 || kind == STEP_KINDS)
        return complain_of_kind(why, count ? words[0] : "", kinds, owner);
    *step = (struct service_step){.kind = (enum service_step_kind)kind};
    const char *name = forms[kind].has_name ? words[1] : NULL;
    const char *ns = forms[kind].has_time ? words[1 + forms[kind].has_name] : NULL;
    if (count != 1U + forms[kind].has_name + forms[kind].has_time ||
        (name && strlen(name) >= SERVICE_NAME_SIZE))
        return error_quote(why, "\"%s\" is not valid; write \"%s\"", text, forms[kind].form);
    if (name)
        snprintf(step->name, sizeof step->name, "%s", name);
    return !ns || service_time(ns, &step->ns) ||
           error_quote(why, "%s \"%s\" is not valid; valid: %s", words[0], ns, SERVICE_TIMES);
}

struct service_step service_step_of(const char *text)
{
    struct service_step step = {.kind = STEP_KINDS};
    struct error why;
    service_step_read(&step, text, STEPS_OF_CLASS, "", &why);
    return step;
}

uint64_t service_random(const struct service *service, uint64_t stream, uint64_t number)
{
    return digest_mix(digest_mix((uint64_t)service->seed + digest_mix(stream)) + number);
}

const struct service_class *service_class_of(const struct service *service, int64_t request)
{
    int64_t all = 0;
    for (unsigned i = 0; i < service->classes_count; i++)
        all += service->classes[i].weight;
    int64_t at = (int64_t)(service_random(service, 1, (uint64_t)request) % (uint64_t)(all + !all));
    const struct service_class *class = service->classes;
    while (at >= class->weight)
        at -= class ++->weight;
    return class;
}

/* Messages ------------------------------------------------------------------------------------- */

/* Sent less received by one pass through the steps, the first `skip` of them aside. */
static int64_t balance_of(char *const *steps, unsigned count, unsigned skip, const char *channel)
{
    int64_t balance = 0;
    for (unsigned i = skip; i < count; i++) {
        struct service_step step = service_step_of(steps[i]);
        if (strcmp(step.name, channel) == 0)
            balance += (step.kind == STEP_SEND) - (step.kind == STEP_RECEIVE);
    }
    return balance;
}

static int64_t tasks_balance(const struct service *service, const struct service_class *class,
                             const char *channel)
{
    int64_t balance = 0;
    for (unsigned i = 0; i < class->steps_count; i++) {
        struct service_step step = service_step_of(class->steps[i]);
        for (unsigned k = 0; step.kind == STEP_SPAWN && k < service->tasks_count; k++)
            if (strcmp(service->tasks[k].name, step.name) == 0)
                balance +=
                    balance_of(service->tasks[k].steps, service->tasks[k].steps_count, 0, channel);
    }
    return balance;
}

static const struct service_task *worker_on(const struct service *service, const char *channel)
{
    for (unsigned i = 0; i < service->workers_count; i++)
        if (strcmp(service_step_of(service->workers[i].steps[0]).name, channel) == 0)
            return &service->workers[i];
    return NULL;
}

/* depth: workers feed each other, and not in circles. */
static int64_t messages(const struct service *service, const char *channel, unsigned depth)
{
    int64_t count = 0;
    for (unsigned i = 0; i < service->classes_count; i++) {
        const struct service_class *class = &service->classes[i];
        count += class->requests * (balance_of(class->steps, class->steps_count, 0, channel) +
                                    tasks_balance(service, class, channel));
    }
    for (unsigned i = 0; i < service->workers_count && depth < service->workers_count; i++) {
        const struct service_task *worker = &service->workers[i];
        struct service_step first = service_step_of(worker->steps[0]);
        int64_t each = balance_of(worker->steps, worker->steps_count, 1, channel);
        if (each != 0 && strcmp(first.name, channel) != 0)
            count += each * messages(service, first.name, depth + 1);
    }
    return count;
}

int64_t service_messages(const struct service *service, const char *channel)
{
    return messages(service, channel, 0);
}

static bool list_check(const struct yaml_reader *reader, const struct service *service,
                       const char *list, unsigned number, char *const *steps, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct service_step step = service_step_of(steps[i]);
        size_t line = yaml_line(reader, "%s/%u/steps/%u", list, number, i);
        int64_t left = step.kind == STEP_RECEIVE || step.kind == STEP_SEND
                           ? service_messages(service, step.name)
                           : 0;
        if (left < 0)
            return yaml_complain(reader, line,
                                 "channel \"%s\" has %" PRId64 " messages less than are received",
                                 step.name, -left);
        if (left > 0 && !worker_on(service, step.name))
            return yaml_complain(reader, line,
                                 "%" PRId64 " messages to channel \"%s\" are received by nobody; "
                                 "write a worker whose first step is \"receive %s\"",
                                 left, step.name, step.name);
    }
    return true;
}

static bool tasks_check(const struct yaml_reader *reader, const struct service *service,
                        const char *list, const struct service_task *tasks, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!list_check(reader, service, list, i, tasks[i].steps, tasks[i].steps_count))
            return false;
    return true;
}

bool service_messages_check(const struct yaml_reader *reader, const struct service *service)
{
    for (unsigned i = 0; i < service->classes_count; i++)
        if (!list_check(reader, service, "classes", i, service->classes[i].steps,
                        service->classes[i].steps_count))
            return false;
    return tasks_check(reader, service, "tasks", service->tasks, service->tasks_count) &&
           tasks_check(reader, service, "workers", service->workers, service->workers_count);
}
