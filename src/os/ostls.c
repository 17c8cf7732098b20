/* ostls.c: see ostls.h. */
#include "openssl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hex.h"
#include "ostls.h"
#include "panic.h"

#define RECORD_ALERT 0x15 /* how whoever speaks TLS begins, if not with the other */
#define RECORD_HANDSHAKE 0x16
#define CHAIN_DEPTH_MAX 4 /* signatures between a certificate and its authority */

struct ostls {
    SSL_CTX *ctx;
    bool pinned;
    uint8_t pin[OSTLS_PIN_BYTES];
};

struct ostls_conn {
    SSL *ssl;
    BIO *in, *out; /* owned by `ssl` */
    bool is_client, pinned;
    uint8_t pin[OSTLS_PIN_BYTES];
    uint8_t first; /* byte that came; 0 = none has */
    char host[256];
};

static bool given(const char *text) {
    return text != NULL && text[0] != 0;
}

static void *must(void *p) {
    if (p == NULL) PANIC("no memory");
    return p;
}

/* ---- settings ---- */

static enum err bad_file(const char *path, const char *what, struct why *why) {
    unsigned long code = ERR_peek_error();
    const char *reason = ERR_reason_error_string(code);
    if (reason != NULL && strcmp(reason, "no start line") == 0) reason = "there is none in it";
    if (reason != NULL && strcmp(reason, "key values mismatch") == 0) reason = "it does not belong to the certificate";
    ERR_clear_error();
    return why_set(why, ERR_INVALID, "%s: cannot be used as %s: %s", path, what, reason != NULL ? reason : "unknown");
}

static enum err load_own(SSL_CTX *ctx, const struct ostls_files *f, struct why *why) {
    if (!given(f->cert)) return ERR_OK;
    const char *key = given(f->key) ? f->key : f->cert;
    if (SSL_CTX_use_certificate_chain_file(ctx, f->cert) != 1) return bad_file(f->cert, "a certificate", why);
    if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1) return bad_file(key, "a private key", why);
    return ERR_OK;
}

static SSL_CTX *ctx_new(const SSL_METHOD *method) {
    SSL_CTX *ctx = must(SSL_CTX_new(method));
    ENSURE(SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1);
    ENSURE(SSL_CTX_set_cipher_list(ctx, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1); /* of 1.2; 1.3 has good ones only */
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS); /* an idle connection holds no buffers */
    SSL_CTX_set_verify_depth(ctx, CHAIN_DEPTH_MAX);
    ENSURE(SSL_CTX_set_num_tickets(ctx, 0) == 1);
    return ctx;
}

static enum err finish(SSL_CTX *ctx, enum err e, struct ostls **ret) {
    if (e != ERR_OK) {
        SSL_CTX_free(ctx);
        return e;
    }
    *ret = must(calloc(1, sizeof **ret));
    (*ret)->ctx = ctx;
    return ERR_OK;
}

/* ---- certificates that were revoked ---- */

#define REVOKED_BYTES_MAX (1u << 20)

static void list_free(void *parent, void *list, CRYPTO_EX_DATA *ad, int index, long argl, void *argp) {
    (void)parent, (void)ad, (void)index, (void)argl, (void)argp;
    free(list);
}

/* Where a context has the list, a text: connections that are open keep their context, and with it the list. */
static int list_index(void) {
    static int index = -1;
    if (index < 0) index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, list_free);
    ENSURE(index >= 0);
    return index;
}

static enum err list_load(SSL_CTX *ctx, const char *path, struct why *why) {
    FILE *f = given(path) ? fopen(path, "re") : NULL;
    if (f == NULL && (!given(path) || errno == ENOENT)) return ERR_OK;
    if (f == NULL) return why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    char *text = must(calloc(1, REVOKED_BYTES_MAX + 1));
    text[0] = '\n';
    size_t len = fread(text + 1, 1, REVOKED_BYTES_MAX - 1, f);
    bool is_whole = !ferror(f) && len < REVOKED_BYTES_MAX - 1;
    (void)fclose(f);
    if (is_whole && SSL_CTX_set_ex_data(ctx, list_index(), text) == 1) return ERR_OK;
    free(text);
    return why_set(why, ERR_IO, "%s: cannot be read, or has more than %u bytes", path, REVOKED_BYTES_MAX);
}

