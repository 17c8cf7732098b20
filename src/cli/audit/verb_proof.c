/* verb_proof.c: `reeve audit verify`, `checkpoint` and `key`: is the journal what was signed, and what an auditor keeps
 * elsewhere to find out. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api_print.h"
#include "audit_evidence.h"
#include "audit_verbs.h"
#include "hex.h"
#include "limit.h"
#include "out.h"
#include "progress.h"
#include "proof_journal.h"
#include "server_choice.h"
#include "verbs.h"

#define FILE_BYTES_MAX 65536u
#define LINE_BYTES_MAX ((size_t)1 << 28)
#define KEY_DIGITS (2 * SIGNER_KEY_BYTES)

typedef unsigned long long ull;

enum err audit_journal_open(struct cli *c, const char *data, struct cli_journal *ret) {
    if (c->world->journal == NULL) return cli_refuse(c, ERR_UNSUPPORTED, "not supported by this build");
    return c->world->journal(data, ret, c->why);
}

/* The data directory that is meant; NULL: a server elsewhere is. */
static enum err place_of(struct cli *c, const char **ret) {
    const struct client_place *place;
    enum err e = server_choice(c, &place, c->why);
    if (e == ERR_OK) *ret = place->server == NULL ? place->data : NULL;
    return e;
}

/* ---- what is given ---- */

static enum err file_text(struct cli *c, const char *path, struct slice *ret) {
    char *text = arena_alloc(&c->arena, FILE_BYTES_MAX);
    FILE *f = fopen(path, "re");
    if (f == NULL) return cli_refuse(c, ERR_INVALID, "%s: %s", path, strerrordesc_np(errno));
    size_t len = fread(text, 1, FILE_BYTES_MAX, f);
    (void)fclose(f);
    if (len == FILE_BYTES_MAX) return cli_refuse(c, ERR_LIMIT, "%s: the file is too large", path);
    while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r' || text[len - 1] == ' ')) len--;
    *ret = slice_of(text, len);
    return ERR_OK;
}

/* A public key as digits, or a file that has them. */
static enum err key_given(struct cli *c, struct slice *ret_digits, uint8_t ret[SIGNER_KEY_BYTES]) {
    const char *given = cli_flag(c, "key");
    *ret_digits = (struct slice){0};
    if (given == NULL) return ERR_OK;
    enum err e = ERR_OK;
    struct slice text = slice_str(given);
    if (!hex_read(text, SIGNER_KEY_BYTES, ret)) e = file_text(c, given, &text);
    if (e == ERR_OK && !hex_read(text, SIGNER_KEY_BYTES, ret))
        e = cli_refuse(c, ERR_INVALID, "--key %s: expected a file with the %u digits that `reeve audit key` prints",
                       given, KEY_DIGITS);
    if (e == ERR_OK) *ret_digits = text;
    return e;
}

/* ---- an export ---- */

/* Whole lines of what was read so far; what is left of it waits for more. */
static enum err lines_take(struct cli *c, struct evidence *v, struct buf *in, bool is_last) {
    size_t from = 0;
    enum err e = ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < in->len; i++) {
        if (in->at[i] != '\n') continue;
        e = evidence_line(v, slice_of(in->at + from, i - from), c->why);
        from = i + 1;
    }
    if (e == ERR_OK && is_last && from < in->len) e = evidence_line(v, slice_of(in->at + from, in->len - from), c->why);
    size_t left = in->len - from;
    memmove(in->at, in->at + from, left);
    buf_cut(in, left);
    return e;
}

static enum err lines_check(struct cli *c, struct evidence *v, FILE *f, struct progress *p) {
    char part[65536];
    struct buf in;
    uint64_t done = 0;
    size_t n = 0;
    enum err e = ERR_OK;
    buf_init(&in, LINE_BYTES_MAX);
    do {
        n = fread(part, 1, sizeof part, f);
        buf_put(&in, part, n);
        if (in.full) e = cli_refuse(c, ERR_LIMIT, "a line is too long");
        if (e == ERR_OK && in.len > 0) e = lines_take(c, v, &in, n < sizeof part);
        done += n;
        progress_step(p, done);
    } while (e == ERR_OK && n == sizeof part);
    buf_fini(&in);
    return e == ERR_OK ? evidence_end(v, c->why) : e;
}

