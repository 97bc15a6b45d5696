/* keep_registers.h - functions that hold known values in all registers of a thread for a while.
 *
 * They lie in workload_text, so that they may be stopped by a signal at any of their instructions
 * (runtime/preempt.c). Included by one file.
 */
#ifndef SCHEDLAB_TESTS_KEEP_REGISTERS_H
#define SCHEDLAB_TESTS_KEEP_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GENERAL = 32, STACKED = 8, MASKS = 8, VECTORS = 32, VECTOR_WORDS = 8 };

/* The offsets are used below. A member that an architecture, or a function, does not have stays
 * unused. */
struct registers {
    uint64_t general[GENERAL];
    double stacked[STACKED]; /* x87 */
    uint64_t mask[MASKS];    /* AVX-512 */
    uint64_t vector[VECTORS][VECTOR_WORDS];
};

_Static_assert(offsetof(struct registers, stacked) == 256, "");
_Static_assert(offsetof(struct registers, mask) == 320, "");
_Static_assert(offsetof(struct registers, vector) == 384, "");

/* Loads all registers from *in, runs `rounds` (> 0) times some hundred instructions, and stores
 * all registers in *out. False if flags, or a control word, changed meanwhile. */
typedef int keep_fn(const struct registers *in, struct registers *out, uint64_t rounds);

/* The kinds, and how much of struct registers each keeps. */
struct keeper_kind {
    const char *name;
    keep_fn *keep;
    int general, stacked, masks, vectors, vector_words;
};

#if defined(__x86_64__)
/* On the stack: [old mxcsr, ours][rounds][out][what the caller wants back]. The flags are carry,
 * parity, adjust, zero, sign, direction and overflow; mxcsr rounds to zero and flushes. */
__asm__(".pushsection workload_text,\"ax\",@progbits\n"
        ".macro KEEP name load store words last\n"
        ".globl \\name\n"
        ".type \\name, @function\n"
        "\\name:\n"
        ".irp r, rbx, rbp, r12, r13, r14, r15, rsi, rdx\n"
        "    pushq %\\r\n"
        ".endr\n"
        "    subq $8, %rsp\n"
        "    stmxcsr (%rsp)\n"
        "    movl $0xffc0, 4(%rsp)\n"
        "    ldmxcsr 4(%rsp)\n"
        ".irp n, 0, 1, 2, 3, 4, 5, 6, 7\n"
        "    fldl 256+8*\\n(%rdi)\n"
        ".if \\last == 31\n"
        "    kmovq 320+8*\\n(%rdi), %k\\n\n"
        ".endif\n"
        ".endr\n"
        ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, "
        "23, 24, 25, 26, 27, 28, 29, 30, 31\n"
        ".if \\n <= \\last\n"
        "    \\load 384+64*\\n(%rdi), %\\words\\n\n"
        ".endif\n"
        ".endr\n"
        "    movq 0(%rdi), %rax\n"
        "    movq 8(%rdi), %rbx\n"
        "    movq 16(%rdi), %rcx\n"
        "    movq 24(%rdi), %rdx\n"
        "    movq 32(%rdi), %rsi\n"
        "    movq 48(%rdi), %rbp\n"
        ".irp n, 8, 9, 10, 11, 12, 13, 14, 15\n"
        "    movq 8*\\n(%rdi), %r\\n\n"
        ".endr\n"
        "    movq 40(%rdi), %rdi\n"
        "1:  pushq $0xcd5\n"
        "    popfq\n"
        ".rept 300\n"
        "    nop\n"
        ".endr\n"
        "    pushfq\n"
        "    andq $0xcd5, (%rsp)\n"
        "    cmpq $0xcd5, (%rsp)\n"
        "    leaq 8(%rsp), %rsp\n"
        "    jne 2f\n"
        "    decq 8(%rsp)\n"
        "    jnz 1b\n"
        "2:  cld\n"
        "    pushq %rdi\n"
        "    movq 24(%rsp), %rdi\n"
        "    popq 40(%rdi)\n"
        "    movq %rax, 0(%rdi)\n"
        "    movq %rbx, 8(%rdi)\n"
        "    movq %rcx, 16(%rdi)\n"
        "    movq %rdx, 24(%rdi)\n"
        "    movq %rsi, 32(%rdi)\n"
        "    movq %rbp, 48(%rdi)\n"
        ".irp n, 8, 9, 10, 11, 12, 13, 14, 15\n"
        "    movq %r\\n, 8*\\n(%rdi)\n"
        ".endr\n"
        ".irp n, 7, 6, 5, 4, 3, 2, 1, 0\n"
        "    fstpl 256+8*\\n(%rdi)\n"
        ".if \\last == 31\n"
        "    kmovq %k\\n, 320+8*\\n(%rdi)\n"
        ".endif\n"
        ".endr\n"
        ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, "
        "23, 24, 25, 26, 27, 28, 29, 30, 31\n"
        ".if \\n <= \\last\n"
        "    \\store %\\words\\n, 384+64*\\n(%rdi)\n"
        ".endif\n"
        ".endr\n"
        ".ifnc \\words,xmm\n"
        "    vzeroupper\n"
        ".endif\n"
        "    xorl %eax, %eax\n"
        "    stmxcsr 4(%rsp)\n"
        "    cmpl $0xffc0, 4(%rsp)\n"
        "    jne 3f\n"
        "    cmpq $0, 8(%rsp)\n"
        "    sete %al\n"
        "3:  ldmxcsr (%rsp)\n"
        "    addq $24, %rsp\n"
        ".irp r, r15, r14, r13, r12, rbp, rbx\n"
        "    popq %\\r\n"
        ".endr\n"
        "    ret\n"
        ".size \\name, .-\\name\n"
        ".endm\n"
        "KEEP keep_xmm movdqu movdqu xmm 15\n"
        "KEEP keep_ymm vmovdqu vmovdqu ymm 15\n"
        "KEEP keep_zmm vmovdqu64 vmovdqu64 zmm 31\n"
        ".purgem KEEP\n"
        ".popsection\n");
