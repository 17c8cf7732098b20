/* oscert.c: see oscert.h. */
#include "openssl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "oscert.h"
#include "panic.h"

#define PATH_BYTES 600u
#define DAY_S (24L * 60 * 60)
#define SKEW_S (60L * 60) /* clocks of other machines may be late */
#define SERIAL_BYTES 16
#define HOST_BYTES_MAX 253u

struct pair {
    EVP_PKEY *key;
    X509 *cert;
};

static void pair_free(struct pair *p) {
    EVP_PKEY_free(p->key);
    X509_free(p->cert);
}
#define PAIR __attribute__((cleanup(pair_free))) struct pair

/* ---- files ---- */

static enum err path_of(const char *dir, const char *name, char path[PATH_BYTES], struct why *why) {
    int len = snprintf(path, PATH_BYTES, "%s/%s", dir, name);
    if (len < 0 || (size_t)len >= PATH_BYTES - 8) return why_set(why, ERR_LIMIT, "%s: the path is too long", dir);
    return ERR_OK;
}

/* All of it or nothing: written beside it, then renamed. The key comes first, as most readers of such files like it. */
static enum err file_write(const char *dir, const char *name, mode_t mode, EVP_PKEY *key, X509 *const *certs,
                           uint32_t cert_count, struct why *why) {
    char path[PATH_BYTES], tmp[PATH_BYTES + 8];
    enum err e = path_of(dir, name, path, why);
    if (e != ERR_OK) return e;
    snprintf(tmp, sizeof tmp, "%s.tmp", path);
    unlink(tmp);
    int fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    FILE *f = fd >= 0 ? fdopen(fd, "we") : NULL;
    if (f == NULL) return why_set(why, ERR_IO, "%s: %s", tmp, strerrordesc_np(errno));
    bool good = key == NULL || PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL) == 1;
    for (uint32_t i = 0; good && i < cert_count; i++) good = PEM_write_X509(f, certs[i]) == 1;
    good = good && fflush(f) == 0 && fsync(fd) == 0;
    good = fclose(f) == 0 && good;
    if (good && rename(tmp, path) == 0) return ERR_OK;
    e = why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    unlink(tmp);
    return e;
}

static FILE *file_open(const char *dir, const char *name) {
    char path[PATH_BYTES];
    struct why ignored;
    return path_of(dir, name, path, &ignored) == ERR_OK ? fopen(path, "re") : NULL;
}

static enum err ca_read(const char *dir, struct pair *ret, struct why *why) {
    FILE *cert = file_open(dir, "ca.pem"), *key = file_open(dir, "ca.key");
    enum err e = ERR_OK;
    if (cert == NULL || key == NULL)
        e = why_set(why, ERR_NOT_FOUND, "%s holds no authority: make one with `reeve cert init`", dir);
    if (e == ERR_OK) ret->cert = PEM_read_X509(cert, NULL, NULL, NULL);
    if (e == ERR_OK) ret->key = PEM_read_PrivateKey(key, NULL, NULL, NULL);
    if (e == ERR_OK && (ret->cert == NULL || ret->key == NULL || X509_check_private_key(ret->cert, ret->key) != 1))
        e = why_set(why, ERR_CORRUPT, "%s/ca.pem and ca.key are not a certificate and its key", dir);
    if (cert != NULL) fclose(cert);
    if (key != NULL) fclose(key);
    ERR_clear_error();
    return e;
}

/* ---- certificates ---- */

static void name_add(X509_NAME *name, const char *field, const char *text) {
    if (text == NULL || text[0] == 0) return;
    ENSURE(X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, (const uint8_t *)text, -1, -1, 0) == 1);
}

static void extend(X509 *cert, X509 *issuer, int what, const char *value) {
    X509V3_CTX ctx;
    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *x = X509V3_EXT_conf_nid(NULL, &ctx, what, value);
    ENSURE(x != NULL && X509_add_ext(cert, x, -1) == 1);
    X509_EXTENSION_free(x);
}

static void serial_set(X509 *cert) {
    uint8_t bytes[SERIAL_BYTES];
    ENSURE(RAND_bytes(bytes, sizeof bytes) == 1);
    bytes[0] &= 0x7f; /* positive */
    BIGNUM *number = BN_bin2bn(bytes, sizeof bytes, NULL);
    ENSURE(number != NULL && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert)) != NULL);
    BN_free(number);
}

