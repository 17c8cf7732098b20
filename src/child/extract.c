/* extract.c: see extract.h. */
#include "extract.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "panic.h"

#define CHUNK_BYTES 65536u
#define RATIO_FREE_BYTES (16u << 20) /* so much may come out of any archive: zeroes are packed tightly by right */
#define FILTERS_MAX 2                /* one compression, and the bytes themselves */
#define INSIDE (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)

struct work {
    const struct archivelib *lib;
    const struct extract_limits *limits;
    struct archive *archive;
    int folder;
    uint64_t archive_bytes, bytes, entries;
    struct slice now;         /* the entry, as the archive calls it */
    struct entry_place place; /* and where it goes */
    uint8_t chunk[CHUNK_BYTES];
};

static enum err refuse(const struct work *w, struct why *why, const char *wrong) {
    return entry_refuse(w->now, why, wrong);
}

static enum err failed(const struct work *w, struct why *why) {
    if (errno == ELOOP || errno == EXDEV) return refuse(w, why, "goes through a link");
    if (errno == ENOTDIR) return refuse(w, why, "goes through something that is no folder");
    if (errno == EEXIST) return refuse(w, why, "is there already: it comes twice, or is an input of the job");
    char text[96];
    snprintf(text, sizeof text, "cannot be written: %s", strerrordesc_np(errno));
    return refuse(w, why, text);
}

/* ---- paths below the folder, never through a link ---- */

static int open_inside(int folder, const char *path, int flags, mode_t mode) {
    struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC), .resolve = INSIDE};
    if (flags & O_CREAT) how.mode = mode;
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

static int folder_open(int folder, const char *path) {
    return open_inside(folder, path[0] != 0 ? path : ".", O_PATH | O_DIRECTORY, 0);
}

/* Opens a folder and makes what is missing on the way; -1 and errno. */
static int folder_make(int top, const char *path) {
    int at = folder_open(top, path);
    if (at >= 0 || errno != ENOENT) return at;
    char name[ENTRY_PATH_MAX];
    for (at = folder_open(top, ""); at >= 0 && *path != 0;) {
        size_t len = strcspn(path, "/");
        memcpy(name, path, len);
        name[len] = 0;
        path += len + (path[len] == '/');
        bool is_made = mkdirat(at, name, 0755) == 0 || errno == EEXIST;
        int next = is_made ? folder_open(at, name) : -1;
        (void)close(at);
        at = next;
    }
    return at;
}

struct split {
    const char *folder, *name;
};

static struct split path_split(char *path) {
    char *slash = strrchr(path, '/');
    if (slash == NULL) return (struct split){"", path};
    *slash = 0;
    return (struct split){path, slash + 1};
}

/* ---- kinds of entries ---- */

static enum err count_bytes(struct work *w, size_t more, struct why *why) {
    w->bytes += more;
    if (w->bytes > w->limits->bytes_max)
        return refuse(w, why, "is where the archive becomes larger than archive_bytes_max allows");
    if (w->bytes > RATIO_FREE_BYTES && w->bytes / w->limits->ratio_max > w->archive_bytes)
        return refuse(w, why, "is where the archive unpacks to more than archive_ratio_max times its size");
    return ERR_OK;
}

static enum err file_fill(struct work *w, int fd, struct why *why) {
    for (;;) {
        la_ssize_t got = w->lib->archive_read_data(w->archive, w->chunk, sizeof w->chunk);
        if (got == 0) return ERR_OK;
        if (got < 0) {
            const char *said = w->lib->archive_error_string(w->archive);
            char text[128];
            snprintf(text, sizeof text, "cannot be read: %s", said != NULL ? said : "no reason is given");
            return refuse(w, why, text);
        }
        enum err e = count_bytes(w, (size_t)got, why);
        if (e != ERR_OK) return e;
        for (size_t at = 0; at < (size_t)got;) {
            ssize_t put = write(fd, w->chunk + at, (size_t)got - at);
            if (put < 0 && errno == EINTR) continue;
            if (put <= 0) return failed(w, why);
            at += (size_t)put;
        }
    }
}

static enum err file_make(struct work *w, int parent, const char *name, uint32_t mode, struct why *why) {
    mode_t rights = mode & 0111 ? 0755 : 0644;
    int fd = open_inside(parent, name, O_WRONLY | O_CREAT | O_EXCL, rights);
    if (fd < 0) return failed(w, why);
    enum err e = file_fill(w, fd, why);
    if (close(fd) != 0 && e == ERR_OK) e = failed(w, why);
    return e;
}

