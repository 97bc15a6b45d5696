/* stop.c - see stop.h. */
#include "harness/base/stop.h"

#include "harness/base/process.h"

static volatile sig_atomic_t stopped_by;

static void on_stop(int signal)
{
    stopped_by = signal;
    process_interrupt();
}

static void on_nothing(int signal)
{
    (void)signal;
}

/* SIGXFSZ would end the process where write() should say that the file may not grow; a handler,
 * unlike SIG_IGN, is not inherited by the samples. */
static const struct {
    int signal;
    void (*handler)(int);
} handled[STOP_SIGNALS] = {
    {SIGINT, on_stop}, {SIGTERM, on_stop}, {SIGHUP, on_stop}, {SIGXFSZ, on_nothing}};

void stop_begin(struct stop *stop)
{
    for (int i = 0; i < STOP_SIGNALS; i++) {
        struct sigaction action = {.sa_handler = handled[i].handler};
        sigemptyset(&action.sa_mask);
        sigaction(handled[i].signal, NULL, &stop->before[i]);
        /* nohup and background jobs of some shells ignore signals on purpose. */
        if (stop->before[i].sa_handler != SIG_IGN)
            sigaction(handled[i].signal, &action, NULL);
    }
}

void stop_end(const struct stop *stop)
{
    for (int i = 0; i < STOP_SIGNALS; i++)
        sigaction(handled[i].signal, &stop->before[i], NULL);
}

int stop_signal(void)
{
    return stopped_by;
}
