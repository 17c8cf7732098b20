/* cut.c: the power goes: `powercut cut STATE DIR…` takes back what the shim noted (powercut.h) and nobody synced.
 * Whoever wrote there must be dead. Then everything that is left is durable, and the log is empty.
 *
 *   --keep none   nothing of it survives (unless said otherwise)
 *   --keep some   of the bytes any choice of sectors survives, of 512 or 4096 bytes; of a file's size the old or new;
 *                 of names a part: all before some moment, none after it, as file systems with a journal have it
 *   --seed N      which
 *   --names all   any sync keeps all names made before it, as ext4 and XFS have it, whose journal has them in order;
 *                 else only one of their directory does
 *
 * `powercut settle STATE`: all is durable as it is. Both print one JSON object. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "powercut.h"

#define SLOTS (1u << 18) /* inodes at a time */

struct record {
    struct powercut_record head;
    uint64_t at; /* in the log */
    const char *rest;
};

struct inode {
    uint64_t number;
    uint64_t synced; /* records before this are durable */
    char *path;      /* where it is now; NULL = nowhere */
};

static struct {
    char *log;
    uint64_t log_bytes;
    struct record *records;
    size_t count;
    struct inode inodes[SLOTS];
    const char *state;
    bool keeps_some, names_by_any;
    uint64_t random;
    uint64_t sync_all, sync_any; /* the log was so long when the last sync of everything, of anything, began */
    uint64_t writes_undone, bytes_undone, names_undone, sectors_kept;
} g;

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "powercut: ");
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    exit(1);
}

static void *must(void *p) {
    if (p == NULL) die("no memory");
    return p;
}

/* splitmix64 */
static uint64_t draw(void) {
    uint64_t v = g.random += 0x9e3779b97f4a7c15u;
    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
    return v ^ (v >> 31);
}

static struct inode *inode_of(uint64_t number) {
    uint64_t at = number * 0x9e3779b97f4a7c15u >> 46;
    for (uint64_t i = 0; i < SLOTS; i++) {
        struct inode *row = &g.inodes[(at + i) % SLOTS];
        if (row->number == number) return row;
        if (row->number == 0) {
            row->number = number;
            return row;
        }
    }
    die("more than %u files", SLOTS);
}

/* ---- the log ---- */

static void log_read(void) {
    char path[POWERCUT_PATH_MAX];
    struct stat st;
    snprintf(path, sizeof path, "%s/log", g.state);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) return; /* nothing was changed */
    if (fd < 0 || fstat(fd, &st) != 0) die("%s: %s", path, strerrordesc_np(errno));
    g.log = must(malloc((size_t)st.st_size + 1));
    while (g.log_bytes < (uint64_t)st.st_size) {
        ssize_t got = read(fd, g.log + g.log_bytes, (size_t)st.st_size - g.log_bytes);
        if (got <= 0) die("%s: %s", path, strerrordesc_np(errno));
        g.log_bytes += (uint64_t)got;
    }
    close(fd);
}

static bool is_head(const char *at, struct powercut_record *ret) {
    memcpy(ret, at, sizeof *ret);
    return ret->magic == POWERCUT_MAGIC && ret->check == powercut_check(ret);
}

static bool has_head(const char *at, uint64_t bytes) {
    const uint64_t magic = POWERCUT_MAGIC;
    struct powercut_record r;
    const char *end = at + bytes, *found = at;
    while ((found = memmem(found, (size_t)(end - found), &magic, sizeof magic)) != NULL) {
        if ((size_t)(end - found) >= sizeof r && is_head(found, &r)) return true;
        found++;
    }
    return false;
}

/* A process that was killed while it wrote leaves half a record; another one may have gone on behind it. */
static bool record_at(uint64_t at, struct record *ret) {
    struct powercut_record *r = &ret->head;
    if (g.log_bytes - at < sizeof *r) return false;
    if (!is_head(g.log + at, r)) return false;
    uint64_t rest = r->path_bytes + r->path2_bytes + r->old_bytes;
    if (rest > g.log_bytes - at - sizeof *r) return false;
    ret->at = at;
    ret->rest = g.log + at + sizeof *r;
    return !has_head(ret->rest, rest); /* then it is half a record, and the head is of the next */
}