extern keep_fn keep_xmm, keep_ymm, keep_zmm;

/* The widest that this processor has, and the narrowest. */
static inline struct keeper_kind keeper_kind(bool widest)
{
    enum { NAMED = 16, XMM_WORDS = 2, YMM_WORDS = 4 };
    if (widest && __builtin_cpu_supports("avx512bw"))
        return (struct keeper_kind){"zmm", keep_zmm, NAMED, STACKED, MASKS, VECTORS, VECTOR_WORDS};
    if (widest && __builtin_cpu_supports("avx"))
        return (struct keeper_kind){"ymm", keep_ymm, NAMED, STACKED, 0, NAMED, YMM_WORDS};
    return (struct keeper_kind){"xmm", keep_xmm, NAMED, STACKED, 0, NAMED, XMM_WORDS};
}
#elif defined(__aarch64__)
/* On the stack: what the caller wants back, from 160 on [out][rounds], [x16, x17], [x0]. */
__asm__(".pushsection workload_text,\"ax\",@progbits\n"
        ".globl keep_v\n"
        ".type keep_v, %function\n"
        "keep_v:\n"
        "    hint #34\n" /* bti c */
        "    stp x29, x30, [sp, #-208]!\n"
        "    stp x19, x20, [sp, #16]\n"
        "    stp x21, x22, [sp, #32]\n"
        "    stp x23, x24, [sp, #48]\n"
        "    stp x25, x26, [sp, #64]\n"
        "    stp x27, x28, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    stp x1, x2, [sp, #160]\n"
        ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, "
        "23, 24, 25, 26, 27, 28, 29, 30, 31\n"
        "    ldr q\\n, [x0, #384+64*\\n]\n"
        ".endr\n"
        ".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, "
        "23, 24, 25, 26, 27, 28, 29, 30, 0\n"
        "    ldr x\\n, [x0, #8*\\n]\n"
        ".endr\n"
        "1:  stp x16, x17, [sp, #176]\n"
        "    movz x17, #0xf000, lsl #16\n"
        "    msr nzcv, x17\n"
        "    ldp x16, x17, [sp, #176]\n"
        ".rept 300\n"
        "    nop\n"
        ".endr\n"
        "    stp x16, x17, [sp, #176]\n"
        "    movz x16, #0xf000, lsl #16\n"
        "    mrs x17, nzcv\n"
        "    cmp x16, x17\n"
        "    b.ne 2f\n"
        "    ldr x17, [sp, #168]\n"
        "    subs x17, x17, #1\n"
        "    str x17, [sp, #168]\n"
        "    ldp x16, x17, [sp, #176]\n"
        "    b.ne 1b\n"
        "2:  ldp x16, x17, [sp, #176]\n"
        "    str x0, [sp, #192]\n"
        "    ldr x0, [sp, #160]\n"
        ".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, "
        "23, 24, 25, 26, 27, 28, 29, 30\n"
        "    str x\\n, [x0, #8*\\n]\n"
        ".endr\n"
        ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, "
        "23, 24, 25, 26, 27, 28, 29, 30, 31\n"
        "    str q\\n, [x0, #384+64*\\n]\n"
        ".endr\n"
        "    ldp x1, x2, [sp, #192]\n"
        "    str x1, [x0]\n"
        "    ldr x1, [sp, #168]\n"
        "    cmp x1, #0\n"
        "    cset w0, eq\n"
        "    ldp x19, x20, [sp, #16]\n"
        "    ldp x21, x22, [sp, #32]\n"
        "    ldp x23, x24, [sp, #48]\n"
        "    ldp x25, x26, [sp, #64]\n"
        "    ldp x27, x28, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    ldp x29, x30, [sp], #208\n"
        "    ret\n"
        ".size keep_v, .-keep_v\n"
        ".popsection\n");
extern keep_fn keep_v;

static inline struct keeper_kind keeper_kind(bool widest)
{
    enum { NAMED = 31, V_WORDS = 2 };
    (void)widest;
    return (struct keeper_kind){"v", keep_v, NAMED, 0, 0, VECTORS, V_WORDS};
}
#else
#error "no function that keeps registers for this architecture"
#endif

#endif
