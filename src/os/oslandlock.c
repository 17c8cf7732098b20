/* oslandlock.c: see oslandlock.h. The numbers are the kernel's own; its headers in Debian 12 are older than some. */
#include "oslandlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* clang-format off */
#define ACCESS_TRUNCATE  (1ULL << 14) /* ABI 3 */
#define ACCESS_IOCTL_DEV (1ULL << 15) /* ABI 5 */
#define SCOPE_ABSTRACT_UNIX (1ULL << 0) /* ABI 6 */
#define SCOPE_SIGNAL        (1ULL << 1)

#define ACCESS_READ (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define ACCESS_USE  (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_WRITE_FILE | \
                     ACCESS_TRUNCATE | ACCESS_IOCTL_DEV)
#define ACCESS_MAKE (LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | \
                     LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | \
                     LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER)
#define ACCESS_ALL  (ACCESS_READ | ACCESS_USE | ACCESS_MAKE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK)
#define ACCESS_FILE (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | \
                     ACCESS_TRUNCATE | ACCESS_IOCTL_DEV) /* what can be said about something that is no directory */
/* clang-format on */

struct attributes { /* struct landlock_ruleset_attr of newer kernels; older ones take its beginning */
    uint64_t files, net, scopes;
};

int oslandlock_abi(void) {
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return abi > 0 ? (int)abi : 0;
}

static uint64_t known_by(int abi) {
    uint64_t known = ACCESS_ALL;
    if (abi < 5) known &= ~ACCESS_IOCTL_DEV;
    if (abi < 3) known &= ~ACCESS_TRUNCATE;
    if (abi < 2) known &= ~LANDLOCK_ACCESS_FS_REFER; /* then moving between directories is refused altogether */
    return known;
}

static enum err fail(struct why *why, const char *what) {
    return why_set(why, ERR_UNSUPPORTED, "access to files cannot be limited (Landlock), %s: %s", what,
                   strerrordesc_np(errno));
}

static enum err rule_add(int rules, const struct oslandlock_rule *r, uint64_t known, struct why *why) {
    static const uint64_t rights[] = {
        [OSLANDLOCK_READ] = ACCESS_READ,
        [OSLANDLOCK_WRITE] = ACCESS_READ | ACCESS_USE | ACCESS_MAKE,
        [OSLANDLOCK_LIST] = LANDLOCK_ACCESS_FS_READ_DIR,
        [OSLANDLOCK_USE] = ACCESS_USE,
    };
    struct stat st;
    int fd = open(r->path, O_PATH | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) return ERR_OK;
    if (fd < 0) return fail(why, r->path);
    struct landlock_path_beneath_attr beneath = {.allowed_access = rights[r->may] & known, .parent_fd = fd};
    if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode)) beneath.allowed_access &= ACCESS_FILE;
    enum err e = ERR_OK;
    if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) != 0) e = fail(why, r->path);
    (void)close(fd);
    return e;
}

enum err oslandlock_keep(const struct oslandlock_rule *rules, uint32_t count, struct why *why) {
    int abi = oslandlock_abi();
    struct attributes a = {.files = count > 0 ? known_by(abi) : 0,
                           .scopes = abi >= 6 ? SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL : 0};
    if (abi == 0 || (a.files == 0 && a.scopes == 0)) return ERR_OK;
    size_t size = abi >= 6 ? sizeof a : abi >= 4 ? offsetof(struct attributes, scopes) : sizeof a.files;
    int fd = (int)syscall(SYS_landlock_create_ruleset, &a, size, 0);
    if (fd < 0) return fail(why, "a set of rules");
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < count && e == ERR_OK; i++) e = rule_add(fd, &rules[i], a.files, why);
    if (e == ERR_OK && syscall(SYS_landlock_restrict_self, fd, 0) != 0) e = fail(why, "keeping them");
    (void)close(fd);
    return e;
}
