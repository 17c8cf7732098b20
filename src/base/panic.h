/* panic.h: our own mistakes stop the process, also in release builds.
 *
 * REQUIRE checks what a caller owes, ENSURE what this code owes; one fact per line. The world's mistakes
 * (bad input, a full disk) are never panics: they are `enum err`. A panic is always safe for the user: the
 * journal holds everything that was acknowledged, so a restart loses nothing. */
#ifndef REEVE_PANIC_H
#define REEVE_PANIC_H

_Noreturn void panic(const char *file, int line, const char *fact);

#define REQUIRE(fact) ((fact) ? (void)0 : panic(__FILE__, __LINE__, "require: " #fact))
#define ENSURE(fact) ((fact) ? (void)0 : panic(__FILE__, __LINE__, "ensure: " #fact))
#define PANIC(text) panic(__FILE__, __LINE__, text)

/* Called with the message before the process stops; a fuzz target or an allocation-failure test sets it. */
typedef void (*panic_hook)(const char *file, int line, const char *fact);
void panic_hook_set(panic_hook hook);

#endif
