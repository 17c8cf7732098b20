/* packer.c: see packer.h. */
#include "packer.h"

#include <archive.h>
#include <archive_entry.h>

#include <stdio.h>

#include "test.h"

static void ok(struct packer *p, int code) {
    if (code != ARCHIVE_OK) fail_msg("libarchive: %s", archive_error_string(p->archive));
}

static void filter(struct packer *p, const char *name) {
    if (strcmp(name, "gz") == 0)
        ok(p, archive_write_add_filter_gzip(p->archive));
    else if (strcmp(name, "bz2") == 0)
        ok(p, archive_write_add_filter_bzip2(p->archive));
    else if (strcmp(name, "xz") == 0)
        ok(p, archive_write_add_filter_xz(p->archive));
    else if (strcmp(name, "zst") == 0)
        ok(p, archive_write_add_filter_zstd(p->archive));
    else
        fail_msg("no filter %s", name);
}

void packer_open(struct packer *p, const char *path, const char *format) {
    p->archive = archive_write_new();
    assert_non_null(p->archive);
    if (strncmp(format, "zip", 3) == 0) {
        ok(p, archive_write_set_format_zip(p->archive));
        if (format[3] == '!') {
            ok(p, archive_write_set_options(p->archive, "zip:encryption=traditional"));
            ok(p, archive_write_set_passphrase(p->archive, "secret"));
        }
    } else {
        char copy[32], *save = NULL;
        snprintf(copy, sizeof copy, "%s", format);
        ok(p, archive_write_set_format_pax_restricted(p->archive));
        (void)strtok_r(copy, ".", &save);
        for (char *name = strtok_r(NULL, ".", &save); name != NULL; name = strtok_r(NULL, ".", &save)) filter(p, name);
    }
    ok(p, archive_write_open_filename(p->archive, path));
}

static struct archive_entry *entry_new(const char *path, unsigned type, uint32_t mode, size_t bytes) {
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname(e, path);
    archive_entry_set_filetype(e, type);
    archive_entry_set_perm(e, mode);
    archive_entry_set_size(e, (la_int64_t)bytes);
    return e;
}

static void entry_put(struct packer *p, struct archive_entry *e, const void *data, size_t bytes) {
    ok(p, archive_write_header(p->archive, e));
    archive_entry_free(e);
    if (bytes > 0) assert_int_equal(archive_write_data(p->archive, data, bytes), bytes);
}

void packer_add(struct packer *p, enum packer_kind kind, const char *path, uint32_t mode, const char *text) {
    static const unsigned types[] = {AE_IFREG, AE_IFDIR, AE_IFLNK, AE_IFREG, AE_IFIFO, AE_IFCHR};
    size_t bytes = kind == PACK_FILE ? strlen(text) : 0;
    struct archive_entry *e = entry_new(path, types[kind], mode, bytes);
    if (kind == PACK_SYMLINK) archive_entry_set_symlink(e, text);
    if (kind == PACK_HARDLINK) archive_entry_set_hardlink(e, text);
    entry_put(p, e, text, bytes);
}

void packer_file(struct packer *p, const char *path, const char *text) {
    packer_add(p, PACK_FILE, path, 0644, text);
}

void packer_zeroes(struct packer *p, const char *path, size_t bytes) {
    static const char zeroes[65536];
    entry_put(p, entry_new(path, AE_IFREG, 0644, bytes), NULL, 0);
    for (size_t left = bytes; left > 0;) {
        size_t n = left < sizeof zeroes ? left : sizeof zeroes;
        assert_int_equal(archive_write_data(p->archive, zeroes, n), n);
        left -= n;
    }
}

void packer_close(struct packer *p) {
    ok(p, archive_write_close(p->archive));
    archive_write_free(p->archive);
    p->archive = NULL;
}