/* A line of the list begins with the number in hex. */
static bool is_listed(const SSL_CTX *ctx, const X509 *cert) {
    const char *list = SSL_CTX_get_ex_data(ctx, list_index());
    if (list == NULL || cert == NULL) return false;
    BIGNUM *number = must(ASN1_INTEGER_to_BN(X509_get0_serialNumber(cert), NULL));
    char *hex = must(BN_bn2hex(number)), line[128];
    snprintf(line, sizeof line, "\n%s ", hex);
    OPENSSL_free(hex);
    BN_free(number);
    return strstr(list, line) != NULL;
}

static int refuse_revoked(int ok, X509_STORE_CTX *store) {
    const SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    if (ok != 1 || ssl == NULL || !is_listed(SSL_get_SSL_CTX(ssl), X509_STORE_CTX_get_current_cert(store))) return ok;
    X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REVOKED);
    return 0;
}

bool ostls_is_revoked(const struct ostls *t, const struct ostls_conn *c) {
    return !c->is_client && is_listed(t->ctx, SSL_get0_peer_certificate(c->ssl));
}

enum err ostls_server(const struct ostls_files *f, struct ostls **ret, struct why *why) {
    REQUIRE(given(f->cert));
    SSL_CTX *ctx = ctx_new(TLS_server_method());
    enum err e = load_own(ctx, f, why);
    if (e == ERR_OK && given(f->ca)) {
        STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(f->ca); /* told to clients, to choose by */
        if (names == NULL || SSL_CTX_load_verify_locations(ctx, f->ca, NULL) != 1)
            e = bad_file(f->ca, "certificates of an authority", why);
        if (names != NULL) SSL_CTX_set_client_CA_list(ctx, names);
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_CLIENT_ONCE, refuse_revoked);
        if (e == ERR_OK) e = list_load(ctx, f->revoked, why);
    }
    return finish(ctx, e, ret);
}

static bool pin_parse(const char *text, uint8_t pin[OSTLS_PIN_BYTES]) {
    size_t n = 0;
    for (; *text != 0; text += 2) {
        unsigned byte = 0;
        if (*text == ':') text++;
        if (n == OSTLS_PIN_BYTES || strspn(text, "0123456789abcdefABCDEF") < 2 || sscanf(text, "%2x", &byte) != 1)
            return false;
        pin[n++] = (uint8_t)byte;
    }
    return n == OSTLS_PIN_BYTES;
}

/* The pin is looked at when the handshake is over, before a byte of ours leaves. */
static int believe_for_now(int ok, X509_STORE_CTX *store) {
    (void)ok, (void)store;
    return 1;
}

enum err ostls_client(const struct ostls_files *f, struct ostls **ret, struct why *why) {
    uint8_t pin[OSTLS_PIN_BYTES] = {0};
    if (given(f->pin) && !pin_parse(f->pin, pin))
        return why_set(why, ERR_INVALID, "a pin is the SHA-256 of the server's certificate, 64 hex digits, not %s",
                       f->pin);
    SSL_CTX *ctx = ctx_new(TLS_client_method());
    enum err e = load_own(ctx, f, why);
    if (e == ERR_OK && given(f->ca) && SSL_CTX_load_verify_locations(ctx, f->ca, NULL) != 1)
        e = bad_file(f->ca, "certificates of an authority", why);
    if (e == ERR_OK && !given(f->ca) && !given(f->pin)) (void)SSL_CTX_set_default_verify_paths(ctx);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, given(f->pin) ? believe_for_now : NULL);
    e = finish(ctx, e, ret);
    if (e != ERR_OK) return e;
    (*ret)->pinned = given(f->pin);
    memcpy((*ret)->pin, pin, sizeof pin);
    return ERR_OK;
}