/* Not signed yet. */
static void pair_make(struct pair *p, int days, const char *name, const char *role, const char *tenant) {
    p->key = EVP_EC_gen("P-256");
    p->cert = X509_new();
    ENSURE(p->key != NULL && p->cert != NULL);
    ENSURE(X509_set_version(p->cert, X509_VERSION_3) == 1);
    serial_set(p->cert);
    ENSURE(X509_gmtime_adj(X509_getm_notBefore(p->cert), -SKEW_S) != NULL);
    ENSURE(X509_gmtime_adj(X509_getm_notAfter(p->cert), days * DAY_S) != NULL);
    ENSURE(X509_set_pubkey(p->cert, p->key) == 1);
    X509_NAME *subject = X509_get_subject_name(p->cert);
    name_add(subject, "O", tenant);
    name_add(subject, "OU", role);
    name_add(subject, "CN", name);
}

static void sign(struct pair *p, struct pair *ca) {
    ENSURE(X509_set_issuer_name(p->cert, X509_get_subject_name(ca->cert)) == 1);
    extend(p->cert, ca->cert, NID_subject_key_identifier, "hash");
    extend(p->cert, ca->cert, NID_authority_key_identifier, "keyid");
    ENSURE(X509_sign(p->cert, ca->key, EVP_sha256()) > 0);
}

static enum err ca_make(const char *dir, struct pair *ret, struct why *why) {
    char path[PATH_BYTES];
    enum err e = path_of(dir, "ca.pem", path, why);
    if (e != ERR_OK) return e;
    if (access(path, F_OK) == 0) return ca_read(dir, ret, why);
    if (mkdir(dir, 0700) != 0 && errno != EEXIST) return why_set(why, ERR_IO, "%s: %s", dir, strerrordesc_np(errno));
    pair_make(ret, OSCERT_CA_DAYS, "Reeve CA", NULL, NULL);
    extend(ret->cert, ret->cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
    extend(ret->cert, ret->cert, NID_key_usage, "critical,keyCertSign,cRLSign");
    sign(ret, ret);
    e = file_write(dir, "ca.key", 0600, ret->key, NULL, 0, why); /* first: who finds ca.pem finds both */
    if (e == ERR_OK) e = file_write(dir, "ca.pem", 0644, NULL, &ret->cert, 1, why);
    return e;
}

static void leaf_finish(struct pair *p, struct pair *ca, const char *usage) {
    extend(p->cert, ca->cert, NID_basic_constraints, "critical,CA:FALSE");
    extend(p->cert, ca->cert, NID_key_usage, "critical,digitalSignature");
    extend(p->cert, ca->cert, NID_ext_key_usage, usage);
    sign(p, ca);
}

/* ---- what is asked for ---- */

static bool is_host(const char *text) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-*:";
    size_t len = strlen(text);
    return len > 0 && len <= HOST_BYTES_MAX && strspn(text, letters) == len;
}

enum err oscert_server(const char *dir, const char *const *hosts, uint32_t host_count, int days, struct why *why) {
    char list[OSCERT_HOSTS_MAX * (HOST_BYTES_MAX + 8u)];
    size_t len = 0;
    PAIR ca = {0}, own = {0};
    if (host_count == 0 || host_count > OSCERT_HOSTS_MAX)
        return why_set(why, ERR_LIMIT, "a certificate is for 1 to %u names and addresses", OSCERT_HOSTS_MAX);
    for (uint32_t i = 0; i < host_count; i++) {
        uint8_t number[16];
        bool is_number = inet_pton(AF_INET, hosts[i], number) == 1 || inet_pton(AF_INET6, hosts[i], number) == 1;
        if (!is_host(hosts[i]) || (!is_number && strchr(hosts[i], ':') != NULL))
            return why_set(why, ERR_INVALID, "%s is neither the name nor the address of a machine", hosts[i]);
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%s:%s", i > 0 ? "," : "", is_number ? "IP" : "DNS",
                                hosts[i]);
    }
    enum err e = ca_make(dir, &ca, why);
    if (e != ERR_OK) return e;
    pair_make(&own, days, "Reeve server", NULL, NULL);
    extend(own.cert, ca.cert, NID_subject_alt_name, list);
    leaf_finish(&own, &ca, "serverAuth");
    return file_write(dir, "server.pem", 0600, own.key, &own.cert, 1, why);
}

static bool is_name(const char *text) {
    size_t len = strlen(text);
    return len > 0 && len <= OSCERT_NAME_MAX && text[0] != '.' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == len;
}

