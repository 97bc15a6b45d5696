/* ctx_aarch64.S - context switch for AAPCS64; see ctx.h.
 *
 * Saved at the stack pointer, low address first: x19-x28, x29 (frame), x30 (return), d8-d15: 160
 * bytes. Leaves by `br`, not `ret`, which would mispredict: the return stack belongs to the other
 * context.
 */
#if defined(__aarch64__)
    .text

/* struct g *ctx_switch_raw(void **save_sp /x0/, void *to_sp /x1/, struct g *prev /x2/) */
    .globl ctx_switch_raw
    .type ctx_switch_raw, %function
    .p2align 4
ctx_switch_raw:
    .cfi_startproc
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    mov x0, x2
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x9, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    mov x30, x9
    br x9
    .cfi_endproc
    .size ctx_switch_raw, . - ctx_switch_raw

/* First instruction of a fresh context: x0 = the G that ran before, sp 16-byte aligned. */
    .globl ctx_entry
    .type ctx_entry, %function
    .p2align 4
ctx_entry:
    .cfi_startproc
    .cfi_undefined x30
    mov x29, #0
    bl g_entry
    brk #1
    .cfi_endproc
    .size ctx_entry, . - ctx_entry
#endif
#if defined(__linux__) && defined(__ELF__)
    .section .note.GNU-stack, "", %progbits
#endif