static void log_parse(void) {
    size_t slots = 0;
    for (uint64_t at = 0; at + sizeof(struct powercut_record) <= g.log_bytes;) {
        struct record r;
        if (!record_at(at, &r)) {
            at++;
            continue;
        }
        if (g.count == slots) {
            slots = slots * 2 + 1024;
            g.records = must(realloc(g.records, slots * sizeof *g.records));
        }
        g.records[g.count++] = r;
        at += sizeof r.head + r.head.path_bytes + r.head.path2_bytes + r.head.old_bytes;
    }
    for (size_t i = 0; i < g.count; i++) {
        const struct powercut_record *r = &g.records[i].head;
        if (r->kind == POWERCUT_SYNC_ALL && r->offset > g.sync_all) g.sync_all = r->offset;
        if (r->kind != POWERCUT_SYNC) continue;
        if (r->offset > g.sync_any) g.sync_any = r->offset;
        struct inode *n = inode_of(r->file);
        if (r->offset > n->synced) n->synced = r->offset;
    }
}

static bool is_synced(uint64_t inode, uint64_t at) {
    return at < g.sync_all || (inode != 0 && at < inode_of(inode)->synced);
}

/* ---- bytes ---- */

static int place_add(const char *path, const struct stat *st, int kind, struct FTW *at) {
    (void)at;
    if (kind != FTW_F) return 0;
    struct inode *n = inode_of(st->st_ino);
    if (n->path == NULL) n->path = must(strdup(path));
    return 0;
}

struct kept { /* what survives of one file */
    uint64_t offset, bytes;
    char *data;
};

static struct kept *kept;
static size_t kept_count, kept_slots;

static void keep_sectors(int fd, const struct powercut_record *r, uint64_t size, uint64_t sector, uint64_t odds) {
    uint64_t end = r->offset + r->bytes < size ? r->offset + r->bytes : size;
    for (uint64_t at = r->offset; at < end;) {
        uint64_t next = (at / sector + 1) * sector < end ? (at / sector + 1) * sector : end;
        if (draw() % 4 < odds) {
            if (kept_count == kept_slots) {
                kept_slots = kept_slots * 2 + 64;
                kept = must(realloc(kept, kept_slots * sizeof *kept));
            }
            struct kept *k = &kept[kept_count++];
            *k = (struct kept){at, next - at, must(malloc(next - at))};
            if (pread(fd, k->data, k->bytes, (off_t)at) != (ssize_t)k->bytes) die("read: %s", strerrordesc_np(errno));
        }
        at = next;
    }
}

static void put_back(int fd, const struct record *rec) {
    static const char zeroes[65536];
    const struct powercut_record *r = &rec->head;
    const char *old = rec->rest + r->path_bytes + r->path2_bytes;
    bool good = true;
    if (r->old_bytes > 0) good = pwrite(fd, old, r->old_bytes, (off_t)r->offset) == (ssize_t)r->old_bytes;
    for (uint64_t done = 0; good && done < r->old_zeroes;) {
        uint64_t len = r->old_zeroes - done < sizeof zeroes ? r->old_zeroes - done : sizeof zeroes;
        good = pwrite(fd, zeroes, len, (off_t)(r->offset + done)) == (ssize_t)len;
        done += len;
    }
    if (!good || ftruncate(fd, (off_t)r->size_before) != 0) die("undo: %s", strerrordesc_np(errno));
    g.writes_undone++;
    g.bytes_undone += r->bytes;
}

