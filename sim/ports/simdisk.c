/* simdisk.c: the calls of port/disk.h on memory. Guarantees: only `sync` and `sync_dir` move anything from the current
 * state to the durable one. Must not: use any clock, any randomness but its own, or the real disk. */
#include "simdisk.h"

#include <stdlib.h>
#include <string.h>

#include "panic.h"
#include "simdisk_impl.h"

static struct simdisk *of(struct disk *d) {
    return (struct simdisk *)d;
}

uint64_t simdisk_draw(struct simdisk *s) {
    uint64_t z = (s->random += 0x9e3779b97f4a7c15ULL); /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

struct simdisk_entry *simdisk_find(const struct vec *table, const char *name) {
    for (uint32_t i = 0; i < table->count; i++) {
        struct simdisk_entry *e = vec_at(table, i);
        if (strcmp(e->name, name) == 0) return e;
    }
    return NULL;
}

static void name_copy(char *to, const char *from) {
    size_t len = strlen(from);
    REQUIRE(len < SIM_NAME_MAX);
    memcpy(to, from, len + 1);
}

static void entry_remove(struct vec *table, const char *name) {
    struct simdisk_entry *e = simdisk_find(table, name);
    if (e == NULL) return;
    struct simdisk_entry *last = vec_at(table, table->count - 1);
    *e = *last;
    table->count--;
}

static void entry_set(struct vec *table, const char *name, uint32_t inode, bool is_dir) {
    struct simdisk_entry *e = simdisk_find(table, name);
    if (e == NULL) e = vec_push(table);
    name_copy(e->name, name);
    e->inode = inode;
    e->is_dir = is_dir;
}

void simdisk_apply_change(struct vec *table, const struct change *c) {
    if (c->from[0] != 0) entry_remove(table, c->from);
    if (c->to[0] != 0) entry_set(table, c->to, c->inode, c->is_dir);
}

void simdisk_resize(uint8_t **at, uint64_t *len, uint64_t *slots, uint64_t to) {
    if (to > *slots) {
        uint64_t more = *slots + *slots / 2;
        if (more < to) more = to;
        *at = realloc(*at, more);
        ENSURE(*at != NULL);
        *slots = more;
    }
    if (to > *len) memset(*at + *len, 0, to - *len);
    *len = to;
}

void simdisk_settle(struct inode *n, const struct sector *x, size_t bytes) {
    uint64_t at = x->index * SIMDISK_SECTOR;
    if (at >= n->durable_len) return;
    uint64_t room = n->durable_len - at;
    memcpy(n->durable + at, x->bytes, bytes < room ? bytes : room);
}

static bool reachable(const struct vec *table, uint32_t inode) {
    for (uint32_t i = 0; i < table->count; i++) {
        const struct simdisk_entry *e = vec_at(table, i);
        if (!e->is_dir && e->inode == inode) return true;
    }
    return false;
}

static bool awaited(const struct simdisk *s, uint32_t inode) {
    for (uint32_t i = 0; i < s->changes.count; i++) {
        const struct change *c = vec_at(&s->changes, i);
        if (!c->is_dir && c->to[0] != 0 && c->inode == inode) return true;
    }
    return false;
}

static void sectors_forget(struct simdisk *s, uint32_t inode) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->sectors.count; i++) {
        struct sector *x = vec_at(&s->sectors, i);
        if (x->inode == inode) continue;
        if (kept != i) memcpy(vec_at(&s->sectors, kept), x, sizeof *x);
        kept++;
    }
    s->sectors.count = kept;
}

void simdisk_reap(struct simdisk *s) {
    for (uint32_t i = 0; i < s->inodes.count; i++) {
        struct inode *n = simdisk_inode(s, i);
        if (n->current == NULL && n->durable == NULL) continue;
        if (n->handles > 0 || reachable(&s->current, i) || reachable(&s->durable, i) || awaited(s, i)) continue;
        sectors_forget(s, i);
        free(n->current);
        free(n->durable);
        memset(n, 0, sizeof *n);
    }
}

/* ---- faults ---- */

static bool chance(struct simdisk *s, uint32_t ppm) {
    return ppm > 0 && simdisk_draw(s) % 1000000 < ppm;
}

