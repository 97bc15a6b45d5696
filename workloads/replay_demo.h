/* replay_demo.h - the program of `replay` without a file: four requests of a small service, which
 * come from outside, share a lock, and are handed to a writer and to a log. Callers: replay.c. */
#ifndef SCHEDLAB_REPLAY_DEMO_H
#define SCHEDLAB_REPLAY_DEMO_H

#define DEMO_REQUEST(number, due)                                                                  \
    "goroutine request" number " main.serve\n"                                                     \
    "poll at " due "\n"                                                                            \
    "begin\n"                                                                                      \
    "run 30us\n"                                                                                   \
    "lock table\n"                                                                                 \
    "run 5us\n"                                                                                    \
    "unlock table\n"                                                                               \
    "sleep 50us\n"                                                                                 \
    "call cpu 2us\n"                                                                               \
    "send log\n"                                                                                   \
    "wake writer " number "\n"                                                                     \
    "done\n"                                                                                       \
    "end\n"

#define DEMO_LOG                                                                                   \
    "receive log\n"                                                                                \
    "run 2us\n"

#define DEMO_WRITE                                                                                 \
    "wait network\n"                                                                               \
    "run 10us\n"

static const char replay_demo[] =
    "schedlab-program 1\n"
    "goroutine main main.main\n"
    "go writer\n"
    "run 20us\n"
    "go log\n"
    "go request1\n"
    "go request2\n"
    "go request3\n"
    "go request4\n"
    "wait done\n"
    "end\n"
    "goroutine writer main.write\n" DEMO_WRITE DEMO_WRITE DEMO_WRITE DEMO_WRITE "call 20us\n"
    "wake main\n"
    "end\n"
    "goroutine log main.log\n" DEMO_LOG DEMO_LOG DEMO_LOG DEMO_LOG "end\n" DEMO_REQUEST("1", "50us")
        DEMO_REQUEST("2", "60us") DEMO_REQUEST("3", "70us") DEMO_REQUEST("4", "200us");

#endif