static void survive(int fd, uint64_t size_new) {
    struct stat st;
    if (fstat(fd, &st) != 0) die("stat: %s", strerrordesc_np(errno));
    bool has_new_size = draw() % 2 == 0;
    if (has_new_size && ftruncate(fd, (off_t)size_new) != 0) die("undo: %s", strerrordesc_np(errno));
    uint64_t size = has_new_size ? size_new : (uint64_t)st.st_size;
    for (size_t i = 0; i < kept_count; i++) {
        uint64_t bytes = kept[i].offset >= size                  ? 0
                         : kept[i].bytes < size - kept[i].offset ? kept[i].bytes
                                                                 : size - kept[i].offset;
        if (bytes > 0 && pwrite(fd, kept[i].data, bytes, (off_t)kept[i].offset) != (ssize_t)bytes)
            die("undo: %s", strerrordesc_np(errno));
        g.sectors_kept += bytes > 0;
        free(kept[i].data);
    }
    kept_count = 0;
}

/* Records of one file, oldest first. */
static void file_undo(const struct record **list, size_t count) {
    const char *path = inode_of(list[0]->head.file)->path;
    if (path == NULL) return; /* made and gone by ways that the shim does not see */
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) die("%s: %s", path, strerrordesc_np(errno));
    uint64_t sector = draw() % 2 == 0 ? 512 : 4096, odds = draw() % 5; /* none, some, or all of it */
    if (g.keeps_some)
        for (size_t i = 0; i < count; i++) keep_sectors(fd, &list[i]->head, (uint64_t)st.st_size, sector, odds);
    for (size_t i = count; i > 0; i--) put_back(fd, list[i - 1]);
    if (g.keeps_some) survive(fd, (uint64_t)st.st_size);
    close(fd);
}

static int by_file(const void *a, const void *b) {
    const struct record *x = *(const struct record *const *)a, *y = *(const struct record *const *)b;
    if (x->head.file != y->head.file) return x->head.file < y->head.file ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void bytes_undo(void) {
    const struct record **list = must(malloc((g.count + 1) * sizeof *list));
    size_t count = 0;
    for (size_t i = 0; i < g.count; i++) {
        const struct record *r = &g.records[i];
        if (r->head.kind == POWERCUT_WRITE && !is_synced(r->head.file, r->at)) list[count++] = r;
    }
    qsort(list, count, sizeof *list, by_file);
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && list[to]->head.file == list[from]->head.file) to++;
        file_undo(list + from, to - from);
    }
    free(list);
}

/* ---- names ---- */

static bool is_file(const char *path, uint64_t inode) {
    struct stat st;
    return lstat(path, &st) == 0 && st.st_ino == inode;
}

static void grave_path(char ret[POWERCUT_PATH_MAX], uint64_t number) {
    snprintf(ret, POWERCUT_PATH_MAX, "%s/grave/%llu", g.state, (unsigned long long)number);
}

static void name_undo(const struct record *rec) {
    const struct powercut_record *r = &rec->head;
    char path[POWERCUT_PATH_MAX], path2[POWERCUT_PATH_MAX], grave[POWERCUT_PATH_MAX];
    struct stat st;
    snprintf(path, sizeof path, "%.*s", (int)r->path_bytes, rec->rest);
    snprintf(path2, sizeof path2, "%.*s", (int)r->path2_bytes, rec->rest + r->path_bytes);
    grave_path(grave, r->grave);
    int rc = 0;
    switch ((enum powercut_kind)r->kind) {
    case POWERCUT_CREATE:
        if (is_file(path, r->file)) rc = unlink(path);
        break;
    case POWERCUT_MKDIR:
        rc = rmdir(path);
        if (rc != 0 && errno == ENOENT) rc = 0;
        if (rc != 0 && errno == ENOTEMPTY) { /* all in it goes along */
            snprintf(grave, sizeof grave, "%s/grave/dir%llu", g.state, (unsigned long long)rec->at);
            rc = rename(path, grave);
        }
        break;
    case POWERCUT_REMOVE:
        if (lstat(path, &st) != 0) rc = link(grave, path);
        break;
    case POWERCUT_RMDIR:
        if (lstat(path, &st) != 0) rc = mkdir(path, 0700);
        break;
    case POWERCUT_RENAME:
        if (is_file(path2, r->file)) rc = rename(path2, path);
        if (rc == 0 && r->grave != 0 && lstat(path2, &st) != 0) rc = link(grave, path2);
        break;
    case POWERCUT_WRITE:
    case POWERCUT_SYNC:
    case POWERCUT_SYNC_ALL: return;
    }
    /* The directory it was in may have got another name, and that one may be durable: then it is gone with its path. */
    if (rc != 0 && errno == ENOENT) return;
    if (rc != 0) die("undo of a name: %s: %s", path, strerrordesc_np(errno));
    g.names_undone++;
}