static enum simdisk_fault fault_by_chance(struct simdisk *s, enum simdisk_op op) {
    const struct simdisk_chances *c = &s->chances;
    bool slow = op == SIMDISK_WRITE || op == SIMDISK_SYNC || op == SIMDISK_SYNC_DIR || op == SIMDISK_ALLOCATE;
    if (slow && chance(s, c->slow_ppm)) return SIMDISK_SLOW;
    if (op == SIMDISK_READ && chance(s, c->read_error_ppm)) return SIMDISK_ERROR;
    if (op == SIMDISK_READ && chance(s, c->read_short_ppm)) return SIMDISK_SHORT;
    if (op == SIMDISK_WRITE && chance(s, c->write_error_ppm)) return SIMDISK_ERROR;
    if (op == SIMDISK_WRITE && chance(s, c->write_short_ppm)) return SIMDISK_SHORT;
    if ((op == SIMDISK_SYNC || op == SIMDISK_SYNC_DIR) && chance(s, c->sync_error_ppm)) return SIMDISK_ERROR;
    return SIMDISK_FINE;
}

static enum simdisk_fault fault_armed(struct simdisk *s, enum simdisk_op op) {
    struct armed *a = &s->armed[op];
    uint64_t call = s->calls[op]++;
    if (a->fault == SIMDISK_FINE || call != a->at_call) return SIMDISK_FINE;
    enum simdisk_fault fault = a->fault;
    a->fault = SIMDISK_FINE;
    return fault;
}

/* Counts the call and says what goes wrong with it. Comes first in every call: another process may act in it. */
static enum simdisk_fault fault_of(struct simdisk *s, enum simdisk_op op) {
    if (s->meanwhile != NULL && s->calls[SIMDISK_ANY] >= s->meanwhile_at) {
        void (*act)(void *ctx) = s->meanwhile;
        s->meanwhile = NULL;
        act(s->meanwhile_ctx);
    }
    enum simdisk_fault one = fault_armed(s, op);
    enum simdisk_fault any = fault_armed(s, SIMDISK_ANY);
    if (s->dark || s->gone) return SIMDISK_POWER;
    enum simdisk_fault fault = one != SIMDISK_FINE ? one : any;
    if (fault == SIMDISK_FINE) fault = fault_by_chance(s, op);
    uint32_t slow_max = s->chances.slow_ms_max > 0 ? s->chances.slow_ms_max : 100;
    if (fault == SIMDISK_SLOW) s->slow_ms += 1 + simdisk_draw(s) % slow_max;
    if (fault == SIMDISK_POWER) s->dark = true;
    return fault;
}

static bool fails(enum simdisk_fault f) {
    return f == SIMDISK_ERROR || f == SIMDISK_POWER;
}

#define REFUSE(what) why_set(why, ERR_IO, "%s: simulated I/O error", what)

/* ---- files ---- */

static struct inode *file_of(struct simdisk *s, disk_file f, struct handle **ret) {
    REQUIRE(f.v >= 0 && (uint32_t)f.v < s->handles.count);
    struct handle *h = vec_at(&s->handles, (uint32_t)f.v);
    REQUIRE(h->open);
    if (ret != NULL) *ret = h;
    return simdisk_inode(s, h->inode);
}

static bool dir_exists(const struct simdisk *s, const char *name) {
    const char *slash = strchr(name, '/');
    if (slash == NULL) return true;
    REQUIRE(strchr(slash + 1, '/') == NULL);
    char dir[SIM_NAME_MAX];
    name_copy(dir, name);
    dir[slash - name] = 0;
    const struct simdisk_entry *e = simdisk_find(&s->current, dir);
    return e != NULL && e->is_dir;
}

static void change_add(struct simdisk *s, const char *from, const char *to, uint32_t inode, bool is_dir) {
    struct change *c = vec_push(&s->changes);
    name_copy(c->from, from);
    name_copy(c->to, to);
    c->inode = inode;
    c->is_dir = is_dir;
    c->from_waits = from[0] != 0;
    c->to_waits = to[0] != 0;
    simdisk_apply_change(&s->current, c);
}

static disk_file handle_new(struct simdisk *s, uint32_t inode, bool writable) {
    uint32_t i = 0;
    while (i < s->handles.count && ((struct handle *)vec_at(&s->handles, i))->open) i++;
    struct handle *h = i < s->handles.count ? vec_at(&s->handles, i) : vec_push(&s->handles);
    *h = (struct handle){inode, true, writable};
    simdisk_inode(s, inode)->handles++;
    return (disk_file){(int32_t)i};
}

