/* gotrace_kinds.h - the kinds of events of Go's traces, and the states of a goroutine. Callers:
 * gotrace.h and gotext.c.
 *
 * Source: Go 1.26 internal/trace/tracev2 events.go.
 */
#ifndef SCHEDLAB_GOTRACE_KINDS_H
#define SCHEDLAB_GOTRACE_KINDS_H

/* The numbers of the wire format. */
enum gotrace_kind {
    GOTRACE_PROCS = 9,
    GOTRACE_CREATE = 14,
    GOTRACE_CREATE_SYSCALL = 15,
    GOTRACE_START = 16,
    GOTRACE_DESTROY = 17,
    GOTRACE_DESTROY_SYSCALL = 18,
    GOTRACE_STOP = 19,
    GOTRACE_BLOCK = 20,
    GOTRACE_UNBLOCK = 21,
    GOTRACE_SYSCALL_BEGIN = 22,
    GOTRACE_SYSCALL_END = 23,
    GOTRACE_SYSCALL_END_BLOCKED = 24,
    GOTRACE_STATUS = 25,
    GOTRACE_STW_BEGIN = 26,
    GOTRACE_STW_END = 27,
    GOTRACE_TASK_BEGIN = 40,
    GOTRACE_TASK_END = 41,
    GOTRACE_REGION_BEGIN = 42,
    GOTRACE_REGION_END = 43,
    GOTRACE_SWITCH = 45,
    GOTRACE_SWITCH_DESTROY = 46,
    GOTRACE_CREATE_BLOCKED = 47,
    GOTRACE_STATUS_STACK = 48,
};

enum gotrace_status {
    GOTRACE_UNKNOWN,
    GOTRACE_RUNNABLE,
    GOTRACE_RUNNING,
    GOTRACE_SYSCALL,
    GOTRACE_WAITING,
};

enum { GOTRACE_ARGS = 5 };

#endif
