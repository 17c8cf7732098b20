/* cert.c: see cert.h. */
#include "cert.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "oscert.h"

#define DAYS_STANDARD 825
#define DAYS_MAX 36500
#define DIR_BYTES 512u

struct cert_wish {
    const char *data, *tenant;
    char dir[DIR_BYTES];
    const char *names[OSCERT_HOSTS_MAX];
    uint32_t name_count;
    int days;
};

static enum err name_add(struct cert_wish *w, const char *name, struct why *why) {
    for (uint32_t i = 0; i < w->name_count; i++)
        if (strcmp(w->names[i], name) == 0) return ERR_OK;
    if (w->name_count == OSCERT_HOSTS_MAX) return why_set(why, ERR_LIMIT, "more than %u names", OSCERT_HOSTS_MAX);
    w->names[w->name_count++] = name;
    return ERR_OK;
}

static enum err wish_read(struct cert_wish *w, int count, char **args, struct why *why) {
    const char *data = getenv("REEVE_DATA");
    *w = (struct cert_wish){.data = data != NULL && data[0] != 0 ? data : ".reeve", .days = DAYS_STANDARD};
    for (int i = 0; i < count; i++) {
        bool is_flag = strncmp(args[i], "--", 2) == 0;
        if (is_flag && i + 1 == count) return why_set(why, ERR_INVALID, "%s needs a value", args[i]);
        if (!is_flag) {
            enum err e = name_add(w, args[i], why);
            if (e != ERR_OK) return e;
        } else if (strcmp(args[i], "--data") == 0) {
            w->data = args[++i];
        } else if (strcmp(args[i], "--tenant") == 0) {
            w->tenant = args[++i];
        } else if (strcmp(args[i], "--days") == 0) {
            char *end = NULL;
            long days = strtol(args[++i], &end, 10);
            if (end == args[i] || *end != 0 || days < 1 || days > DAYS_MAX)
                return why_set(why, ERR_INVALID, "--days: expected a number from 1 to %d, found `%s`", DAYS_MAX,
                               args[i]);
            w->days = (int)days;
        } else {
            return why_set(why, ERR_INVALID, "there is no flag %s; `reeve help cert init` lists them", args[i]);
        }
    }
    if (snprintf(w->dir, sizeof w->dir, "%s/tls", w->data) >= (int)sizeof w->dir)
        return why_set(why, ERR_LIMIT, "--data: the path is too long");
    return ERR_OK;
}

enum err cert_init(int count, char **args, struct why *why) {
    struct cert_wish w;
    static char host[256];
    enum err e = wish_read(&w, count, args, why);
    if (e == ERR_OK && w.tenant != NULL) e = why_set(why, ERR_INVALID, "--tenant is for workers and clients");
    if (e == ERR_OK && gethostname(host, sizeof host - 1) == 0) e = name_add(&w, host, why);
    /* who is on the machine itself reaches it by these */
    if (e == ERR_OK) e = name_add(&w, "localhost", why);
    if (e == ERR_OK) e = name_add(&w, "127.0.0.1", why);
    if (e == ERR_OK) e = name_add(&w, "::1", why);
    if (e == ERR_OK && mkdir(w.data, 0700) != 0 && errno != EEXIST)
        e = why_set(why, ERR_IO, "%s: %s", w.data, strerrordesc_np(errno));
    if (e == ERR_OK) e = oscert_server(w.dir, w.names, w.name_count, w.days, why);
    if (e != ERR_OK) return e;
    printf("%s/server.pem is for", w.dir);
    for (uint32_t i = 0; i < w.name_count; i++) printf(" %s", w.names[i]);
    printf("; a server on %s uses it from its next start or SIGHUP on.\n\n"
           "  reeve serve --data %s --listen 0.0.0.0:7070   listen for other machines\n"
           "  reeve cert worker NAME --data %s              make the certificate of a worker\n"
           "  REEVE_SERVER=tls://%s:7070 REEVE_TOKEN=… reeve ls --tls-ca ca.pem   use it from elsewhere, with "
           "%s/ca.pem\n",
           w.data, w.data, w.data, w.names[0], w.dir);
    return ERR_OK;
}

static enum err peer(int count, char **args, const char *role, struct cert_wish *w, struct why *why) {
    enum err e = wish_read(w, count, args, why);
    if (e == ERR_OK && w->name_count != 1)
        e = why_set(why, ERR_INVALID, "expected one NAME; see `reeve help cert %s`", role);
    if (e == ERR_OK) e = oscert_peer(w->dir, w->names[0], role, w->tenant, w->days, why);
    if (e == ERR_OK) printf("%s/%s.pem\n", w->dir, w->names[0]);
    return e;
}

enum err cert_worker(int count, char **args, struct why *why) {
    struct cert_wish w;
    enum err e = peer(count, args, "worker", &w, why);
    if (e == ERR_OK && isatty(STDOUT_FILENO))
        printf("\nCopy this file to the machine of the worker and run there:\n\n"
               "  reeve worker --server tls://HOST:7070 --tls-cert %s.pem\n",
               w.names[0]);
    return e;
}

enum err cert_client(int count, char **args, struct why *why) {
    struct cert_wish w;
    return peer(count, args, "client", &w, why);
}

enum err cert_revoke(int count, char **args, struct why *why) {
    struct cert_wish w;
    char serial[OSCERT_SERIAL_MAX];
    enum err e = wish_read(&w, count, args, why);
    if (e == ERR_OK && (w.name_count != 1 || w.tenant != NULL))
        e = why_set(why, ERR_INVALID, "expected one NAME or SERIAL; see `reeve help cert revoke`");
    if (e == ERR_OK) e = oscert_revoke(w.dir, w.names[0], serial, why);
    if (e == ERR_OK)
        printf("%s is revoked; a server on %s refuses and disconnects it from its next start or SIGHUP on.\n", serial,
               w.data);
    return e;
}