static enum err op_open(struct disk *d, const char *name, enum disk_open how, disk_file *ret, struct why *why) {
    struct simdisk *s = of(d);
    enum simdisk_fault f = fault_of(s, SIMDISK_OPEN);
    if (fails(f)) return REFUSE(name);
    struct simdisk_entry *e = simdisk_find(&s->current, name);
    if (how == DISK_CREATE) {
        if (e != NULL) return why_set(why, ERR_CONFLICT, "%s: exists", name);
        if (f == SIMDISK_NO_SPACE) return why_set(why, ERR_NO_SPACE, "%s: no space", name);
        if (!dir_exists(s, name)) return why_set(why, ERR_NOT_FOUND, "%s: no such directory", name);
        vec_push(&s->inodes);
        change_add(s, "", name, s->inodes.count - 1, false);
        *ret = handle_new(s, s->inodes.count - 1, true);
        return ERR_OK;
    }
    if (e == NULL || e->is_dir) return why_set(why, ERR_NOT_FOUND, "%s: no such file", name);
    *ret = handle_new(s, e->inode, how == DISK_WRITE);
    return ERR_OK;
}

static void op_close(struct disk *d, disk_file f) {
    struct handle *h;
    struct inode *n = file_of(of(d), f, &h);
    h->open = false;
    n->handles--;
    simdisk_reap(of(d));
}

static enum err op_size(struct disk *d, disk_file f, uint64_t *ret, struct why *why) {
    if (fails(fault_of(of(d), SIMDISK_SIZE))) return REFUSE("size");
    *ret = file_of(of(d), f, NULL)->current_len;
    return ERR_OK;
}

static enum err op_read(struct disk *d, disk_file f, uint64_t offset, void *to, size_t len, size_t *ret,
                        struct why *why) {
    struct simdisk *s = of(d);
    enum simdisk_fault fault = fault_of(s, SIMDISK_READ);
    struct inode *n = file_of(s, f, NULL);
    if (fails(fault)) return REFUSE("read");
    uint64_t left = offset < n->current_len ? n->current_len - offset : 0;
    if (len > left) len = (size_t)left;
    if (fault == SIMDISK_SHORT && len > 1) len = 1 + simdisk_draw(s) % (len - 1);
    if (len > 0) memcpy(to, n->current + offset, len);
    *ret = len;
    return ERR_OK;
}

/* Changes the current image and remembers each sector touched. */
static void scribble(struct simdisk *s, uint32_t inode, uint64_t offset, const uint8_t *from, size_t len) {
    struct inode *n = simdisk_inode(s, inode);
    if (len == 0) return;
    if (offset + len > n->current_len) simdisk_resize(&n->current, &n->current_len, &n->current_slots, offset + len);
    memcpy(n->current + offset, from, len);
    for (uint64_t i = offset / SIMDISK_SECTOR; i <= (offset + len - 1) / SIMDISK_SECTOR; i++) {
        struct sector *x = vec_push(&s->sectors);
        uint64_t room = n->current_len - i * SIMDISK_SECTOR;
        x->inode = inode;
        x->index = i;
        memcpy(x->bytes, n->current + i * SIMDISK_SECTOR, room < SIMDISK_SECTOR ? room : SIMDISK_SECTOR);
    }
}

static enum err op_write(struct disk *d, disk_file f, uint64_t offset, const void *from, size_t len, size_t *ret,
                         struct why *why) {
    struct simdisk *s = of(d);
    struct handle *h;
    enum simdisk_fault fault = fault_of(s, SIMDISK_WRITE);
    struct inode *n = file_of(s, f, &h);
    REQUIRE(h->writable);
    if (fault == SIMDISK_NO_SPACE) return why_set(why, ERR_NO_SPACE, "write: no space");
    if (s->gone) return REFUSE("write");
    if (fails(fault)) {
        scribble(s, h->inode, offset, from, simdisk_draw(s) % (len + 1));
        return REFUSE("write");
    }
    if (fault == SIMDISK_SHORT && len > 1) len = 1 + simdisk_draw(s) % (len - 1);
    uint64_t used = simdisk_used(s);
    uint64_t room = s->budget_bytes > used ? s->budget_bytes - used : 0;
    uint64_t end_max = n->current_len + (room < UINT64_MAX / 2 ? room : UINT64_MAX / 2);
    if (offset + len > end_max) {
        if (offset >= end_max) return why_set(why, ERR_NO_SPACE, "write: no space");
        len = (size_t)(end_max - offset);
    }
    scribble(s, h->inode, offset, from, len);
    *ret = len;
    return ERR_OK;
}

