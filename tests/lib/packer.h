/* packer.h: makes archives for tests, also such as no honest program would make. */
#ifndef REEVE_PACKER_H
#define REEVE_PACKER_H

#include <stddef.h>
#include <stdint.h>

struct archive;

struct packer {
    struct archive *archive;
};

enum packer_kind { PACK_FILE, PACK_DIR, PACK_SYMLINK, PACK_HARDLINK, PACK_PIPE, PACK_DEVICE };

/* `format`: zip, tar, tar.gz, tar.bz2, tar.xz, tar.zst, tar.gz.gz, or zip! for an encrypted one. */
void packer_open(struct packer *p, const char *path, const char *format);
/* `text`: what a file holds, or where a link leads; NULL for the others. */
void packer_add(struct packer *p, enum packer_kind kind, const char *path, uint32_t mode, const char *text);
void packer_file(struct packer *p, const char *path, const char *text); /* 0644 */
void packer_zeroes(struct packer *p, const char *path, size_t bytes);
void packer_close(struct packer *p);

#endif
