/* osconfine.c: see osconfine.h. */
#include "osconfine.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "osfilter.h"
#include "oslandlock.h"

#define READS_MAX 32u
#define CAPABILITIES_MAX 64 /* more than any kernel has: the first unknown one ends the loop */

static enum err fail(struct why *why, const char *what) {
    return why_set(why, ERR_UNSUPPORTED, "%s: %s", what, strerrordesc_np(errno));
}

void osconfine_bound(void) {
    for (int i = 0; i < CAPABILITIES_MAX; i++) /* who may not bound them has none to bound */
        if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0) != 0) break;
}

enum err osconfine_privileges(struct why *why) {
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    struct rlimit no_dump = {0, 0};
    osconfine_bound();
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capset, &head, none) != 0) return fail(why, "capabilities cannot be given up");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail(why, "privileges cannot be given up");
    if (setrlimit(RLIMIT_CORE, &no_dump) != 0) return fail(why, "dumps of memory cannot be forbidden");
    return ERR_OK;
}

static enum err files_keep(const struct confine_spec *s, struct why *why) {
    static const char *const system[] = {"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc", NULL};
    struct oslandlock_rule rules[READS_MAX + 2] = {{"/dev/null", OSLANDLOCK_USE}};
    uint32_t count = 1;
    if (oslandlock_abi() == 0) return why_set(why, ERR_UNSUPPORTED, "this kernel has no Landlock");
    for (const char *const *path = s->read != NULL ? s->read : system; *path != NULL; path++) {
        if (count > READS_MAX) return why_set(why, ERR_LIMIT, "more than %u paths to read", READS_MAX);
        rules[count++] = (struct oslandlock_rule){*path, OSLANDLOCK_READ};
    }
    if (s->write != NULL) rules[count++] = (struct oslandlock_rule){s->write, OSLANDLOCK_WRITE};
    return oslandlock_keep(rules, count, why);
}

static enum err self(const struct confine_spec *s, struct why *why) {
    enum err e = osconfine_privileges(why);
    if (e == ERR_OK) e = files_keep(s, why);
    if (e == ERR_OK) e = osfilter_load(s->sockets ? OSFILTER_SOCKETS_PLAIN : OSFILTER_SOCKETS_NONE, why);
    return e;
}

const struct confine osconfine = {self};
