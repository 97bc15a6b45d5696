/* papi_api.h - the calls of PAPI and of its software-defined events that we make, as a table.
 *
 * Callers: counters.c and counter_names.c, through the table only, so that tests can put a
 * machine with other counters, or with faults, in its place. Each member means what the function of
 * the same name in papi.h or sde_lib.h means.
 */
#ifndef SCHEDLAB_PAPI_API_H
#define SCHEDLAB_PAPI_API_H

#include <papi.h>
#include <sde_lib.h>

struct papi_api {
    int (*disable_component_by_name)(const char *name);
    int (*library_init)(int version);
    int (*thread_init)(unsigned long (*id)(void));
    int (*register_thread)(void);
    int (*unregister_thread)(void);
    char *(*strerror)(int error);

    int (*get_component_index)(const char *name);
    const PAPI_component_info_t *(*get_component_info)(int component);
    int (*get_cmp_opt)(int option, PAPI_option_t *value, int component);
    int (*set_cmp_domain)(int domain, int component);

    int (*event_name_to_code)(const char *name, int *code);
    int (*event_code_to_name)(int code, char *name);
    int (*enum_event)(int *code, int modifier);
    int (*enum_cmp_event)(int *code, int modifier, int component);

    int (*create_eventset)(int *set);
    int (*assign_eventset_component)(int set, int component);
    int (*set_opt)(int option, PAPI_option_t *value);
    int (*add_named_event)(int set, const char *name);
    int (*cleanup_eventset)(int set);
    int (*destroy_eventset)(int *set);
    int (*start)(int set);
    int (*read)(int set, long long *values);
    int (*stop)(int set, long long *values);

    papi_handle_t (*sde_init)(const char *library);
    int (*sde_register_counter_cb)(papi_handle_t handle, const char *name, int mode, int type,
                                   papi_sde_fptr_t callback, void *param);
    int (*sde_unregister_counter)(papi_handle_t handle, const char *name);
    int (*sde_describe_counter)(papi_handle_t handle, const char *name, const char *description);
};

/* The library itself. */
extern const struct papi_api papi_api_native;

#endif
