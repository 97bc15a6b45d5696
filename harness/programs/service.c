/* service.c - see service.h. Reads and checks the file; service_write.c makes the program. */
#include "harness/programs/service.h"

#include "harness/base/yaml_reader.h"
#include "harness/programs/service_steps.h"
#include "harness/spec/spec.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { PLACE_SIZE = 128 };

static const int64_t TOTAL_MAX = 5000000, SECOND_NS = 1000000000;

/* Schema --------------------------------------------------------------------------------------- */

static const cyaml_schema_field_t class_fields[] = {
    YAML_TEXT("name", struct service_class, name),
    YAML_MAY_TEXT("weight", struct service_class, weight_text),
    YAML_LIST("steps", struct service_class, steps, yaml_text),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t task_fields[] = {
    YAML_TEXT("name", struct service_task, name),
    YAML_MAY_TEXT("count", struct service_task, count_text),
    YAML_LIST("steps", struct service_task, steps, yaml_text),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t class_schema = YAML_ENTRY(struct service_class, class_fields);
static const cyaml_schema_value_t task_schema = YAML_ENTRY(struct service_task, task_fields);

static const cyaml_schema_field_t service_fields[] = {
    YAML_TEXT("service", struct service, name),
    YAML_TEXT("clients", struct service, clients_text),
    YAML_TEXT("requests", struct service, requests_text),
    YAML_MAY_TEXT("rate", struct service, rate_text),
    YAML_MAY_TEXT("think", struct service, think_text),
    YAML_MAY_TEXT("io", struct service, io_text),
    YAML_MAY_TEXT("seed", struct service, seed_text),
    YAML_LIST("classes", struct service, classes, class_schema),
    YAML_MAY_LIST("tasks", struct service, tasks, task_schema),
    YAML_MAY_LIST("workers", struct service, workers, task_schema),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t service_schema = YAML_FILE(struct service, service_fields);

static const struct yaml_owner owners[] = {{service_fields, "a service"},
                                           {class_fields, "a class"},
                                           {task_fields, "a task or worker"},
                                           {NULL, NULL}};

/* Numbers -------------------------------------------------------------------------------------- */

/* text NULL: the key is left out, which *value stands for. */
static bool number(const struct yaml_reader *reader, const char *place, const char *key,
                   const char *text, int64_t most, int64_t *value)
{
    if (!text || (spec_parse_number(text, "1", value) && *value >= 1 && *value <= most))
        return true;
    return yaml_complain(reader, yaml_key_line(reader, place, key),
                         "%s is \"%s\"; valid: 1 to %" PRId64, key, text, most);
}

static bool time(const struct yaml_reader *reader, const char *key, const char *text, int64_t *ns)
{
    if (!text || service_time(text, ns))
        return true;
    return yaml_complain(reader, yaml_key_line(reader, "", key), "%s is \"%s\"; valid: %s", key,
                         text, SERVICE_TIMES);
}

static bool numbers_check(const struct yaml_reader *reader, struct service *service)
{
    bool right = number(reader, "", "clients", service->clients_text, 100000, &service->clients);
    right &= number(reader, "", "requests", service->requests_text, 1000000, &service->requests);
    right &= number(reader, "", "rate", service->rate_text, SECOND_NS, &service->rate);
    right &= number(reader, "", "seed", service->seed_text, INT64_MAX, &service->seed);
    right &= time(reader, "think", service->think_text, &service->think_ns);
    right &= time(reader, "io", service->io_text, &service->io_ns);
    if (right && service->clients * service->requests > TOTAL_MAX)
        right = yaml_complain(reader, yaml_key_line(reader, "", "requests"),
                              "clients * requests is %" PRId64 "; valid: up to %" PRId64,
                              service->clients * service->requests, TOTAL_MAX);
    if (service->rate > 0 && service->think_ns > 0)
        right = yaml_complain(reader, yaml_key_line(reader, "", "think"),
                              "think is of a closed loop, and rate of an open one; leave one out");
    return right;
}

/* Steps ---------------------------------------------------------------------------------------- */

static bool name_check(const struct yaml_reader *reader, const char *place, const char *name)
{
    const char *at = name;
    while (isalnum((unsigned char)*at) || *at == '_')
        at++;
    if (*name && !*at && strlen(name) < SERVICE_NAME_SIZE)
        return true;
    return yaml_complain(reader, yaml_key_line(reader, place, "name"),
                         "name \"%s\" is not valid; valid: up to %d of a-z, A-Z, 0-9 and _", name,
                         SERVICE_NAME_SIZE - 1);
}

static bool task_exists(const struct service *service, const char *name)
{
    for (unsigned i = 0; i < service->tasks_count; i++)
        if (strcmp(service->tasks[i].name, name) == 0)
            return true;
    return false;
}

/* kinds: a bit for each kind of step that is valid there; owner: "a class". */
static bool steps_check(const struct yaml_reader *reader, const struct service *service,
                        const char *place, const char *owner, char *const *steps, unsigned count,
                        unsigned kinds)
{
    bool right = true, has_written = false;
    for (unsigned i = 0; i < count; i++) {
        struct error why;
        struct service_step step;
        size_t line = yaml_line(reader, "%s/steps/%u", place, i);
        if (!service_step_read(&step, steps[i], kinds, owner, &why))
            right = yaml_complain(reader, line, "%s", why.text);
        else if (step.kind == STEP_SPAWN && !task_exists(service, step.name))
            right = yaml_complain(reader, line, "there is no task \"%s\" below tasks", step.name);
        else if (step.kind == STEP_READ && i > 0)
            right = yaml_complain(reader, line, "read is the first step; it may be left out");
        else if (step.kind == STEP_WRITE && has_written)
            right = yaml_complain(reader, line, "write is there twice; a request has one reply");
        has_written |= step.kind == STEP_WRITE;
    }
    return right;
}

static bool classes_check(const struct yaml_reader *reader, struct service *service)
{
    bool right = true;
    for (unsigned i = 0; i < service->classes_count; i++) {
        struct service_class *class = &service->classes[i];
        char place[PLACE_SIZE];
        snprintf(place, sizeof place, "classes/%u", i);
        class->weight = 1;
        right &= number(reader, place, "weight", class->weight_text, 1000000, &class->weight);
        right &= name_check(reader, place, class->name);
        right &= steps_check(reader, service, place, "a class", class->steps, class->steps_count,
                             STEPS_OF_CLASS);
    }
    return right;
}

static bool tasks_check(const struct yaml_reader *reader, struct service *service)
{
    bool right = true;
    for (unsigned i = 0; i < service->tasks_count; i++) {
        struct service_task *task = &service->tasks[i];
        char place[PLACE_SIZE];
        snprintf(place, sizeof place, "tasks/%u", i);
        if (task->count_text)
            right = yaml_complain(reader, yaml_key_line(reader, place, "count"),
                                  "count is for workers; a task runs once for each spawn");
        right &= name_check(reader, place, task->name);
        right &= steps_check(reader, service, place, "a task", task->steps, task->steps_count,
                             STEPS_OF_TASK);
    }
    return right;
}

/* A worker lives on one channel, and a channel has one kind of worker. */
static bool worker_check(const struct yaml_reader *reader, struct service *service, unsigned i)
{
    struct service_task *worker = &service->workers[i];
    char place[PLACE_SIZE];
    struct error why;
    struct service_step first, other;
    snprintf(place, sizeof place, "workers/%u", i);
    worker->count = 1;
    bool right = number(reader, place, "count", worker->count_text, 100000, &worker->count);
    right &= name_check(reader, place, worker->name);
    right &= steps_check(reader, service, place, "a worker", worker->steps, worker->steps_count,
                         STEPS_OF_TASK);
    if (!service_step_read(&first, worker->steps[0], STEPS_OF_TASK, "", &why))
        return false;
    if (first.kind != STEP_RECEIVE)
        return yaml_complain(reader, yaml_line(reader, "%s/steps/0", place),
                             "the first step of a worker is \"receive NAME\", and it makes all of "
                             "them for each message");
    for (unsigned k = 0; k < i; k++)
        if (service_step_read(&other, service->workers[k].steps[0], STEPS_OF_TASK, "", &why) &&
            strcmp(first.name, other.name) == 0)
            return yaml_complain(reader, yaml_line(reader, "%s/steps/0", place),
                                 "worker %s lives on channel \"%s\" already; raise its count",
                                 service->workers[k].name, first.name);
    return right;
}

struct service *service_load(const char *path, struct error *error)
{
    static const struct yaml_schema schema = {
        .value = &service_schema, .owners = owners, .where = "docs/PROGRAMS.md"};
    struct yaml_reader reader;
    if (!yaml_reader_open(&reader, path, error))
        return NULL;
    struct service *service = yaml_reader_load(&reader, &schema, NULL);
    bool right = service != NULL;
    if (right) {
        service->seed = 1;
        right = numbers_check(&reader, service);
        right &= classes_check(&reader, service);
        right &= tasks_check(&reader, service);
        for (unsigned i = 0; i < service->workers_count; i++)
            right &= worker_check(&reader, service, i);
    }
    for (int64_t i = 0; right && i < service->clients * service->requests; i++)
        service->classes[service_class_of(service, i) - service->classes].requests++;
    if (right && !*reader.error->text)
        right = service_messages_check(&reader, service);
    right = right && !*reader.error->text;
    yaml_reader_close(&reader);
    if (right)
        return service;
    service_free(service);
    return NULL;
}

void service_free(struct service *service)
{
    if (service)
        yaml_data_free(&service_schema, service, 0);
}
