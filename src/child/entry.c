/* entry.c: see entry.h. The checks return what is wrong, NULL when nothing is. */
#include "entry.h"

#include <string.h>
#include <sys/stat.h>

#include "panic.h"

#define SHOWN_BYTES 120u

struct path_part {
    struct slice name; /* empty: there is no more */
    size_t next;
};

static struct path_part part_at(struct slice path, size_t at) {
    while (at < path.len && path.ptr[at] == '/') at++;
    size_t from = at;
    while (at < path.len && path.ptr[at] != '/') at++;
    return (struct path_part){slice_of(path.ptr + from, at - from), at};
}

static bool is_here(struct slice part) {
    return slice_eq(part, SLICE("."));
}

static bool is_up(struct slice part) {
    return slice_eq(part, SLICE(".."));
}

/* The parts joined again without `.` and doubled slashes, the first `strip` of them left out. */
static const char *path_make(struct slice path, const struct entry_rules *rules, char ret[ENTRY_PATH_MAX],
                             uint32_t *ret_depth) {
    size_t len = 0;
    uint32_t depth = 0, stripped = 0;
    if (path.len == 0) return "has no name";
    if (memchr(path.ptr, 0, path.len) != NULL) return "has a zero byte in its name";
    if (path.ptr[0] == '/') return "is an absolute path";
    for (struct path_part p = part_at(path, 0); p.name.len > 0; p = part_at(path, p.next)) {
        if (is_up(p.name)) return "leads out of the archive by `..`";
        if (is_here(p.name)) continue;
        if (stripped < rules->strip) {
            stripped++;
            continue;
        }
        if (depth++ == rules->depth_max) return "lies too deep (archive_depth_max)";
        if (len + 1 + p.name.len > rules->path_bytes_max || len + 1 + p.name.len >= ENTRY_PATH_MAX)
            return "has too long a path (archive_path_bytes_max)";
        if (len > 0) ret[len++] = '/';
        memcpy(ret + len, p.name.ptr, p.name.len);
        len += p.name.len;
    }
    ret[len] = 0;
    *ret_depth = depth;
    return NULL;
}

/* A symbolic link in a folder `depth` below the top. A `..` behind a name is refused even where the name is harmless:
 * the name may be a link itself, and then nobody can say by reading where it leads. */
static const char *symlink_check(struct slice target, uint32_t depth, const struct entry_rules *rules,
                                 char ret[ENTRY_PATH_MAX]) {
    bool has_name = false;
    if (target.len == 0) return "is a link to nothing";
    if (target.len > rules->path_bytes_max || target.len >= ENTRY_PATH_MAX)
        return "is a link with too long a target (archive_path_bytes_max)";
    if (memchr(target.ptr, 0, target.len) != NULL) return "has a zero byte in its target";
    if (target.ptr[0] == '/') return "is a link to an absolute path";
    for (struct path_part p = part_at(target, 0); p.name.len > 0; p = part_at(target, p.next)) {
        if (is_here(p.name)) continue;
        if (is_up(p.name) && (has_name || depth-- == 0)) return "is a link that leads out of the archive";
        if (!is_up(p.name)) has_name = true;
    }
    memcpy(ret, target.ptr, target.len);
    ret[target.len] = 0;
    return NULL;
}

static const char *hardlink_check(struct slice target, const struct entry_rules *rules, char ret[ENTRY_PATH_MAX]) {
    uint32_t depth = 0;
    if (path_make(target, rules, ret, &depth) == NULL && depth > 0) return NULL;
    return "is a link that leads out of the archive";
}

static const char *kind_check(const struct entry *e) {
    bool is_setuid = e->kind == ENTRY_FILE && (e->mode & (S_ISUID | S_ISGID));
    switch (e->kind) {
    case ENTRY_DEVICE: return "is a device";
    case ENTRY_PIPE: return "is a named pipe or a socket";
    case ENTRY_UNKNOWN: return "is neither a file, a folder nor a link";
    case ENTRY_FILE:
    case ENTRY_DIR:
    case ENTRY_SYMLINK:
    case ENTRY_HARDLINK:
        if (e->is_encrypted) return "is encrypted";
        return is_setuid ? "would run with another's rights (setuid or setgid)" : NULL;
    }
    PANIC("an entry of no kind");
}

static const char *place(const struct entry *e, const struct entry_rules *rules, struct entry_place *ret) {
    uint32_t depth = 0;
    const char *wrong = kind_check(e);
    if (wrong == NULL) wrong = path_make(e->path, rules, ret->path, &depth);
    if (wrong != NULL) return wrong;
    ret->is_nothing = depth == 0;
    if (depth == 0) return e->kind == ENTRY_DIR ? NULL : "is not in as many folders as `strip` takes off";
    if (e->kind == ENTRY_SYMLINK) return symlink_check(e->target, depth - 1, rules, ret->target);
    return e->kind == ENTRY_HARDLINK ? hardlink_check(e->target, rules, ret->target) : NULL;
}

enum err entry_check(const struct entry *e, const struct entry_rules *rules, struct entry_place *ret, struct why *why) {
    REQUIRE(rules->path_bytes_max > 0 && rules->depth_max > 0);
    const char *wrong = place(e, rules, ret);
    return wrong == NULL ? ERR_OK : entry_refuse(e->path, why, wrong);
}

enum err entry_refuse(struct slice path, struct why *why, const char *wrong) {
    char text[SHOWN_BYTES];
    size_t n = path.len < sizeof text - 1 ? path.len : sizeof text - 1;
    for (size_t i = 0; i < n; i++) text[i] = path.ptr[i] < 0x20 || path.ptr[i] == 0x7f ? '?' : (char)path.ptr[i];
    text[n] = 0;
    return why_set(why, ERR_INVALID, "entry `%s` %s", text, wrong);
}