static enum err op_sync(struct disk *d, disk_file f, struct why *why) {
    struct simdisk *s = of(d);
    struct handle *h;
    enum simdisk_fault fault = fault_of(s, SIMDISK_SYNC);
    struct inode *n = file_of(s, f, &h);
    if (fault == SIMDISK_POWER) return REFUSE("sync");
    bool lossy = fault == SIMDISK_ERROR;
    if (!lossy || simdisk_draw(s) % 2) simdisk_resize(&n->durable, &n->durable_len, &n->durable_slots, n->current_len);
    for (uint32_t i = 0; i < s->sectors.count; i++) {
        struct sector *x = vec_at(&s->sectors, i);
        if (x->inode != h->inode || (lossy && simdisk_draw(s) % 2)) continue;
        simdisk_settle(n, x, SIMDISK_SECTOR);
    }
    sectors_forget(s, h->inode);
    return lossy ? REFUSE("sync") : ERR_OK;
}

static enum err op_allocate(struct disk *d, disk_file f, uint64_t bytes, struct why *why) {
    static const uint8_t zeroes[SIMDISK_SECTOR];
    struct simdisk *s = of(d);
    struct handle *h;
    enum simdisk_fault fault = fault_of(s, SIMDISK_ALLOCATE);
    struct inode *n = file_of(s, f, &h);
    REQUIRE(h->writable && bytes >= n->current_len);
    if (fails(fault)) return REFUSE("allocate");
    uint64_t used = simdisk_used(s);
    if (fault == SIMDISK_NO_SPACE || used > s->budget_bytes || bytes - n->current_len > s->budget_bytes - used)
        return why_set(why, ERR_NO_SPACE, "allocate: no space");
    uint64_t old = n->current_len;
    for (uint64_t at = 0; at < old; at += SIMDISK_SECTOR) /* the new part is zero whether its sectors arrive or not */
        scribble(s, h->inode, at, zeroes, old - at < SIMDISK_SECTOR ? (size_t)(old - at) : SIMDISK_SECTOR);
    simdisk_resize(&n->current, &n->current_len, &n->current_slots, bytes);
    return ERR_OK;
}

/* ---- names ---- */

static enum err op_rename(struct disk *d, const char *from, const char *to, struct why *why) {
    struct simdisk *s = of(d);
    if (fails(fault_of(s, SIMDISK_RENAME))) return REFUSE(from);
    const struct simdisk_entry *e = simdisk_find(&s->current, from);
    if (e == NULL) return why_set(why, ERR_NOT_FOUND, "%s: no such file", from);
    if (!dir_exists(s, to)) return why_set(why, ERR_NOT_FOUND, "%s: no such directory", to);
    change_add(s, from, to, e->inode, false);
    return ERR_OK;
}

static enum err op_remove(struct disk *d, const char *name, struct why *why) {
    struct simdisk *s = of(d);
    if (fails(fault_of(s, SIMDISK_REMOVE))) return REFUSE(name);
    const struct simdisk_entry *e = simdisk_find(&s->current, name);
    if (e == NULL || e->is_dir) return why_set(why, ERR_NOT_FOUND, "%s: no such file", name);
    change_add(s, name, "", e->inode, false);
    simdisk_reap(s);
    return ERR_OK;
}

static enum err op_mkdir(struct disk *d, const char *name, struct why *why) {
    struct simdisk *s = of(d);
    enum simdisk_fault f = fault_of(s, SIMDISK_MKDIR);
    if (fails(f)) return REFUSE(name);
    const struct simdisk_entry *e = simdisk_find(&s->current, name);
    if (e != NULL) return e->is_dir ? ERR_OK : why_set(why, ERR_CONFLICT, "%s: is a file", name);
    if (f == SIMDISK_NO_SPACE) return why_set(why, ERR_NO_SPACE, "%s: no space", name);
    change_add(s, "", name, 0, true);
    return ERR_OK;
}

static bool lies_in(const char *name, const char *dir) {
    size_t len = strlen(dir);
    if (len == 0) return strchr(name, '/') == NULL;
    return strncmp(name, dir, len) == 0 && name[len] == '/';
}

