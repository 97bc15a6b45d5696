/* coverage_exit.c - CONFIG=coverage: a process that ends by _exit() writes its counts first.
 *
 * Linked into all programs of that build with --wrap=_exit, so that nothing else knows of it. Not
 * counted is who is killed by a signal, and who ends by abort(). */
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
void __gcov_dump(void);

_Noreturn void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
