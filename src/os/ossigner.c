/* ossigner.c: see ossigner.h.
 *
 * OpenSSL does the arithmetic, and is asked for it only when something is signed or checked: setting it up costs a
 * process 2 MB, and a server at rest signs nothing. So the file is read and written here. A private key of Ed25519 is
 * 32 random bytes, and PKCS #8 puts the same 16 bytes before all of them (RFC 8410). A failure of OpenSSL is no memory,
 * and that is a panic. */
#include "openssl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena.h"
#include "base64.h"
#include "ossigner.h"
#include "panic.h"

#define PATH_BYTES 600u
#define SEED_BYTES 32u
#define TEXT_BYTES_MAX 512u
#define PEM_BEGIN "-----BEGIN PRIVATE KEY-----\n"
#define PEM_END "\n-----END PRIVATE KEY-----\n"

static const uint8_t pkcs8[] = {0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06,
                                0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20};

struct ossigner {
    struct signer signer; /* first */
    uint8_t seed[SEED_BYTES];
    EVP_PKEY *key; /* NULL: nothing was signed yet */
};

/* ---- signatures ---- */

static EVP_PKEY *key_of(const uint8_t seed[SEED_BYTES]) {
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, SEED_BYTES);
    ENSURE(key != NULL);
    return key;
}

static void public_of(const EVP_PKEY *key, uint8_t ret[SIGNER_KEY_BYTES]) {
    size_t len = SIGNER_KEY_BYTES;
    ENSURE(EVP_PKEY_get_raw_public_key(key, ret, &len) == 1);
    ENSURE(len == SIGNER_KEY_BYTES);
}

static struct ossigner *ready(struct signer *s) {
    struct ossigner *o = (struct ossigner *)(void *)s;
    if (o->key == NULL) o->key = key_of(o->seed);
    return o;
}

static void op_key(struct signer *s, uint8_t ret[SIGNER_KEY_BYTES]) {
    public_of(ready(s)->key, ret);
}

static void op_sign(struct signer *s, struct slice message, uint8_t ret[SIGNER_SIGNATURE_BYTES]) {
    size_t len = SIGNER_SIGNATURE_BYTES;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    ENSURE(ctx != NULL);
    ENSURE(EVP_DigestSignInit(ctx, NULL, NULL, NULL, ready(s)->key) == 1);
    ENSURE(EVP_DigestSign(ctx, ret, &len, slice_data(message), message.len) == 1);
    ENSURE(len == SIGNER_SIGNATURE_BYTES);
    EVP_MD_CTX_free(ctx);
}

static bool op_is_right(const struct sign_checker *c, const uint8_t key[SIGNER_KEY_BYTES], struct slice message,
                        const uint8_t signature[SIGNER_SIGNATURE_BYTES]) {
    (void)c;
    EVP_PKEY *public = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, SIGNER_KEY_BYTES);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    ENSURE(ctx != NULL);
    bool right = public != NULL && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, public) == 1 &&
                 EVP_DigestVerify(ctx, signature, SIGNER_SIGNATURE_BYTES, slice_data(message), message.len) == 1;
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(public);
    return right;
}

const struct sign_checker ossigner_checker = {op_is_right};

/* ---- the file ---- */

static bool pem_read(struct slice text, struct arena *arena, uint8_t ret[SEED_BYTES]) {
    size_t begin = sizeof PEM_BEGIN - 1, end = 0;
    struct slice bytes;
    if (text.len < begin || memcmp(text.ptr, PEM_BEGIN, begin) != 0) return false;
    for (end = begin; end < text.len && text.ptr[end] != '\n'; end++) {
    }
    if (base64_read(slice_of(text.ptr + begin, end - begin), arena, &bytes, NULL) != ERR_OK) return false;
    if (bytes.len != sizeof pkcs8 + SEED_BYTES || memcmp(bytes.ptr, pkcs8, sizeof pkcs8) != 0) return false;
    memcpy(ret, bytes.ptr + sizeof pkcs8, SEED_BYTES);
    return true;
}