void ostls_free(struct ostls *t) {
    if (t == NULL) return;
    SSL_CTX_free(t->ctx);
    free(t);
}

void ostls_pin(const struct ostls *t, char ret[OSTLS_PIN_TEXT]) {
    uint8_t hash[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    const X509 *own = SSL_CTX_get0_certificate(t->ctx);
    ret[0] = 0;
    if (own == NULL || X509_digest(own, EVP_sha256(), hash, &len) != 1) return;
    hex_write(slice_of(hash, len), ret);
}

/* ---- connections ---- */

static struct ostls_conn *conn_new(struct ostls *t, bool is_client) {
    struct ostls_conn *c = must(calloc(1, sizeof *c));
    c->ssl = must(SSL_new(t->ctx));
    c->in = must(BIO_new(BIO_s_mem()));
    c->out = must(BIO_new(BIO_s_mem()));
    c->is_client = is_client;
    c->pinned = t->pinned;
    memcpy(c->pin, t->pin, sizeof c->pin);
    SSL_set_bio(c->ssl, c->in, c->out);
    return c;
}

struct ostls_conn *ostls_accept(struct ostls *t) {
    struct ostls_conn *c = conn_new(t, false);
    SSL_set_accept_state(c->ssl);
    return c;
}

struct ostls_conn *ostls_connect(struct ostls *t, const char *host) {
    struct ostls_conn *c = conn_new(t, true);
    uint8_t number[16];
    bool is_number = inet_pton(AF_INET, host, number) == 1 || inet_pton(AF_INET6, host, number) == 1;
    snprintf(c->host, sizeof c->host, "%s", host);
    X509_VERIFY_PARAM *param = SSL_get0_param(c->ssl);
    if (is_number) {
        ENSURE(X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1);
    } else {
        X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        ENSURE(X509_VERIFY_PARAM_set1_host(param, host, 0) == 1);
        (void)SSL_set_tlsext_host_name(c->ssl, c->host);
    }
    SSL_set_connect_state(c->ssl);
    return c;
}

void ostls_close(struct ostls_conn *c) {
    if (c == NULL) return;
    SSL_free(c->ssl);
    free(c);
}

void ostls_feed(struct ostls_conn *c, struct slice bytes) {
    size_t taken = 0;
    if (bytes.len == 0) return;
    if (c->first == 0) c->first = bytes.ptr[0];
    if (BIO_write_ex(c->in, slice_data(bytes), bytes.len, &taken) != 1 || taken != bytes.len) PANIC("no memory");
}

void ostls_take(struct ostls_conn *c, struct buf *out) {
    size_t waiting = BIO_ctrl_pending(c->out), got = 0;
    if (waiting == 0) return;
    uint8_t *to = buf_space(out, waiting);
    if (to != NULL) ENSURE(BIO_read_ex(c->out, to, waiting, &got) == 1 && got == waiting);
}

/* What went wrong, in a sentence that says what to do where that is known. */
static void explain(const struct ostls_conn *c, struct why *why) {
    unsigned long code = ERR_peek_error();
    int reason = ERR_GET_REASON(code);
    long verdict = SSL_get_verify_result(c->ssl);
    const char *text = ERR_reason_error_string(code);
    ERR_clear_error();
    if (!c->is_client || c->pinned) verdict = X509_V_OK; /* nobody asked for it */
    if (verdict == X509_V_ERR_HOSTNAME_MISMATCH)
        why_set(why, ERR_OK, "the certificate of the server is not for the name %s", c->host);
    else if (verdict == X509_V_ERR_IP_ADDRESS_MISMATCH)
        why_set(why, ERR_OK, "the certificate of the server is not for the address %s", c->host);
    else if (verdict == X509_V_ERR_CERT_HAS_EXPIRED)
        why_set(why, ERR_OK, "the certificate of the server has expired");
    else if (verdict != X509_V_OK)
        why_set(why, ERR_OK,
                "the certificate of the server is not signed by a trusted authority (%s): pass its authority with "
                "--tls-ca, or its fingerprint with --tls-pin",
                X509_verify_cert_error_string(verdict));
    else if (c->is_client && c->first != RECORD_HANDSHAKE && c->first != RECORD_ALERT)
        why_set(why, ERR_OK, "the server does not speak TLS: drop tls://, or give the server a certificate");
    else if (c->is_client && reason >= SSL_AD_REASON_OFFSET)
        why_set(why, ERR_OK, "the server refused the connection: %s", text != NULL ? text : "it did not say why");
    else
        why_set(why, ERR_OK, "TLS: %s", text != NULL ? text : "the connection was cut off");
}

static bool is_pinned_one(const struct ostls_conn *c) {
    uint8_t hash[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    const X509 *peer = SSL_get0_peer_certificate(c->ssl);
    return peer != NULL && X509_digest(peer, EVP_sha256(), hash, &len) == 1 && len == OSTLS_PIN_BYTES &&
           memcmp(hash, c->pin, len) == 0;
}

static enum ostls_step step_of(struct ostls_conn *c, int result, struct why *why) {
    switch (SSL_get_error(c->ssl, result)) {
    case SSL_ERROR_NONE: return OSTLS_DONE;
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: return OSTLS_MORE;
    case SSL_ERROR_ZERO_RETURN: return OSTLS_OVER;
    default: explain(c, why); return OSTLS_FAILED;
    }
}

enum ostls_step ostls_shake(struct ostls_conn *c, struct why *why) {
    ERR_clear_error();
    enum ostls_step step = step_of(c, SSL_do_handshake(c->ssl), why);
    if (step != OSTLS_DONE || !c->pinned || is_pinned_one(c)) return step;
    why_set(why, ERR_OK, "the certificate of the server is not the one that was pinned");
    return OSTLS_FAILED;
}

enum ostls_step ostls_read(struct ostls_conn *c, void *to, size_t bytes, size_t *ret, struct why *why) {
    *ret = 0;
    ERR_clear_error();
    return step_of(c, SSL_read_ex(c->ssl, to, bytes, ret), why);
}

void ostls_write(struct ostls_conn *c, struct slice plain) {
    size_t taken = 0;
    if (plain.len == 0) return;
    ERR_clear_error();
    /* A write into memory takes everything, unless the connection has failed, which the next read tells. */
    (void)SSL_write_ex(c->ssl, slice_data(plain), plain.len, &taken);
    ERR_clear_error();
}

void ostls_bye(struct ostls_conn *c) {
    ERR_clear_error();
    if (SSL_is_init_finished(c->ssl)) (void)SSL_shutdown(c->ssl);
    ERR_clear_error();
}

/* ---- who the peer is ---- */

static void name_entry(X509_NAME *name, int what, char ret[OSTLS_NAME_MAX]) {
    uint8_t *text = NULL;
    int at = X509_NAME_get_index_by_NID(name, what, -1);
    ret[0] = 0;
    if (at < 0) return;
    int len = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    /* A name that is too long or holds a zero byte would be read as another one: it counts as none. */
    if (len > 0 && (unsigned)len < OSTLS_NAME_MAX && memchr(text, 0, (size_t)len) == NULL) {
        memcpy(ret, text, (size_t)len);
        ret[len] = 0;
    }
    OPENSSL_free(text);
}

void ostls_peer(const struct ostls_conn *c, struct ostls_peer *ret) {
    const X509 *peer = SSL_get0_peer_certificate(c->ssl);
    *ret = (struct ostls_peer){0};
    if (peer == NULL || SSL_get_verify_result(c->ssl) != X509_V_OK) return;
    X509_NAME *name = X509_get_subject_name(peer);
    name_entry(name, NID_commonName, ret->name);
    name_entry(name, NID_organizationalUnitName, ret->role);
    name_entry(name, NID_organizationName, ret->tenant);
}

void ostls_name(const struct ostls *t, char ret[OSTLS_NAME_MAX]) {
    const X509 *own = SSL_CTX_get0_certificate(t->ctx);
    ret[0] = 0;
    if (own != NULL) name_entry(X509_get_subject_name(own), NID_commonName, ret);
}
