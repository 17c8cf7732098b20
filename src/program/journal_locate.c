/* journal_locate.c: see journal_locate.h. */
#include "journal_locate.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "osdisk.h"

enum err journal_locate(const char *locator, struct journal_located *ret, struct why *why) {
    struct journal_located l;
    if (access(locator, R_OK) != 0) return why_set(why, ERR_NOT_FOUND, "%s: %s", locator, strerrordesc_np(errno));
    enum err e = osdisk_open(locator, &l.disk, why);
    if (e != ERR_OK) return e;
    e = file_reader(l.disk, &l.reader, why);
    if (e == ERR_OK)
        *ret = l;
    else
        osdisk_close(l.disk);
    return e;
}

void journal_located_close(struct journal_located *l) {
    l->reader->ops->close(l->reader);
    osdisk_close(l->disk);
}
