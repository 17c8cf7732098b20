/* serve.c: the server on a real machine: settings, listeners, signals, its log, and the loop that drives it. */
#include "serve.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "console_assets.h"
#include "engine.h"
#include "hstore.h"
#include "inherited_fds.h"
#include "journal_engine.h"
#include "json.h"
#include "launch.h"
#include "oidc_file.h"
#include "orion_session.h"
#include "osbackground.h"
#include "oscert.h"
#include "oschild.h"
#include "osclock.h"
#include "osdigest.h"
#include "osdisk.h"
#include "osfetch.h"
#include "osloop.h"
#include "osreplay.h"
#include "ossecret.h"
#include "ossigner.h"
#include "ossignature.h"
#include "ostls.h"
#include "oszones.h"
#include "resp_session.h"
#include "serve_forward.h"
#include "serve_memory.h"
#include "serve_titan_peers.h"
#include "server.h"
#include "settings.h"
#include "titan_session.h"

#define DRAIN_MS_MAX 10000

struct serve {
    struct settings settings;
    struct disk *disk;
    struct osloop *loop;
    struct osreplay *recall; /* tells events of the past again */
    struct osbackground *aside;
    struct signer *signer; /* of checkpoints of the journal */
    struct osfetch *fetch;   /* asks identity providers */
    struct issuers *issuers; /* until the server has them */
    struct serve_forward forward; /* hands the audit trail on */
    struct server *server;
    enum server_level level; /* below it nothing is logged */
    bool json;
    int64_t drain_by_ms; /* 0 = not stopping */

    struct oschild child; /* that compacts */
    enum err child_err;
    struct why child_why;
    watch_id child_watch;
    uint32_t archive_days;
    const char *locator; /* of the journal; NULL = no other process can read it: no replay, no compaction */

    struct inherited_fds handover; /* of `reeve up --playground`; no control = there is none */
    struct kill_switch plug;
    struct orion_options orion;
    struct titan_options titan;
    char titan_address[OSLOOP_ADDRESS_MAX]; /* of its listener, as jobs are told */
    struct resp_options resp;
    struct dialect_setting dialects[4]; /* the last has no dialect */
    struct serve_titan_peers members_place;
    struct titan_peers *members;        /* Titan's own workers; NULL = its protocol is not spoken here */
    char socket[SETTING_TEXT_MAX + 32]; /* where they attach; empty = there is none */
    bool kill_asked, kill_told;         /* asked: in the last pass; what it sent is out by the next */

    uint32_t connections_max;
    bool has_tls, needs_tls;
    enum server_certified certified;
};

static const char *const level_words[] = {"debug", "info", "warn", "error"};

/* ---- the log: one line per event that matters, on standard error ---- */

