/* host.c - where the simulated machine ends: messages, faults and the end of the process. */
#include "internal.h"
#include "machine.h"
#include "no_memory.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The one word of the machine that instrumented code writes: it lies with that code's own data, so
 * that its line does not depend on what else the simulator has. */
__attribute__((section("simulated_data"))) void (*machine_on_fault)(const void *fault_address);

enum { SIGNAL_STACK_SIZE = 64 << 10 };

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    sim_freeze();
    if (machine_on_fault)
        machine_on_fault(info->si_addr);
    if (no_memory_left())
        machine_die(NO_MEMORY_TEXT, EXIT_ENVIRONMENT);
    signal(number, SIG_DFL); /* not ours: the instruction faults again and ends the process */
}

/* All simulated threads share the host's one thread, and so its signal stack. */
void machine_thread_enter(void)
{
    static char *signal_stack;
    if (signal_stack)
        return;
    signal_stack = malloc(SIGNAL_STACK_SIZE);
    if (!signal_stack)
        return; /* an overflow then ends the process without our message */
    stack_t stack = {.ss_sp = signal_stack, .ss_size = SIGNAL_STACK_SIZE};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

void machine_thread_leave(void)
{
}

void machine_print(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t done = write(fd, text, size);
        if (done <= 0)
            return;
        text += done;
        size -= (size_t)done;
    }
}

_Noreturn void machine_die(const char *text, int status)
{
    machine_print(STDERR_FILENO, text, strlen(text));
    _exit(status);
}