static enum err op_sync_dir(struct disk *d, const char *subdir, struct why *why) {
    struct simdisk *s = of(d);
    enum simdisk_fault f = fault_of(s, SIMDISK_SYNC_DIR);
    if (fails(f)) return REFUSE("sync_dir");
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->changes.count; i++) {
        struct change *c = vec_at(&s->changes, i);
        if (lies_in(c->from, subdir)) c->from_waits = false;
        if (lies_in(c->to, subdir)) c->to_waits = false;
        if (c->from_waits || c->to_waits) {
            if (kept != i) memcpy(vec_at(&s->changes, kept), c, sizeof *c);
            kept++;
        } else {
            simdisk_apply_change(&s->durable, c);
        }
    }
    s->changes.count = kept;
    simdisk_reap(s);
    return ERR_OK;
}

static enum err op_list(struct disk *d, const char *subdir, disk_list_fn each, void *ctx, struct why *why) {
    struct simdisk *s = of(d);
    if (fails(fault_of(s, SIMDISK_LIST))) return REFUSE("list");
    const struct simdisk_entry *dir = subdir[0] ? simdisk_find(&s->current, subdir) : NULL;
    if (subdir[0] && (dir == NULL || !dir->is_dir)) return why_set(why, ERR_NOT_FOUND, "%s: no such directory", subdir);
    for (uint32_t i = 0; i < s->current.count; i++) {
        const struct simdisk_entry *e = vec_at(&s->current, i);
        if (e->is_dir || !lies_in(e->name, subdir)) continue;
        each(ctx, e->name + (subdir[0] ? strlen(subdir) + 1 : 0), simdisk_inode(s, e->inode)->current_len);
    }
    return ERR_OK;
}

static enum err op_lock(struct disk *d, const char *name, struct why *why) {
    struct simdisk *s = of(d);
    if (fails(fault_of(s, SIMDISK_LOCK))) return REFUSE(name);
    if (simdisk_find(&s->locks, name) != NULL) return why_set(why, ERR_CONFLICT, "%s: held by another process", name);
    if (simdisk_find(&s->current, name) == NULL) {
        vec_push(&s->inodes);
        change_add(s, "", name, s->inodes.count - 1, false);
    }
    entry_set(&s->locks, name, 0, false);
    return ERR_OK;
}

static void op_unlock(struct disk *d, const char *name) {
    entry_remove(&of(d)->locks, name);
}

static enum err op_space(struct disk *d, uint64_t *ret, struct why *why) {
    struct simdisk *s = of(d);
    if (fails(fault_of(s, SIMDISK_SPACE))) return REFUSE("space");
    uint64_t used = simdisk_used(s);
    *ret = s->budget_bytes > used ? s->budget_bytes - used : 0;
    return ERR_OK;
}

static const struct disk_ops ops = {
    .open = op_open,
    .close = op_close,
    .size = op_size,
    .read = op_read,
    .write = op_write,
    .sync = op_sync,
    .allocate = op_allocate,
    .rename = op_rename,
    .remove = op_remove,
    .mkdir = op_mkdir,
    .sync_dir = op_sync_dir,
    .list = op_list,
    .lock = op_lock,
    .unlock = op_unlock,
    .space = op_space,
};

/* ---- life ---- */

struct simdisk *simdisk_new(uint64_t seed) {
    struct simdisk *s = calloc(1, sizeof *s);
    ENSURE(s != NULL);
    s->disk.ops = &ops;
    s->random = seed;
    s->budget_bytes = UINT64_MAX;
    vec_init(&s->inodes, sizeof(struct inode));
    vec_init(&s->current, sizeof(struct simdisk_entry));
    vec_init(&s->durable, sizeof(struct simdisk_entry));
    vec_init(&s->sectors, sizeof(struct sector));
    vec_init(&s->changes, sizeof(struct change));
    vec_init(&s->handles, sizeof(struct handle));
    vec_init(&s->locks, sizeof(struct simdisk_entry));
    return s;
}

void simdisk_free(struct simdisk *s) {
    if (s == NULL) return;
    for (uint32_t i = 0; i < s->inodes.count; i++) {
        free(simdisk_inode(s, i)->current);
        free(simdisk_inode(s, i)->durable);
    }
    vec_fini(&s->inodes);
    vec_fini(&s->current);
    vec_fini(&s->durable);
    vec_fini(&s->sectors);
    vec_fini(&s->changes);
    vec_fini(&s->handles);
    vec_fini(&s->locks);
    free(s);
}

struct disk *simdisk_disk(struct simdisk *s) {
    return &s->disk;
}
