/* oszones.c: see oszones.h. TZDIR says where the files are, as for the C library. */
#include "oszones.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "/usr/share/zoneinfo"
#define PIECE 4096u

static enum err zone_read(struct zones *z, const char *name, struct buf *ret, struct why *why) {
    (void)z;
    char path[512];
    const char *folder = getenv("TZDIR");
    snprintf(path, sizeof path, "%s/%s", folder != NULL && folder[0] == '/' ? folder : FOLDER, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return why_set(why, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO,
                       "there is no time zone `%s`; expected a name like Europe/Lisbon or UTC", name);
    ssize_t got = 0;
    do {
        uint8_t *at = buf_space(ret, PIECE);
        if (at == NULL) break;
        got = read(fd, at, PIECE);
        buf_cut(ret, ret->len - PIECE + (got > 0 ? (size_t)got : 0));
    } while (got > 0);
    close(fd);
    if (got < 0) return why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    return ret->full ? why_set(why, ERR_LIMIT, "%s: too large for a time zone", path) : ERR_OK;
}

struct zones *oszones(void) {
    static struct zones zones = {zone_read};
    return &zones;
}