static void log_line(void *ctx, enum server_level level, const char *what, const char *text) {
    const struct serve *v = ctx;
    char time_text[40];
    struct timespec now;
    struct tm parts;
    if (level < v->level) return;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    size_t len = strftime(time_text, sizeof time_text, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(time_text + len, sizeof time_text - len, ".%03ldZ", now.tv_nsec / 1000000);
    if (!v->json) {
        fprintf(stderr, "%s %-5s %-12s %s\n", time_text, level_words[level], what, text);
        return;
    }
    struct buf out;
    struct json j;
    buf_init(&out, 4096);
    json_init(&j, &out);
    json_object(&j);
    const char *const pairs[][2] = {
        {"time", time_text}, {"level", level_words[level]}, {"event", what}, {"text", text}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        json_key(&j, pairs[i][0]);
        json_str(&j, pairs[i][1]);
    }
    json_object_end(&j);
    fprintf(stderr, "%.*s\n", (int)out.len, (const char *)out.at);
    buf_fini(&out);
}

/* ---- compaction, by a child ---- */

/* On the journal's housekeeping thread. */
static void compact_start(void *ctx) {
    struct serve *v = ctx;
    v->child_err = oschild_compact(v->locator, v->archive_days, &v->child, &v->child_why);
}

static void compact_over(struct serve *v, bool well, const char *text) {
    log_line(v, well ? SERVER_DEBUG : SERVER_WARN, "compaction", text);
    server_compacted(v->server, well);
}

static void compact_ended(void *ctx, unsigned when) {
    struct serve *v = ctx;
    int code = 0;
    (void)when;
    /* The descriptor is closed with the child, so the loop has to let go of it before; it is asked again if need be. */
    osloop_unwatch(v->loop, v->child_watch);
    v->child_watch = (watch_id){0};
    if (oschild_ended(&v->child, &code))
        compact_over(v, code == 0, code == 0 ? "done" : "the child failed");
    else if (osloop_watch(v->loop, v->child.pidfd, OSLOOP_READABLE, compact_ended, v, &v->child_watch, &v->child_why) !=
             ERR_OK)
        compact_over(v, false, v->child_why.text);
}

static void compact_turn(struct serve *v) {
    if (server_wants_compact(v->server)) server_compact(v->server, compact_start, v);
    if (!server_compact_started(v->server)) return;
    enum err e = v->child_err;
    if (e == ERR_OK)
        e = osloop_watch(v->loop, v->child.pidfd, OSLOOP_READABLE, compact_ended, v, &v->child_watch, &v->child_why);
    if (e != ERR_OK) compact_over(v, false, v->child_why.text);
}

/* ---- TLS ---- */

static void tls_files(const struct serve *v, char own[3][SETTING_TEXT_MAX + 16], struct ostls_files *ret) {
    const char *data = setting_text(&v->settings, SETTING_data);
    *ret = (struct ostls_files){.cert = setting_text(&v->settings, SETTING_tls_cert),
                                .key = setting_text(&v->settings, SETTING_tls_key),
                                .ca = setting_text(&v->settings, SETTING_tls_client_ca)};
    snprintf(own[0], SETTING_TEXT_MAX + 16, "%s/tls/server.pem", data);
    snprintf(own[1], SETTING_TEXT_MAX + 16, "%s/tls/ca.pem", data);
    snprintf(own[2], SETTING_TEXT_MAX + 16, "%s/tls/" OSCERT_REVOKED, data);
    ret->revoked = own[2];
    if (ret->cert[0] != 0 || access(own[0], F_OK) != 0) return;
    ret->cert = own[0];
    if (ret->ca[0] == 0 && access(own[1], F_OK) == 0) ret->ca = own[1];
}

/* At the start, and again on SIGHUP for connections to come. */
static enum err tls_load(struct serve *v, struct why *why) {
    char own[3][SETTING_TEXT_MAX + 16], text[OSTLS_PIN_TEXT + 64], pin[OSTLS_PIN_TEXT];
    struct ostls_files files;
    struct ostls *tls = NULL;
    tls_files(v, own, &files);
    if (files.cert[0] == 0) return ERR_OK;
    enum err e = ostls_server(&files, &tls, why);
    if (e != ERR_OK) return e;
    ostls_pin(tls, pin);
    osloop_tls_server(v->loop, tls);
    v->has_tls = true;
    snprintf(text, sizeof text, "certificate with SHA-256 %s", pin);
    log_line(v, SERVER_INFO, "tls", text);
    return ERR_OK;
}

/* ---- identity providers ---- */

static enum err issuers_load(struct serve *v, struct issuers **ret, struct why *why) {
    const char *path = setting_text(&v->settings, SETTING_oidc);
    *ret = NULL;
    return path[0] != 0 ? oidc_file_read(path, &v->settings.limits, ret, why) : ERR_OK;
}

static void issuers_reload(struct serve *v) {
    struct issuers *fresh = NULL;
    struct why why;
    char text[64];
    if (setting_text(&v->settings, SETTING_oidc)[0] == 0) return;
    if (issuers_load(v, &fresh, &why) != ERR_OK) {
        log_line(v, SERVER_ERROR, "oidc", why.text); /* those before stay in use */
        return;
    }
    snprintf(text, sizeof text, "%u identity providers, read again", fresh->count);
    log_line(v, SERVER_INFO, "oidc", text);
    server_issuers(v->server, fresh);
}

static void reload(void *ctx, int number) {
    struct serve *v = ctx;
    struct why why;
    (void)number;
    issuers_reload(v);
    if (tls_load(v, &why) != ERR_OK) log_line(v, SERVER_ERROR, "tls", why.text); /* the one before stays in use */
}

static enum err tls_rules(struct serve *v, struct why *why) {
    const char *require = setting_text(&v->settings, SETTING_tls_require);
    char own[3][SETTING_TEXT_MAX + 16];
    struct ostls_files files;
    v->certified = (enum server_certified)setting_word(&v->settings, SETTING_tls_require);
    tls_files(v, own, &files);
    if (v->certified > 0 && (files.cert[0] == 0 || files.ca[0] == 0))
        return why_set(why, ERR_INVALID, "tls_require: %s needs tls_cert, and tls_client_ca to check them with",
                       require);
    return ERR_OK;
}

static enum err check_public(struct serve *v, const char *what, const char *address, struct why *why) {
    bool insists = setting_is(&v->settings, SETTING_listen_without_tls);
    const char *url = setting_text(&v->settings, SETTING_public_url);
    if (url[0] != 0 && strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
        return why_set(why, ERR_INVALID, "public_url: expected a URL that begins with http:// or https://, found `%s`",
                       url);
    if (!osloop_is_public(address)) return ERR_OK;
    v->needs_tls = v->has_tls && !insists;
    if (v->has_tls || insists) return ERR_OK;
    return why_set(
        why, ERR_FORBIDDEN,
        "%s: %s can be reached from other machines, but the server has no TLS certificate: run `reeve cert init "
        "--data %s HOSTNAME`, pass --tls-cert and --tls-key, or pass --listen-without-tls yes",
        what, address, setting_text(&v->settings, SETTING_data));
}

/* ---- where it is ---- */

/* "Any address" is none to dial: from here, this machine's own will do. */
static void dialled(const char *address, char ret[OSLOOP_ADDRESS_MAX]) {
    bool any4 = strncmp(address, "0.0.0.0:", 8) == 0, any6 = strncmp(address, "[::]:", 5) == 0;
    snprintf(ret, OSLOOP_ADDRESS_MAX, "%s%s",
             any4   ? "127.0.0.1"
             : any6 ? "[::1]"
                    : "",
             any4 || any6 ? strrchr(address, ':') : address);
}

/* Where the server is, for programs that know the data directory only. */
static enum err address_write(const struct serve *v, const char *name, const char *address, struct why *why) {
    char path[SETTING_TEXT_MAX + 32], tmp[SETTING_TEXT_MAX + 32], own[OSLOOP_ADDRESS_MAX];
    snprintf(path, sizeof path, "%s/%s", setting_text(&v->settings, SETTING_data), name);
    if (address == NULL) { /* there is none, whatever was before */
        (void)unlink(path);
        return ERR_OK;
    }
    snprintf(tmp, sizeof tmp, "%s.tmp", path);
    FILE *f = fopen(tmp, "we");
    if (f == NULL) return why_set(why, ERR_IO, "%s: %s", tmp, strerrordesc_np(errno));
    dialled(address, own);
    fprintf(f, "%s%s\n", v->needs_tls ? "tls://" : "", own);
    if (fclose(f) != 0 || rename(tmp, path) != 0) return why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    return ERR_OK;
}

/* ---- Orion's interface ---- */

static enum err orion_read(struct serve *v, struct why *why) {
    const char *work = setting_text(&v->settings, SETTING_orion_work_ms);
    long long least = 0, most = 0;
    int used = 0;
    if (sscanf(work, "%lld..%lld%n", &least, &most, &used) != 2 || work[used] != 0 || least < 1 || most < least ||
        most > 3600000)
        return why_set(why, ERR_INVALID, "orion_work_ms: expected a range like 50..199, found `%s`", work);
    v->orion = (struct orion_options){.tenant = setting_text(&v->settings, SETTING_orion_tenant),
                                      .listen = setting_text(&v->settings, SETTING_orion_listen),
                                      .origins = setting_text(&v->settings, SETTING_cors_origin),
                                      .guests = (enum orion_guests)setting_word(&v->settings, SETTING_orion_guests),
                                      .work_ms_least = least,
                                      .work_ms_most = most,
                                      .crashed_ms = v->handover.died_ms};
    const char *address = setting_text(&v->settings, SETTING_orion_listen);
    return address[0] != 0 ? check_public(v, "orion_listen", address, why) : ERR_OK;
}

static enum err orion_listen(struct serve *v, struct why *why) {
    const char *address = setting_text(&v->settings, SETTING_orion_listen);
    const struct net_handler *handler = orion_handler(v->server);
    char got[OSLOOP_ADDRESS_MAX], text[OSLOOP_ADDRESS_MAX + 32];
    int fd = v->handover.orion;
    if (address[0] == 0) return address_write(v, "orion.address", NULL, why);
    enum err e =
        fd >= 0 ? osloop_listen_at(v->loop, fd, handler, got, why) : osloop_listen(v->loop, address, handler, got, why);
    snprintf(text, sizeof text, "%s (Orion's interface)", got);
    if (e != ERR_OK) return e;
    log_line(v, SERVER_INFO, "listening", text);
    if (address_write(v, "orion.address", got, why) != ERR_OK) log_line(v, SERVER_WARN, "address", why->text);
    return ERR_OK;
}

/* ---- Titan's protocol ---- */

#define TITAN_ADDRESS "127.0.0.1:9090" /* where its SDK looks, unless told otherwise */

static enum err titan_check(struct why *why, const char *what, const char *speaks, const char *address) {
    if (address[0] == 0 || !osloop_is_public(address)) return ERR_OK;
    return why_set(
        why, ERR_FORBIDDEN,
        "%s: %s can be reached from other machines, and %s has no authentication: any client could run anything on "
        "the workers; pass --titan-open yes to allow it",
        what, address, speaks);
}

static enum err titan_read(struct serve *v, struct why *why) {
    const char *address = setting_text(&v->settings, SETTING_titan_listen);
    bool is_open = setting_is(&v->settings, SETTING_titan_open);
    enum err e = ERR_OK;
    v->titan = (struct titan_options){.tenant = setting_text(&v->settings, SETTING_titan_tenant),
                                      .dead_status = setting_text(&v->settings, SETTING_titan_dead_status),
                                      .gates = setting_is(&v->settings, SETTING_titan_gates),
                                      .backoff = setting_is(&v->settings, SETTING_titan_retry_backoff),
                                      .dag_seconds = setting_number(&v->settings, SETTING_titan_dag_seconds),
                                      .job_seconds = setting_number(&v->settings, SETTING_titan_job_seconds)};
    v->titan.listen = v->titan_address;
    snprintf(v->titan_address, sizeof v->titan_address, "%s", address[0] != 0 ? address : TITAN_ADDRESS);
    v->titan.http_listen = setting_text(&v->settings, SETTING_titan_http_listen);
    if (!is_open) e = titan_check(why, "titan_listen", "Titan's protocol", address);
    if (!is_open && e == ERR_OK)
        e = titan_check(why, "titan_http_listen", "the interface of Titan's dashboard", v->titan.http_listen);
    return e;
}

static enum err titan_listen(struct serve *v, enum setting_id where, const struct net_handler *handler,
                             const char *what, struct why *why) {
    const char *address = setting_text(&v->settings, where);
    char got[OSLOOP_ADDRESS_MAX], text[OSLOOP_ADDRESS_MAX + 40];
    if (address[0] == 0) return ERR_OK;
    enum err e = osloop_listen(v->loop, address, handler, got, why);
    snprintf(text, sizeof text, "%s (%s)", got, what);
    if (e == ERR_OK) log_line(v, SERVER_INFO, "listening", text);
    if (e == ERR_OK && where == SETTING_titan_listen) memcpy(v->titan_address, got, sizeof got);
    return e;
}

static void members_line(void *ctx, const char *line) {
    log_line(ctx, SERVER_INFO, "titan", line);
}

/* Their agents come by the Unix socket, whose caller needs no token and no certificate. */
static void members_open(struct serve *v, const char *build) {
    if (setting_text(&v->settings, SETTING_titan_listen)[0] == 0) return;
    v->members_place = (struct serve_titan_peers){v->server, setting_text(&v->settings, SETTING_data), members_line, v};
    v->members =
        serve_titan_peers_open(&v->members_place, v->loop, v->socket, v->titan.tenant, build, &v->settings.limits);
}

static void members_heard(void *ctx, conn_id conn, const char *address, uint8_t opcode, struct slice body,
                          struct buf *ret) {
    const struct serve *v = ctx;
    titan_peers_hear(v->members, conn, address, opcode, body, ret);
}

/* ---- RESP ---- */

static enum err resp_read(struct serve *v, struct why *why) {
    const char *address = setting_text(&v->settings, SETTING_resp_listen);
    v->resp.tenant = setting_text(&v->settings, SETTING_resp_tenant);
    if (address[0] == 0 || !osloop_is_public(address)) return ERR_OK;
    if (!setting_is(&v->settings, SETTING_resp_open))
        return why_set(
            why, ERR_FORBIDDEN,
            "resp_listen: %s can be reached from other machines, and it needs no token; the main port speaks RESP "
            "with a token; pass --resp-open yes to allow it",
            address);
    return check_public(v, "resp_listen", address, why);
}

static enum err resp_listen(struct serve *v, struct why *why) {
    const char *address = setting_text(&v->settings, SETTING_resp_listen);
    char got[OSLOOP_ADDRESS_MAX], text[OSLOOP_ADDRESS_MAX + 32];
    if (address[0] == 0) return ERR_OK;
    enum err e = osloop_listen(v->loop, address, resp_handler(v->server), got, why);
    snprintf(text, sizeof text, "%s (RESP)", got);
    if (e == ERR_OK) log_line(v, SERVER_INFO, "listening", text);
    return e;
}

/* ---- the playground ---- */

static enum err kill_switch_open(struct serve *v, struct why *why) {
    struct inherited_fds *h = &v->handover;
    if (!inherited_fds_take(h)) return ERR_OK;
    v->plug = (struct kill_switch){.killed = h->killed, .kills = h->kills, .pid = (uint32_t)getpid()};
    enum err e = inherited_fds_map(h->mark, &v->plug.mark, why);
    if (e == ERR_OK) v->plug.before = (struct playground_mark){v->plug.mark->lsn, v->plug.mark->flows};
    return e;
}

static void kill_switch_tell(struct serve *v, char what) {
    if (v->handover.control >= 0 && write(v->handover.control, &what, 1) < 0)
        log_line(v, SERVER_WARN, "plug", strerrordesc_np(errno));
}

static void kill_switch_step(struct serve *v) {
    if (v->handover.control < 0 || v->kill_told || !server_wants_kill(v->server)) return;
    if (v->kill_asked) kill_switch_tell(v, INHERITED_FDS_KILL);
    v->kill_told = v->kill_asked;
    v->kill_asked = true;
}

/* ---- the loop ---- */

static void pass(void *ctx) {
    struct serve *v = ctx;
    struct why why;
    if (v->members != NULL) titan_peers_pass(v->members);
    server_pass(v->server);
    kill_switch_step(v);
    compact_turn(v);
    serve_forward_pass(&v->forward);
    bool late = v->drain_by_ms != 0 && osclock()->mono(osclock()).ms >= v->drain_by_ms;
    if (late || (v->drain_by_ms != 0 && server_is_drained(v->server)) || server_failed(v->server, &why) != ERR_OK)
        osloop_stop(v->loop);
}

static mono_time next_pass(void *ctx) {
    struct serve *v = ctx;
    mono_time next = server_next(v->server), own = {TIME_NEVER};
    if (v->members != NULL) own = titan_peers_next(v->members);
    if (own.ms < next.ms) next = own;
    own = serve_forward_next(&v->forward);
    if (own.ms < next.ms) next = own;
    if (v->drain_by_ms != 0 && v->drain_by_ms < next.ms) next.ms = v->drain_by_ms;
    return v->kill_asked && !v->kill_told ? (mono_time){0} : next;
}

static void wake(void *ctx, unsigned when) {
    struct serve *v = ctx;
    (void)when;
    server_wake(v->server); /* the pass of this turn takes what is there */
}

static void stop(void *ctx, int number) {
    struct serve *v = ctx;
    if (v->drain_by_ms != 0) return;
    log_line(v, SERVER_INFO, "stopping", number == SIGINT ? "interrupted" : "terminated");
    v->drain_by_ms = osclock()->mono(osclock()).ms + DRAIN_MS_MAX;
    osloop_listen_end(v->loop);
    launch_end_all(setting_text(&v->settings, SETTING_data)); /* while there is someone to give their results to */
    server_drain(v->server);
}

static enum err loop_open(struct serve *v, struct why *why) {
    int journal_fd, blob_log_store_fd;
    watch_id w;
    server_fds(v->server, &journal_fd, &blob_log_store_fd);
    enum err e = osloop_watch(v->loop, journal_fd, OSLOOP_READABLE, wake, v, &w, why);
    if (e == ERR_OK) e = osloop_watch(v->loop, blob_log_store_fd, OSLOOP_READABLE, wake, v, &w, why);
    if (e == ERR_OK) e = osloop_watch(v->loop, server_history_fd(v->server), OSLOOP_READABLE, wake, v, &w, why);
    if (e == ERR_OK) e = osloop_signal(v->loop, SIGTERM, stop, v, why);
    if (e == ERR_OK) e = osloop_signal(v->loop, SIGINT, stop, v, why);
    if (e == ERR_OK) e = osloop_signal(v->loop, SIGHUP, reload, v, why);
    osloop_own(v->loop, &(struct osloop_owner){pass, next_pass, v});
    return e;
}

/* ---- listening ---- */

static enum err listen_socket(struct serve *v, struct why *why) {
    const char *given = setting_text(&v->settings, SETTING_socket);
    char address[SETTING_TEXT_MAX + 32], got[OSLOOP_ADDRESS_MAX];
    if (strcmp(given, "off") == 0) return ERR_OK;
    bool automatic = strcmp(given, "auto") == 0;
    if (automatic)
        snprintf(address, sizeof address, "unix:%s/reeve.sock", setting_text(&v->settings, SETTING_data));
    else
        snprintf(address, sizeof address, "unix:%s", given);
    enum err e = osloop_listen(v->loop, address, server_handler(v->server), got, why);
    if (e == ERR_OK) log_line(v, SERVER_INFO, "listening", got);
    if (e == ERR_OK) snprintf(v->socket, sizeof v->socket, "%s", address);
    if (e == ERR_OK || !automatic) return e;
    log_line(v, SERVER_WARN, "listening", why->text); /* mostly a path that is too long for a socket */
    return ERR_OK;
}

/* Whoever is called back by jobs or follows a link has to know where; behind a proxy only its owner knows. */
static void tell_url(struct serve *v, const char *address) {
    char url[OSLOOP_ADDRESS_MAX + 16], own[OSLOOP_ADDRESS_MAX];
    const char *said = setting_text(&v->settings, SETTING_public_url);
    dialled(address, own);
    snprintf(url, sizeof url, "%s://%s", v->has_tls ? "https" : "http", own);
    server_reached_at(v->server, said[0] != 0 ? said : url);
}

static enum err listen_all(struct serve *v, struct why *why) {
    const char *address = setting_text(&v->settings, SETTING_listen);
    char got[OSLOOP_ADDRESS_MAX];
    int fd = v->handover.listen;
    enum err e = fd >= 0 ? osloop_listen_at(v->loop, fd, server_handler(v->server), got, why)
                         : osloop_listen(v->loop, address, server_handler(v->server), got, why);
    if (e == ERR_OK) log_line(v, SERVER_INFO, "listening", got);
    if (e == ERR_OK) tell_url(v, got);
    if (e == ERR_OK) e = listen_socket(v, why);
    if (e == ERR_OK) e = orion_listen(v, why);
    if (e == ERR_OK) e = titan_listen(v, SETTING_titan_listen, titan_handler(v->server), "Titan's protocol", why);
    if (e == ERR_OK)
        e = titan_listen(v, SETTING_titan_http_listen, titan_web_handler(v->server), "Titan's dashboard", why);
    if (e == ERR_OK && v->members != NULL && v->socket[0] == 0)
        log_line(v, SERVER_WARN, "titan", "without a Unix socket Titan's own workers cannot attach");
    if (e == ERR_OK) e = resp_listen(v, why);
    /* a disk without room for it keeps nobody from finishing what was accepted */
    if (e == ERR_OK && address_write(v, "address", got, why) != ERR_OK) log_line(v, SERVER_WARN, "address", why->text);
    return e;
}

/* ---- life ---- */

/* Where it cannot be opened now it is tried again; only one of a later program keeps the server from starting. */
static enum err history_open(struct serve *v, struct history **ret, struct why *why) {
    char dir[SETTING_TEXT_MAX + 32];
    snprintf(dir, sizeof dir, "%s/history", setting_text(&v->settings, SETTING_data));
    struct hstore_options o = {.dir = dir,
                               .days = (uint32_t)setting_number(&v->settings, SETTING_history_days),
                               .bytes_max = (uint64_t)setting_number(&v->settings, SETTING_history_bytes),
                               .wall_ms = osclock()->wall(osclock()).ms};
    return hstore_open(&o, ret, why);
}

/* What the server hands on to dialects. Titan's are spoken if one of its listeners is wanted. */
static void dialects_set(struct serve *v) {
    bool has_titan = setting_text(&v->settings, SETTING_titan_listen)[0] != 0 || v->titan.http_listen[0] != 0;
    v->titan.worker = members_heard;
    v->titan.worker_ctx = v;
    v->dialects[0] = (struct dialect_setting){&orion_dialect, &v->orion};
    v->dialects[1] = (struct dialect_setting){&resp_dialect, &v->resp};
    if (has_titan) v->dialects[2] = (struct dialect_setting){&titan_dialect, &v->titan};
}

/* The key that signs checkpoints; the public one is for whoever keeps it elsewhere. */
static enum err signer_open(struct serve *v, struct why *why) {
    char path[SETTING_TEXT_MAX + 32];
    bool made = false;
    if (setting_number(&v->settings, SETTING_audit_checkpoint_s) == 0) return ERR_OK;
    snprintf(path, sizeof path, "%s/" AUDIT_KEY_FILE, setting_text(&v->settings, SETTING_data));
    enum err e = ossigner_open(path, &v->signer, &made, why);
    if (e != ERR_OK || !made) return e;
    log_line(v, SERVER_INFO, "audit", "made audit.key, which signs checkpoints of the journal: see `reeve audit key`");
    return ERR_OK;
}

static enum err server_start(struct serve *v, const char *build, struct why *why) {
    struct journal *journal = NULL;
    enum err e = osbackground_open(v->loop, &v->aside, why);
    if (e == ERR_OK) e = signer_open(v, why);
    if (e == ERR_OK) e = journal_engine_open(&v->settings, v->disk, &journal, why);
    if (e != ERR_OK) return e;
    v->locator = journal->ops->locator(journal);
    v->archive_days = (uint32_t)setting_number(&v->settings, SETTING_archive_days);
    if (v->locator != NULL) v->recall = osreplay_open(v->loop, v->locator);
    v->fetch = osfetch_open(v->loop);
    struct memory_recovery recovery = {0};
    struct server_world world = {.journal = journal,
                                 .disk = v->disk,
                                 .replayer = v->recall != NULL ? osreplay_replayer(v->recall) : NULL,
                                 .background = osbackground_port(v->aside),
                                 .fetcher = osfetch_fetcher(v->fetch),
                                 .verifier = ossignature(),
                                 .launch = setting_is(&v->settings, SETTING_may_start_workers) ? launch_worker : NULL,
                                 .launch_ctx = v->settings.own[SETTING_data].value,
                                 .clock = osclock(),
                                 .hasher = osdigest(),
                                 .signer = v->signer,
                                 .checker = &ossigner_checker,
                                 .net = osloop_net(v->loop),
                                 .zones = oszones(),
                                 .recovers = memory_recovers,
                                 .recovers_ctx = &recovery,
                                 .log = log_line,
                                 .log_ctx = v};
    uint64_t compact_bytes = (uint64_t)setting_number(&v->settings, SETTING_compact_bytes);
    engine_limits_fit(&v->settings.limits, journal->limits.batch_bytes_max);
    dialects_set(v);
    struct server_options o = {.limits = v->settings.limits,
                               .shard = (uint32_t)setting_number(&v->settings, SETTING_shard),
                               .compact_bytes = v->locator != NULL ? compact_bytes : 0,
                               .checkpoint_ms = setting_number(&v->settings, SETTING_audit_checkpoint_s) * 1000,
                               .build = build,
                               .uid = getuid(),
                               .listen = setting_text(&v->settings, SETTING_listen),
                               .http_hosts = setting_text(&v->settings, SETTING_http_hosts),
                               .assets = &console_assets,
                               .metrics_open = setting_is(&v->settings, SETTING_metrics_open),
                               .at_rest = memory_give_back,
                               .connections_max = v->connections_max,
                               .needs_tls = v->needs_tls,
                               .certified = v->certified,
                               .dialects = v->dialects,
                               .kill_switch = v->handover.control >= 0 ? &v->plug : NULL};
    e = history_open(v, &world.history, why);
    if (e != ERR_OK) journal->ops->close(journal);
    if (e == ERR_OK) e = server_open(&world, &o, &v->server, why);
    memory_recovered(&recovery);
    if (e == ERR_OK) server_issuers(v->server, v->issuers);
    if (e == ERR_OK) v->issuers = NULL; /* they are its own */
    return e;
}

/* The lock of its journal is told by the name of a file; what is meant is a server. */
static enum err already_runs(const struct serve *v, enum err e, struct why *why) {
    const char *data = setting_text(&v->settings, SETTING_data);
    int pid = 0;
    if (e != ERR_CONFLICT || !osdisk_is_locked(data, "LOCK", &pid) || pid == 0) return e;
    return why_set(why, e, "a server is already running on %s (pid %d): stop it, or choose another with --data", data,
                   pid);
}

static enum err serve(struct serve *v, const char *build, struct why *why) {
    v->connections_max = (uint32_t)setting_number(&v->settings, SETTING_connections_max);
    enum err e = osloop_open(v->connections_max, &v->loop, why);
    if (e == ERR_OK) e = tls_rules(v, why);
    if (e == ERR_OK) e = tls_load(v, why);
    if (e == ERR_OK) e = check_public(v, "listen", setting_text(&v->settings, SETTING_listen), why);
    if (e == ERR_OK) e = kill_switch_open(v, why);
    if (e == ERR_OK) e = orion_read(v, why);
    if (e == ERR_OK) e = titan_read(v, why);
    if (e == ERR_OK) e = resp_read(v, why);
    if (e == ERR_OK) e = issuers_load(v, &v->issuers, why);
    if (e == ERR_OK) e = serve_forward_check(&v->settings, why);
    if (e == ERR_OK) e = osdisk_open(setting_text(&v->settings, SETTING_data), &v->disk, why);
    if (e == ERR_OK) e = already_runs(v, server_start(v, build, why), why);
    if (e == ERR_OK) members_open(v, build);
    v->forward = (struct serve_forward){.loop = v->loop, .server = v->server, .log = log_line, .log_ctx = v};
    if (e == ERR_OK) serve_forward_open(&v->forward, &v->settings, v->locator);
    if (e == ERR_OK) e = loop_open(v, why);
    if (e == ERR_OK) e = listen_all(v, why);
    if (e != ERR_OK) return e;
    log_line(v, SERVER_INFO, "ready", build);
    kill_switch_tell(v, INHERITED_FDS_READY);
    osloop_run(v->loop);
    return server_failed(v->server, why);
}

enum err serve_run(int count, char **args, const char *build, struct why *why) {
    static struct serve v;
    ossecret_guard();
    enum err e = settings_read(&v.settings, count, args, why);
    if (e == ERR_OK && v.settings.help) {
        settings_help(stdout);
        return ERR_OK;
    }
    if (e == ERR_OK && v.settings.man) {
        settings_man(stdout, build);
        return ERR_OK;
    }
    if (e == ERR_OK) e = settings_check(&v.settings, why);
    if (e != ERR_OK) return e;
    v.level = (enum server_level)setting_word(&v.settings, SETTING_log_level);
    v.json = setting_word(&v.settings, SETTING_log_format) == 1; /* text, json */
    signal(SIGPIPE, SIG_IGN);
    memory_set();
    e = serve(&v, build, why);
    if (v.members != NULL) titan_peers_free(v.members);
    serve_forward_close(&v.forward);
    if (v.server != NULL) server_close(v.server);
    issuers_free(v.issuers);
    osfetch_close(v.fetch);
    osreplay_close(v.recall);
    osbackground_close(v.aside);
    ossigner_close(v.signer);
    if (v.loop != NULL) osloop_close(v.loop);
    if (v.disk != NULL) osdisk_close(v.disk);
    if (e == ERR_OK) log_line(&v, SERVER_INFO, "stopped", "everything acknowledged is kept");
    return e;
}

enum err serve_config(int count, char **args, struct why *why) {
    static struct settings s;
    enum err e = settings_read(&s, count, args, why);
    if (e != ERR_OK) return e;
    settings_print(&s, stdout);
    int pid = 0;
    if (!s.json && osdisk_is_locked(setting_text(&s, SETTING_data), "LOCK", &pid))
        fprintf(
            stderr,
            "reeve config: a server is running on %s; it was not asked, and may have been started with other flags\n",
            setting_text(&s, SETTING_data));
    return ERR_OK;
}