static enum err hardlink_make(struct work *w, int parent, const char *name, struct why *why) {
    struct stat st;
    struct split of = path_split(w->place.target);
    int from = folder_open(w->folder, of.folder);
    bool is_file = from >= 0 && fstatat(from, of.name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
    enum err e = ERR_OK;
    if (!is_file)
        e = refuse(w, why, "is a link to something that is no file before it in the archive");
    else if (linkat(from, of.name, parent, name, 0) != 0)
        e = failed(w, why);
    if (from >= 0) (void)close(from);
    return e;
}

static enum err dir_make(struct work *w, struct why *why) {
    int fd = folder_make(w->folder, w->place.path);
    if (fd < 0) return failed(w, why);
    (void)close(fd);
    return ERR_OK;
}

static enum err place_make(struct work *w, const struct entry *e, struct why *why) {
    if (w->place.is_nothing) return ERR_OK;
    if (e->kind == ENTRY_DIR) return dir_make(w, why);
    struct split to = path_split(w->place.path);
    int parent = folder_make(w->folder, to.folder);
    if (parent < 0) return failed(w, why);
    enum err err = ERR_OK;
    if (e->kind == ENTRY_FILE)
        err = file_make(w, parent, to.name, e->mode, why);
    else if (e->kind == ENTRY_HARDLINK)
        err = hardlink_make(w, parent, to.name, why);
    else if (symlinkat(w->place.target, parent, to.name) != 0)
        err = failed(w, why);
    (void)close(parent);
    return err;
}

/* ---- the archive ---- */

static struct slice text_of(const char *text) {
    return text != NULL ? slice_str(text) : (struct slice){0};
}

static enum entry_kind kind_of(const struct archivelib *lib, struct archive_entry *from) {
    if (lib->archive_entry_hardlink(from) != NULL) return ENTRY_HARDLINK;
    switch (lib->archive_entry_filetype(from)) {
    case AE_IFREG: return ENTRY_FILE;
    case AE_IFDIR: return ENTRY_DIR;
    case AE_IFLNK: return ENTRY_SYMLINK;
    case AE_IFCHR:
    case AE_IFBLK: return ENTRY_DEVICE;
    case AE_IFIFO:
    case AE_IFSOCK: return ENTRY_PIPE;
    default: return ENTRY_UNKNOWN; /* no enum, and unauthenticated' */
    }
}

static enum err entry_take(struct work *w, struct archive_entry *from, struct why *why) {
    const struct archivelib *lib = w->lib;
    struct entry e = {.path = text_of(lib->archive_entry_pathname(from)),
                      .kind = kind_of(lib, from),
                      .mode = (uint32_t)lib->archive_entry_perm(from),
                      .is_encrypted = lib->archive_entry_is_encrypted(from) > 0};
    if (e.kind == ENTRY_SYMLINK) e.target = text_of(lib->archive_entry_symlink(from));
    if (e.kind == ENTRY_HARDLINK) e.target = text_of(lib->archive_entry_hardlink(from));
    w->now = e.path;
    if (++w->entries > w->limits->entries_max) return refuse(w, why, "is one more than archive_entries_max allows");
    if (lib->archive_filter_count(w->archive) > FILTERS_MAX)
        return why_set(why, ERR_INVALID, "it is compressed more than once");
    enum err err = entry_check(&e, &w->limits->rules, &w->place, why);
    return err == ERR_OK ? place_make(w, &e, why) : err;
}

static enum err said_wrong(const struct work *w, struct why *why) {
    const char *said = w->lib->archive_error_string(w->archive);
    if (said == NULL) said = "no reason is given";
    if (w->entries == 0) return why_set(why, ERR_INVALID, "it is no zip or tar archive: %s", said);
    return why_set(why, ERR_INVALID, "it is damaged behind %llu entries: %s", (unsigned long long)w->entries, said);
}

static enum err entries_take(struct work *w, int archive, struct why *why) {
    if (w->lib->archive_read_open_fd(w->archive, archive, CHUNK_BYTES) != ARCHIVE_OK) return said_wrong(w, why);
    for (;;) {
        struct archive_entry *from = NULL;
        int code = w->lib->archive_read_next_header(w->archive, &from);
        if (code == ARCHIVE_EOF) break;
        if (code != ARCHIVE_OK && code != ARCHIVE_WARN) return said_wrong(w, why);
        enum err e = entry_take(w, from, why);
        if (e != ERR_OK) return e;
    }
    return w->entries > 0 ? ERR_OK : why_set(why, ERR_INVALID, "there is nothing in it");
}

enum err extract(const struct archivelib *lib, int archive, int folder, const struct extract_limits *limits,
                 struct why *why) {
    static struct work w; /* too large for a stack; once in the life of the process */
    struct stat st;
    REQUIRE(limits->ratio_max > 0);
    if (fstat(archive, &st) != 0) return why_set(why, ERR_IO, "fstat: %s", strerrordesc_np(errno));
    w = (struct work){.lib = lib, .limits = limits, .folder = folder, .archive_bytes = (uint64_t)st.st_size};
    w.archive = lib->archive_read_new();
    if (w.archive == NULL) return why_set(why, ERR_IO, "no memory for reading it");
    lib->archive_read_support_format_tar(w.archive);
    lib->archive_read_support_format_zip(w.archive);
    lib->archive_read_support_filter_gzip(w.archive);
    lib->archive_read_support_filter_bzip2(w.archive);
    lib->archive_read_support_filter_xz(w.archive);
    lib->archive_read_support_filter_zstd(w.archive);
    enum err e = entries_take(&w, archive, why);
    lib->archive_read_free(w.archive);
    return e;
}