enum err oscert_peer(const char *dir, const char *name, const char *role, const char *tenant, int days,
                     struct why *why) {
    char file[OSCERT_NAME_MAX + 8];
    PAIR ca = {0}, own = {0};
    if (!is_name(name) || strcmp(name, "ca") == 0 || strcmp(name, "server") == 0)
        return why_set(why, ERR_INVALID,
                       "%s cannot be the name in a certificate: up to %u letters, digits, dots, dashes; not ca, server",
                       name, OSCERT_NAME_MAX);
    if (tenant != NULL && tenant[0] != 0 && strlen(tenant) > 64)
        return why_set(why, ERR_LIMIT, "a tenant in a certificate has up to 64 bytes");
    enum err e = ca_read(dir, &ca, why);
    if (e != ERR_OK) return e;
    pair_make(&own, days, name, role, tenant);
    leaf_finish(&own, &ca, "clientAuth");
    snprintf(file, sizeof file, "%s.pem", name);
    return file_write(dir, file, 0600, own.key, (X509 *const[]){own.cert, ca.cert}, 2, why);
}

/* ---- revoking ---- */

static enum err serial_of(const char *dir, const char *which, char ret[OSCERT_SERIAL_MAX], struct why *why) {
    char path[PATH_BYTES], name[OSCERT_NAME_MAX + 8];
    size_t len = strlen(which);
    snprintf(name, sizeof name, "%s.pem", which);
    enum err e = path_of(dir, name, path, why);
    if (e != ERR_OK) return e;
    FILE *f = is_name(which) ? fopen(path, "re") : NULL;
    X509 *cert = f != NULL ? PEM_read_X509(f, NULL, NULL, NULL) : NULL;
    if (f != NULL) (void)fclose(f);
    BIGNUM *number = NULL;
    bool is_hex = len > 0 && len < 64 && strspn(which, "0123456789abcdefABCDEF") == len;
    if (cert != NULL)
        number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(cert), NULL);
    else if (is_hex)
        ENSURE(BN_hex2bn(&number, which) > 0);
    X509_free(cert);
    if (number == NULL)
        return why_set(why, ERR_NOT_FOUND, "%s: there is no such certificate in %s, and it is no serial number in hex",
                       which, dir);
    char *hex = BN_bn2hex(number);
    ENSURE(hex != NULL);
    snprintf(ret, OSCERT_SERIAL_MAX, "%s", hex);
    OPENSSL_free(hex);
    BN_free(number);
    return ERR_OK;
}

enum err oscert_revoke(const char *dir, const char *which, char ret_serial[OSCERT_SERIAL_MAX], struct why *why) {
    char path[PATH_BYTES];
    enum err e = serial_of(dir, which, ret_serial, why);
    if (e == ERR_OK) e = path_of(dir, OSCERT_REVOKED, path, why);
    if (e != ERR_OK) return e;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool good = fd >= 0 && dprintf(fd, "%s %s\n", ret_serial, which) > 0 && fsync(fd) == 0;
    if (!good) e = why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    if (fd >= 0) (void)close(fd);
    return e;
}

/* ---- looking ---- */

static void names_put(X509 *cert, char *ret, size_t size) {
    GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
    size_t len = 0;
    ret[0] = 0;
    for (int i = 0; i < sk_GENERAL_NAME_num(names) && len + HOST_BYTES_MAX + 2 < size; i++) {
        const GENERAL_NAME *n = sk_GENERAL_NAME_value(names, i);
        char text[HOST_BYTES_MAX + 1] = "";
        if (n->type == GEN_DNS) snprintf(text, sizeof text, "%s", (const char *)ASN1_STRING_get0_data(n->d.dNSName));
        if (n->type == GEN_IPADD)
            (void)inet_ntop(ASN1_STRING_length(n->d.iPAddress) == 4 ? AF_INET : AF_INET6,
                            ASN1_STRING_get0_data(n->d.iPAddress), text, sizeof text);
        if (text[0] != 0) len += (size_t)snprintf(ret + len, size - len, "%s%s", len > 0 ? " " : "", text);
    }
    GENERAL_NAMES_free(names);
}

enum err oscert_look(const char *path, struct oscert_view *ret, struct why *why) {
    FILE *f = fopen(path, "re");
    struct tm ends;
    if (f == NULL) return why_set(why, ERR_NOT_FOUND, "%s: %s", path, strerrordesc_np(errno));
    PAIR p = {PEM_read_PrivateKey(f, NULL, NULL, NULL), NULL};
    rewind(f);
    p.cert = PEM_read_X509(f, NULL, NULL, NULL);
    fclose(f);
    ERR_clear_error();
    if (p.cert == NULL || ASN1_TIME_to_tm(X509_get0_notAfter(p.cert), &ends) != 1)
        return why_set(why, ERR_CORRUPT, "%s holds no certificate", path);
    if (p.key != NULL && X509_check_private_key(p.cert, p.key) != 1)
        return why_set(why, ERR_CORRUPT, "the key in %s is not that of its certificate", path);
    ret->ends_s = (int64_t)timegm(&ends);
    names_put(p.cert, ret->names, sizeof ret->names);
    return ERR_OK;
}