static void evidence_print(struct cli *c, const struct evidence *v, const char *path) {
    struct wire_audit_verified m = {.ok = true,
                                    .from_lsn = v->from_lsn,
                                    .upto_lsn = v->signed_lsn,
                                    .last_lsn = v->next_lsn - 1,
                                    .checkpoints = v->checkpoints};
    char text[200];
    snprintf(text, sizeof text, "%llu records are shown; those from %llu to %llu are as they were signed",
             (ull)v->records, (ull)v->from_lsn, (ull)v->signed_lsn);
    if (v->signed_lsn == 0)
        snprintf(text, sizeof text, "%llu records are shown; no checkpoint covers them", (ull)v->records);
    m.text = slice_str(text);
    if (c->json)
        api_print_answer(c, "POST /audit/verify", WIRE_AUDIT_VERIFIED, &m);
    else
        printf("%s: %s%s\n", path, text,
               v->next_lsn - 1 > v->signed_lsn && v->signed_lsn != 0 ? ", what follows is not signed yet" : "");
}

static enum err verify_export(struct cli *c, const char *path, const uint8_t *key) {
    struct limits limits;
    struct progress p;
    limits_default(&limits);
    limits.json_bytes_max = INT32_MAX;
    struct evidence v = {
        .hasher = c->world->hasher, .checker = c->world->checker, .limits = &limits, .key = key};
    FILE *f = fopen(path, "re");
    if (f == NULL) return cli_refuse(c, ERR_INVALID, "%s: %s", path, strerrordesc_np(errno));
    uint64_t total = fseek(f, 0, SEEK_END) == 0 ? (uint64_t)ftell(f) : 0;
    rewind(f);
    evidence_init(&v);
    progress_begin(&p, c, "verify", total);
    enum err e = lines_check(c, &v, f, &p);
    progress_end(&p);
    if (e == ERR_OK) evidence_print(c, &v, path);
    evidence_fini(&v);
    (void)fclose(f);
    return e == ERR_OK ? e : why_wrap(c->why, e, "%s", path);
}

/* ---- a journal ---- */

static void print_verified(struct cli *c, const struct wire_audit_verified *m) {
    if (c->json) {
        api_print_answer(c, "POST /audit/verify", WIRE_AUDIT_VERIFIED, m);
        return;
    }
    printf("%.*s\n", SLICE_FMT(m->text));
    if (m->checkpoint.number == 0) return;
    printf("%llu checkpoint%s, the last is number %llu; signed by key %.*s%s\n", (ull)m->checkpoints,
           m->checkpoints == 1 ? "" : "s", (ull)m->checkpoint.number, SLICE_FMT(m->checkpoint.key),
           m->keys > 1 ? " and by other keys before" : "");
    if (!m->whole) printf("records before %llu have left the archive (see archive_days)\n", (ull)m->from_lsn);
}

static void step(void *ctx, uint64_t done, uint64_t all) {
    struct progress *p = ctx;
    p->total = all;
    progress_step(p, done);
}

static char *hex_of(struct cli *c, const uint8_t *bytes, size_t len) {
    char *text = arena_alloc(&c->arena, 2 * len + 1);
    hex_write(slice_of(bytes, len), text);
    return text;
}

static void print_report(struct cli *c, const struct proof_report *r) {
    char text[200];
    snprintf(text, sizeof text, "records %llu to %llu are as they were signed; %llu since are not signed yet",
             (ull)r->from_lsn, (ull)r->upto_lsn, (ull)(r->last_lsn - r->upto_lsn));
    if (r->last.number == 0) snprintf(text, sizeof text, "the journal has no checkpoint yet");
    struct wire_audit_verified m = {.ok = true,
                                    .text = slice_str(text),
                                    .from_lsn = r->from_lsn,
                                    .upto_lsn = r->upto_lsn,
                                    .last_lsn = r->last_lsn,
                                    .checkpoints = r->checkpoints,
                                    .keys = r->keys,
                                    .whole = r->is_whole};
    if (r->last.number != 0)
        m.checkpoint =
            (struct wire_checkpoint){.shard = r->shard,
                                     .number = r->last.number,
                                     .lsn = r->last.lsn,
                                     .from_lsn = r->last.from_lsn,
                                     .upto_lsn = r->last.upto_lsn,
                                     .time_ms = r->last.time.ms,
                                     .chain = slice_str(hex_of(c, r->last.chain, sizeof r->last.chain)),
                                     .key = slice_str(hex_of(c, r->last.key, sizeof r->last.key)),
                                     .signature = slice_str(hex_of(c, r->last.signature, sizeof r->last.signature))};
    print_verified(c, &m);
}

