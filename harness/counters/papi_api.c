/* papi_api.c - see papi_api.h. */
#include "harness/counters/papi_api.h"

#if defined(SCHEDLAB_ASAN)
/* libsde keeps the names it is given until the process ends, and loses the pointers to some. So
 * does libpapi with texts of events that it is asked about. Other leaks are still told. Called by
 * LeakSanitizer. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:allocate_and_insert\nleak:libsde\nleak:libpapi\n"; /* linked in, and shared */
}
#endif

const struct papi_api papi_api_native = {
    .disable_component_by_name = PAPI_disable_component_by_name,
    .library_init = PAPI_library_init,
    .thread_init = PAPI_thread_init,
    .register_thread = PAPI_register_thread,
    .unregister_thread = PAPI_unregister_thread,
    .strerror = PAPI_strerror,
    .get_component_index = PAPI_get_component_index,
    .get_component_info = PAPI_get_component_info,
    .get_cmp_opt = PAPI_get_cmp_opt,
    .set_cmp_domain = PAPI_set_cmp_domain,
    .event_name_to_code = PAPI_event_name_to_code,
    .event_code_to_name = PAPI_event_code_to_name,
    .enum_event = PAPI_enum_event,
    .enum_cmp_event = PAPI_enum_cmp_event,
    .create_eventset = PAPI_create_eventset,
    .assign_eventset_component = PAPI_assign_eventset_component,
    .set_opt = PAPI_set_opt,
    .add_named_event = PAPI_add_named_event,
    .cleanup_eventset = PAPI_cleanup_eventset,
    .destroy_eventset = PAPI_destroy_eventset,
    .start = PAPI_start,
    .read = PAPI_read,
    .stop = PAPI_stop,
    .sde_init = papi_sde_init,
    .sde_register_counter_cb = papi_sde_register_counter_cb,
    .sde_unregister_counter = papi_sde_unregister_counter,
    .sde_describe_counter = papi_sde_describe_counter,
};
