/* serve_titan_peers.c: see serve_titan_peers.h. */
#include "serve_titan_peers.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "osclock.h"
#include "osdisk.h"
#include "osloop.h"
#include "osspace.h"
#include "server.h"
#include "titan_fleet.h"

#define PATH_BYTES 1024u

static void list_left(const char *path, void (*left)(void *arg, const char *space), void *arg) {
    DIR *dir = opendir(path);
    if (dir == NULL) return;
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        if (e->d_name[0] != '.') left(arg, e->d_name);
    closedir(dir);
}

static enum err place(void *ctx, const char *name, void (*left)(void *arg, const char *space), void *arg,
                      struct disk **ret_disk, struct space **ret_space, struct why *why) {
    const struct serve_titan_peers *p = ctx;
    char path[PATH_BYTES], inside[PATH_BYTES];
    snprintf(path, sizeof path, "%s/titan", p->data);
    if (mkdir(path, 0700) != 0 && errno != EEXIST) return why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    snprintf(path, sizeof path, "%s/titan/%s", p->data, name);
    enum err e = osdisk_open(path, ret_disk, why);
    if (e != ERR_OK) return e;
    snprintf(inside, sizeof inside, "%s/titan/%s/space", p->data, name);
    list_left(inside, left, arg);
    e = osspace_open(inside, ret_space, why);
    if (e == ERR_OK) e = osspace_sweep(*ret_space, why);
    if (e != ERR_OK) osdisk_close(*ret_disk);
    return e;
}

static void unplace(void *ctx, struct disk *disk, struct space *space) {
    (void)ctx;
    osspace_close(space);
    osdisk_close(disk);
}

static conn_id pending(void *ctx) {
    return titan_fleet_pending(((const struct serve_titan_peers *)ctx)->server);
}

static void log_line(void *ctx, const char *line) {
    const struct serve_titan_peers *p = ctx;
    p->log(p->log_ctx, line);
}

struct titan_peers *serve_titan_peers_open(struct serve_titan_peers *p, struct osloop *loop, const char *address,
                                           const char *tenant, const char *build, const struct limits *limits) {
    struct titan_peers_options o = {.clock = osclock(),
                                    .net = osloop_net(loop),
                                    .server = address,
                                    .tenant = tenant,
                                    .build = build,
                                    .limits = *limits,
                                    .place = place,
                                    .unplace = unplace,
                                    .pending = pending,
                                    .log = log_line,
                                    .ctx = p};
    return titan_peers_new(&o);
}