static enum err verify_journal(struct cli *c, const char *data, const uint8_t *key, struct slice since) {
    struct cli_journal j;
    struct progress p;
    struct proof_report r;
    struct checkpoint kept;
    struct limits limits;
    uint32_t shard;
    enum err e = ERR_OK;
    limits_default(&limits);
    if (since.len > 0) e = evidence_checkpoint(since, &limits, &c->arena, &shard, &kept, c->why);
    if (e == ERR_OK) e = audit_journal_open(c, data, &j);
    if (e != ERR_OK) return e;
    progress_begin(&p, c, "verify", 0);
    struct proof_check check = {.reader = j.reader,
                                .hasher = c->world->hasher,
                                .checker = c->world->checker,
                                .key = key,
                                .since = since.len > 0 ? &kept : NULL,
                                .step = step,
                                .ctx = &p};
    e = proof_check(&check, &r, c->why);
    progress_end(&p);
    c->world->journal_close(&j);
    if (e == ERR_OK) print_report(c, &r);
    return e;
}

static enum err verify_by_server(struct cli *c, struct slice key, struct slice since) {
    struct wire_audit_verify m = {.key = key, .since = since};
    struct client_frame f;
    enum err e = cli_connect(c);
    if (e == ERR_OK) e = client_ask(&c->client, WIRE_AUDIT_VERIFY, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_audit_verified *got = f.message;
    if (!got->ok) return cli_refuse(c, ERR_CORRUPT, "%.*s", SLICE_FMT(got->text));
    print_verified(c, got);
    return ERR_OK;
}

enum err verb_audit_verify(struct cli *c) {
    const char *from = cli_flag(c, "from"), *kept = cli_flag(c, "since"), *data = NULL;
    uint8_t key[SIGNER_KEY_BYTES];
    struct slice digits, since = {0};
    enum err e = key_given(c, &digits, key);
    if (e == ERR_OK && kept != NULL) e = file_text(c, kept, &since);
    if (e != ERR_OK) return e;
    if (c->world->checker == NULL) return cli_refuse(c, ERR_UNSUPPORTED, "not supported by this build");
    if (from != NULL && kept != NULL)
        return cli_refuse(c, ERR_INVALID, "--since is for a journal: pass it without --from");
    if (from != NULL) return verify_export(c, from, digits.len > 0 ? key : NULL);
    e = place_of(c, &data);
    if (e != ERR_OK) return e;
    return data != NULL ? verify_journal(c, data, digits.len > 0 ? key : NULL, since)
                        : verify_by_server(c, digits, since);
}

/* ---- what an auditor keeps ---- */

static enum err ask_checkpoint(struct cli *c, struct client_frame *ret) {
    const struct wire_empty m = {0};
    enum err e = cli_connect(c);
    return e == ERR_OK ? client_ask(&c->client, WIRE_AUDIT_CHECKPOINT, &m, ret, c->why) : e;
}

enum err verb_audit_checkpoint(struct cli *c) {
    struct client_frame f;
    char time_text[OUT_TIME_BYTES];
    enum err e = ask_checkpoint(c, &f);
    if (e != ERR_OK) return e;
    const struct wire_checkpoint *m = f.message;
    if (c->json) {
        api_print_answer(c, "POST /audit/checkpoint", f.op, m);
        return ERR_OK;
    }
    if (m->number == 0) return cli_refuse(c, ERR_NOT_FOUND, "the journal has no checkpoint yet");
    printf("checkpoint %llu of %s covers the records up to %llu\nchain %.*s\nkey   %.*s\n", (ull)m->number,
           out_time(m->time_ms, time_text), (ull)m->upto_lsn, SLICE_FMT(m->chain), SLICE_FMT(m->key));
    if (c->is_terminal) fprintf(stderr, "(to keep it elsewhere: reeve audit checkpoint --json > FILE)\n");
    return ERR_OK;
}

enum err verb_audit_key(struct cli *c) {
    const char *data = NULL;
    uint8_t key[SIGNER_KEY_BYTES];
    enum err e = place_of(c, &data);
    if (e != ERR_OK) return e;
    if (data != NULL && c->world->audit_key != NULL) {
        e = c->world->audit_key(data, key, c->why);
        if (e == ERR_OK) printf("%s\n", hex_of(c, key, sizeof key));
        return e;
    }
    struct client_frame f;
    e = ask_checkpoint(c, &f);
    if (e == ERR_OK) printf("%.*s\n", SLICE_FMT(((const struct wire_checkpoint *)f.message)->key));
    return e;
}
