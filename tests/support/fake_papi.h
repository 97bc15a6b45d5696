/* fake_papi.h - a PAPI of our own making, for tests of counting: machines with a PMU, without one,
 * with faults.
 *
 * EventSets are arrays of counters that a test advances by name. The fake knows the rules that
 * shape counters.c: one running set per thread and component, so many PMU counters and no more,
 * domains, inheritance. fake.thread says which thread the calls come from.
 */
#ifndef SCHEDLAB_TESTS_FAKE_PAPI_H
#define SCHEDLAB_TESTS_FAKE_PAPI_H

#include "harness/counters/papi_api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { SETS_MAX = 64, EVENTS_MAX = 96, NAME_SIZE = 80, NO_THREAD = -1 };
enum { COMPONENT_PERF, COMPONENT_SDE };

struct fake_set {
    bool used, running, inherits, sde;
    int thread;
    int count;
    char name[EVENTS_MAX][NAME_SIZE];
    long long value[EVENTS_MAX];
};

static struct fake {
    int version;      /* what library_init() returns */
    int pmu_counters; /* how many PMU events fit into one set */
    int sde_counters; /* how many software-defined ones */
    int available_domains, default_domain;
    const char *broken;                                   /* an event that cannot be added */
    int start_fails_on, read_fails_on, register_fails_on; /* threads */
    int inherit_error;
    PAPI_component_info_t component[2];
    struct fake_set set[SETS_MAX];
    int thread;
    int threads_registered;
    struct {
        papi_sde_fptr_t read;
        void *param;
        char name[NAME_SIZE];
        int mode;
    } sde[EVENTS_MAX];
    int sde_count;
} fake;

static void fake_reset(void)
{
    memset(&fake, 0, sizeof fake);
    fake.version = PAPI_VER_CURRENT;
    fake.pmu_counters = 4;
    fake.sde_counters = EVENTS_MAX;
    fake.available_domains = PAPI_DOM_USER | PAPI_DOM_KERNEL;
    fake.start_fails_on = fake.read_fails_on = fake.register_fails_on = NO_THREAD;
    fake.component[COMPONENT_PERF].available_domains = fake.available_domains;
    fake.component[COMPONENT_PERF].fast_counter_read = 1;
}

static bool is_pmu(const char *name)
{
    return strncmp(name, "PAPI_", 5) == 0;
}

/* The library --------------------------------------------------------------------------------- */

static int fake_disable_component_by_name(const char *name)
{
    assert_true(*name);
    return PAPI_OK;
}

static int fake_library_init(int version)
{
    (void)version;
    return fake.version;
}

static int fake_thread_init(unsigned long (*id)(void))
{
    (void)id;
    return PAPI_OK;
}

static int fake_register_thread(void)
{
    if (fake.thread == fake.register_fails_on)
        return PAPI_ENOMEM;
    fake.threads_registered++;
    return PAPI_OK;
}

static int fake_unregister_thread(void)
{
    fake.threads_registered--;
    return PAPI_OK;
}

static char *fake_strerror(int error)
{
    switch (error) {
    case PAPI_ENOEVNT:
        return "Event does not exist";
    case PAPI_ECNFLCT:
        return "Event exists, but cannot be counted";
    case PAPI_ENOMEM:
        return "Insufficient memory";
    case PAPI_EISRUN:
        return "EventSet is currently running";
    case PAPI_EPERM:
        return "Permission level does not permit operation";
    default:
        return "some error";
    }
}

static int fake_get_component_index(const char *name)
{
    return strcmp(name, "perf_event") == 0 ? COMPONENT_PERF : COMPONENT_SDE;
}

static const PAPI_component_info_t *fake_get_component_info(int component)
{
    return &fake.component[component];
}

static int fake_get_cmp_opt(int option, PAPI_option_t *value, int component)
{
    assert_int_equal(option, PAPI_COMPONENTINFO);
    value->cmp_info = &fake.component[component];
    return PAPI_OK;
}

static int fake_set_cmp_domain(int domain, int component)
{
    assert_int_equal(component, COMPONENT_PERF);
    fake.default_domain = domain & fake.component[component].available_domains;
    return PAPI_OK;
}

/* Names: three presets and four kernel events. */
static const char *const fake_names[] = {
    "PAPI_L1_DCM",       "PAPI_TOT_CYC", "PAPI_TOT_INS",       "perf::CONTEXT-SWITCHES",
    "perf::PAGE-FAULTS", "perf::CYCLES", "perf::INSTRUCTIONS",
};
enum { FAKE_NAMES = sizeof fake_names / sizeof fake_names[0], FAKE_PRESETS = 3 };

static int fake_event_name_to_code(const char *name, int *code)
{
    for (int i = 0; i < FAKE_NAMES; i++) {
        if (strcmp(fake_names[i], name) == 0) {
            *code = i;
            return PAPI_OK;
        }
    }
    return PAPI_ENOEVNT;
}

static int fake_event_code_to_name(int code, char *name)
{
    snprintf(name, NAME_SIZE, "%s", fake_names[code]);
    return PAPI_OK;
}

static int fake_enum_event(int *code, int modifier)
{
    *code = modifier == PAPI_ENUM_FIRST ? 0 : *code + 1;
    return *code < FAKE_PRESETS ? PAPI_OK : PAPI_ENOEVNT;
}

static int fake_enum_cmp_event(int *code, int modifier, int component)
{
    assert_int_equal(component, COMPONENT_PERF);
    *code = modifier == PAPI_ENUM_FIRST ? FAKE_PRESETS : *code + 1;
    return *code < FAKE_NAMES ? PAPI_OK : PAPI_ENOEVNT;
}

/* EventSets ----------------------------------------------------------------------------------- */

