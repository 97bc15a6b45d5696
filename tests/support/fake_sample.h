/* fake_sample.h - a program to stand in for `schedlab sample`, which does what its VARIANT
 * says.
 *
 * Callers: test_child.c and test_sweep_run.c. It is a shell script, so that a hang, a crash or
 * nonsense is one line, and nothing of the runtime is needed to test what becomes of them.
 */
#ifndef SCHEDLAB_TESTS_FAKE_SAMPLE_H
#define SCHEDLAB_TESTS_FAKE_SAMPLE_H

/* The keys that every record must have, without its variant, for printf in a shell. */
#define FAKE_RECORD                                                                                \
    "\"schema\":2,\"cell\":\"c\",\"workload\":\"fib,n=10\",\"workers\":1,\"status\":\"ok\""

/* Variants are real ones, because records of failed samples name them canonically:
 *     gmp         ok                              tasksteal   ok, but another digest
 *     kthread     skipped                         uthread     wrong answer, exit status 1
 *     static      crashes without a word          grq         hangs, having said something
 *     perm        no record                       contsteal   a good record, then a crash
 *     serial      sends SIGTERM to its parent, then hangs
 *     gmp,ring=8  ok, and the program cannot be executed again
 */
static const char fake_sample_script[] =
    "#!/bin/sh\n"
    "ulimit -c 0\n"
    "variant=$2 workload=$3 workers=${5:-1}\n"
    "record() {\n"
    "    printf '{\"schema\":2,\"status\":\"%s\",\"variant\":\"%s\",\"variant_name\":\"%s\",' \\\n"
    "        \"$1\" \"$variant\" \"$variant\"\n"
    "    printf '\"cell\":\"of-%s\",\"workers\":%d,' \"$variant\" \"$workers\"\n"
    "    printf '\"workload\":\"%s\",\"seed\":1,\"answer\":\"1\",\"digest\":\"%s\",' \"$workload\" "
    "\"$2\"\n"
    "    printf '\"throughput\":5.0,\"reason\":\"%s\"}\\n' \"$3\"\n"
    "}\n"
    "case $variant in\n"
    "gmp,ring=8) record ok 1; chmod 600 $0 ;;\n"
    "gmp*) record ok 1 ;;\n"
    "tasksteal) record ok 2 ;;\n"
    "kthread) record skipped 0 'too many threads' ;;\n"
    "uthread) echo wrong >&2; record failed 1 'wrong answer'; exit 1 ;;\n"
    "static) kill -s SEGV $$ ;;\n"
    "grq) echo 'I wait' >&2; exec tail -f /dev/null ;;\n"
    "perm) echo 'no record' ;;\n"
    "contsteal) record ok 1; echo 'runtime: broken' >&2; kill -s ABRT $$ ;;\n"
    "serial) kill -s TERM $PPID; exec tail -f /dev/null ;;\n"
    "esac\n";

#endif