static bool name_is_durable(const struct record *rec) {
    const struct powercut_record *r = &rec->head;
    if (is_synced(r->dir, rec->at) || (r->dir2 != 0 && is_synced(r->dir2, rec->at))) return true;
    return g.names_by_any && rec->at < g.sync_any;
}

static bool is_name(const struct record *r) {
    return r->head.kind >= POWERCUT_CREATE && r->head.kind <= POWERCUT_RENAME;
}

static void names_undo(void) {
    uint64_t until = g.keeps_some && g.log_bytes > 0 ? draw() % (g.log_bytes + 1) : 0; /* up to here they survive */
    if (g.keeps_some && draw() % 3 == 0) until = 0;
    for (size_t i = g.count; i > 0; i--) {
        const struct record *r = &g.records[i - 1];
        if (is_name(r) && !name_is_durable(r) && r->at >= until) name_undo(r);
    }
}

/* ---- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at) {
    (void)st, (void)kind;
    return at->level == 0 ? 0 : remove(path);
}

static void settle(void) {
    char path[POWERCUT_PATH_MAX];
    if (mkdir(g.state, 0700) != 0 && errno != EEXIST) die("%s: %s", g.state, strerrordesc_np(errno));
    snprintf(path, sizeof path, "%s/grave", g.state);
    if (mkdir(path, 0700) != 0 && errno != EEXIST) die("%s: %s", path, strerrordesc_np(errno));
    (void)nftw(path, remove_one, 64, FTW_DEPTH | FTW_PHYS);
    snprintf(path, sizeof path, "%s/log", g.state);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) die("%s: %s", path, strerrordesc_np(errno));
    close(fd);
}

int main(int argc, char **argv) {
    const char *dirs[8];
    int dir_count = 0;
    if (argc < 3) die("usage: powercut cut STATE [--keep none|some] [--seed N] [--names all] DIR... | settle STATE");
    g.state = argv[2];
    for (int i = 3; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--keep") == 0)
            g.keeps_some = strcmp(value, "some") == 0;
        else if (strcmp(argv[i], "--seed") == 0)
            g.random = strtoull(value, NULL, 10);
        else if (strcmp(argv[i], "--names") == 0)
            g.names_by_any = strcmp(value, "all") == 0;
        else if (dir_count < 8)
            dirs[dir_count++] = argv[i];
        i += argv[i][0] == '-';
    }
    if (strcmp(argv[1], "cut") == 0) {
        char grave[POWERCUT_PATH_MAX];
        log_read();
        log_parse();
        snprintf(grave, sizeof grave, "%s/grave", g.state);
        for (int i = 0; i < dir_count; i++) (void)nftw(dirs[i], place_add, 64, FTW_PHYS);
        (void)nftw(grave, place_add, 64, FTW_PHYS);
        bytes_undo();
        names_undo();
    } else if (strcmp(argv[1], "settle") != 0) {
        die("cut or settle is expected, not %s", argv[1]);
    }
    settle();
    printf(
        "{\"records\":%zu,\"writes_undone\":%llu,\"bytes_undone\":%llu,\"sectors_kept\":%llu,\"names_undone\":%llu}\n",
        g.count, (unsigned long long)g.writes_undone, (unsigned long long)g.bytes_undone,
        (unsigned long long)g.sectors_kept, (unsigned long long)g.names_undone);
    return 0;
}
