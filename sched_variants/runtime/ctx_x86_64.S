/* ctx_x86_64.S - context switch for the System V x86-64 ABI; see ctx.h.
 *
 * Saved, by pushes, low address first: r15 r14 r13 r12 rbx rbp return-address. The floating-point
 * control words are callee-saved too, but nothing in this program changes them, so they stay.
 * Leaves by pop and an indirect jump: a `ret` would mispredict, since the return stack of the core
 * belongs to the other context.
 */
#if defined(__x86_64__)
    .text

/* struct g *ctx_switch_raw(void **save_sp /rdi/, void *to_sp /rsi/, struct g *prev /rdx/) */
    .globl ctx_switch_raw
    .type ctx_switch_raw, @function
    .p2align 4
ctx_switch_raw:
    .cfi_startproc
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    movq %rdx, %rax
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rcx
    jmp *%rcx
    .cfi_endproc
    .size ctx_switch_raw, . - ctx_switch_raw

/* First instruction of a fresh context: rax = the G that ran before, rsp 16-byte aligned. */
    .globl ctx_entry
    .type ctx_entry, @function
    .p2align 4
ctx_entry:
    .cfi_startproc
    .cfi_undefined rip
    movq %rax, %rdi
    call g_entry
    ud2
    .cfi_endproc
    .size ctx_entry, . - ctx_entry
#endif
#if defined(__linux__) && defined(__ELF__)
    .section .note.GNU-stack, "", %progbits
#endif