static int fake_create_eventset(int *id)
{
    for (int i = 0; i < SETS_MAX; i++) {
        if (!fake.set[i].used) {
            fake.set[i] = (struct fake_set){.used = true, .thread = fake.thread};
            *id = i;
            return PAPI_OK;
        }
    }
    return PAPI_ENOMEM;
}

static int fake_assign_eventset_component(int id, int component)
{
    assert_true(fake.set[id].used);
    assert_int_equal(component, COMPONENT_PERF);
    return PAPI_OK;
}

static int fake_set_opt(int option, PAPI_option_t *value)
{
    assert_int_equal(option, PAPI_INHERIT);
    if (fake.inherit_error != PAPI_OK)
        return fake.inherit_error;
    fake.set[value->inherit.eventset].inherits = value->inherit.inherit == PAPI_INHERIT_ALL;
    return PAPI_OK;
}

static int fake_add_named_event(int id, const char *name)
{
    struct fake_set *set = &fake.set[id];
    int pmu = 0;
    assert_true(set->used && !set->running);
    if (fake.broken && strcmp(fake.broken, name) == 0)
        return PAPI_ENOEVNT;
    for (int i = 0; i < set->count; i++)
        pmu += is_pmu(set->name[i]);
    if (is_pmu(name) && pmu >= fake.pmu_counters)
        return pmu == 0 ? PAPI_ENOEVNT : PAPI_ECNFLCT;
    set->sde = strncmp(name, "sde:::", 6) == 0;
    if (set->sde && set->count >= fake.sde_counters)
        return PAPI_ECNFLCT;
    snprintf(set->name[set->count++], NAME_SIZE, "%s", name);
    return PAPI_OK;
}

static int fake_start(int id)
{
    struct fake_set *set = &fake.set[id];
    if (set->thread == fake.start_fails_on && !set->sde)
        return PAPI_EPERM;
    for (int i = 0; i < SETS_MAX; i++)
        if (fake.set[i].running && fake.set[i].thread == set->thread && fake.set[i].sde == set->sde)
            return PAPI_EISRUN;
    set->running = true;
    memset(set->value, 0, sizeof set->value);
    return PAPI_OK;
}

static int fake_read(int id, long long *values)
{
    struct fake_set *set = &fake.set[id];
    assert_true(set->running);
    if (set->thread == fake.read_fails_on)
        return PAPI_EPERM;
    for (int i = 0; i < set->count; i++) {
        values[i] = set->value[i];
        for (int k = 0; set->sde && k < fake.sde_count; k++)
            if (strcmp(fake.sde[k].name, strrchr(set->name[i], ':') + 1) == 0)
                values[i] = fake.sde[k].read(fake.sde[k].param);
    }
    return PAPI_OK;
}

static int fake_stop(int id, long long *values)
{
    for (int i = 0; i < fake.set[id].count; i++)
        values[i] = fake.set[id].value[i];
    fake.set[id].running = false;
    return PAPI_OK;
}

static int fake_cleanup_eventset(int id)
{
    assert_false(fake.set[id].running);
    fake.set[id].count = 0;
    return PAPI_OK;
}

static int fake_destroy_eventset(int *id)
{
    fake.set[*id].used = false;
    *id = PAPI_NULL;
    return PAPI_OK;
}

/* The program's own events -------------------------------------------------------------------- */

static papi_handle_t fake_sde_init(const char *library)
{
    assert_string_equal(library, "schedlab");
    return &fake;
}

static int fake_sde_register(papi_handle_t handle, const char *name, int mode, int type,
                             papi_sde_fptr_t callback, void *param)
{
    assert_ptr_equal(handle, &fake);
    assert_int_equal(type, PAPI_SDE_long_long);
    snprintf(fake.sde[fake.sde_count].name, NAME_SIZE, "%s", name);
    fake.sde[fake.sde_count].mode = mode;
    fake.sde[fake.sde_count].read = callback;
    fake.sde[fake.sde_count++].param = param;
    return SDE_OK;
}

static int fake_sde_unregister(papi_handle_t handle, const char *name)
{
    (void)handle;
    for (int i = 0; i < fake.sde_count; i++)
        if (strcmp(fake.sde[i].name, name) == 0)
            fake.sde[i].read = NULL;
    return SDE_OK;
}

static int fake_sde_describe(papi_handle_t handle, const char *name, const char *description)
{
    (void)handle;
    assert_true(*name && *description);
    return SDE_OK;
}

static const struct papi_api fake_api = {
    .disable_component_by_name = fake_disable_component_by_name,
    .library_init = fake_library_init,
    .thread_init = fake_thread_init,
    .register_thread = fake_register_thread,
    .unregister_thread = fake_unregister_thread,
    .strerror = fake_strerror,
    .get_component_index = fake_get_component_index,
    .get_component_info = fake_get_component_info,
    .get_cmp_opt = fake_get_cmp_opt,
    .set_cmp_domain = fake_set_cmp_domain,
    .event_name_to_code = fake_event_name_to_code,
    .event_code_to_name = fake_event_code_to_name,
    .enum_event = fake_enum_event,
    .enum_cmp_event = fake_enum_cmp_event,
    .create_eventset = fake_create_eventset,
    .assign_eventset_component = fake_assign_eventset_component,
    .set_opt = fake_set_opt,
    .add_named_event = fake_add_named_event,
    .cleanup_eventset = fake_cleanup_eventset,
    .destroy_eventset = fake_destroy_eventset,
    .start = fake_start,
    .read = fake_read,
    .stop = fake_stop,
    .sde_init = fake_sde_init,
    .sde_register_counter_cb = fake_sde_register,
    .sde_unregister_counter = fake_sde_unregister,
    .sde_describe_counter = fake_sde_describe,
};

#endif