static enum err seed_read(const char *path, uint8_t ret[SEED_BYTES], struct why *why) {
    char text[TEXT_BYTES_MAX];
    struct stat st;
    struct arena arena;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT) return why_set(why, ERR_NOT_FOUND, "%s: there is no such file", path);
    if (fd < 0) return why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    bool open_to_others = fstat(fd, &st) == 0 && (st.st_mode & 077) != 0;
    ssize_t len = read(fd, text, sizeof text);
    (void)close(fd);
    if (open_to_others)
        return why_set(why, ERR_FORBIDDEN, "%s: other users can read the key: run `chmod 600`, or replace it", path);
    arena_init(&arena, 1024, 65536);
    bool good = len > 0 && pem_read(slice_of(text, (size_t)len), &arena, ret);
    arena_fini(&arena);
    explicit_bzero(text, sizeof text);
    return good ? ERR_OK
                : why_set(why, ERR_CORRUPT, "%s: this is no private key of Ed25519: restore the file", path);
}

/* Durable before the first signature by it is. */
static enum err seed_write(const char *path, const uint8_t seed[SEED_BYTES], struct why *why) {
    char tmp[PATH_BYTES + 8];
    struct buf text;
    uint8_t bytes[sizeof pkcs8 + SEED_BYTES];
    memcpy(bytes, pkcs8, sizeof pkcs8);
    memcpy(bytes + sizeof pkcs8, seed, SEED_BYTES);
    buf_init(&text, TEXT_BYTES_MAX);
    buf_put_slice(&text, SLICE(PEM_BEGIN));
    base64_put(&text, slice_of(bytes, sizeof bytes));
    buf_put_slice(&text, SLICE(PEM_END));
    snprintf(tmp, sizeof tmp, "%s.tmp", path);
    (void)unlink(tmp);
    int fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool good = fd >= 0 && write(fd, text.at, text.len) == (ssize_t)text.len && fsync(fd) == 0;
    if (fd >= 0) good = close(fd) == 0 && good;
    good = good && rename(tmp, path) == 0;
    enum err e = good ? ERR_OK : why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    if (!good) (void)unlink(tmp);
    explicit_bzero(bytes, sizeof bytes);
    buf_fini(&text);
    return e;
}

enum err ossigner_open(const char *path, struct signer **ret, bool *ret_made, struct why *why) {
    uint8_t seed[SEED_BYTES];
    if (strlen(path) >= PATH_BYTES) return why_set(why, ERR_LIMIT, "%s: the path is too long", path);
    enum err e = seed_read(path, seed, why);
    bool made = e == ERR_NOT_FOUND;
    if (made) {
        ENSURE(getrandom(seed, sizeof seed, 0) == (ssize_t)sizeof seed);
        e = seed_write(path, seed, why);
    }
    if (e != ERR_OK) return e;
    struct ossigner *o = calloc(1, sizeof *o);
    ENSURE(o != NULL);
    *o = (struct ossigner){.signer = {op_key, op_sign}};
    memcpy(o->seed, seed, sizeof seed);
    explicit_bzero(seed, sizeof seed);
    *ret = &o->signer;
    *ret_made = made;
    return ERR_OK;
}

void ossigner_close(struct signer *s) {
    struct ossigner *o = (struct ossigner *)(void *)s;
    if (o == NULL) return;
    EVP_PKEY_free(o->key);
    explicit_bzero(o->seed, sizeof o->seed);
    free(o);
}

enum err ossigner_public(const char *path, uint8_t ret[SIGNER_KEY_BYTES], struct why *why) {
    uint8_t seed[SEED_BYTES];
    enum err e = seed_read(path, seed, why);
    if (e != ERR_OK) return e;
    EVP_PKEY *key = key_of(seed);
    public_of(key, ret);
    EVP_PKEY_free(key);
    return ERR_OK;
}
