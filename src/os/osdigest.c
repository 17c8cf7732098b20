/* osdigest.c: SHA-256 by libcrypto. OpenSSL picks the machine's own instructions; looking the algorithm up costs more
 * than hashing a small script, so it is looked up once. A failure here is no memory, and that is a panic. */
#include "osdigest.h"

#include <openssl/evp.h>
#include <pthread.h>

#include "panic.h"

static EVP_MD *sha256;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fetch(void) {
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    ENSURE(sha256 != NULL);
}

static void op_whole(struct hasher *d, struct slice bytes, uint8_t ret[DIGEST_BYTES]) {
    (void)d;
    unsigned len = 0;
    ENSURE(EVP_Digest(bytes.ptr, bytes.len, ret, &len, sha256, NULL) == 1);
    ENSURE(len == DIGEST_BYTES);
}

static struct digest_run *op_begin(struct hasher *d) {
    (void)d;
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    ENSURE(c != NULL);
    ENSURE(EVP_DigestInit_ex2(c, sha256, NULL) == 1);
    return (struct digest_run *)c;
}

static void op_more(struct digest_run *r, struct slice bytes) {
    ENSURE(EVP_DigestUpdate((EVP_MD_CTX *)r, bytes.ptr, bytes.len) == 1);
}

static void op_drop(struct digest_run *r) {
    EVP_MD_CTX_free((EVP_MD_CTX *)r);
}

static void op_end(struct digest_run *r, uint8_t ret[DIGEST_BYTES]) {
    unsigned len = 0;
    ENSURE(EVP_DigestFinal_ex((EVP_MD_CTX *)r, ret, &len) == 1);
    ENSURE(len == DIGEST_BYTES);
    op_drop(r);
}

struct hasher *osdigest(void) {
    static struct hasher it = {.whole = op_whole, .begin = op_begin, .more = op_more, .end = op_end, .drop = op_drop};
    ENSURE(pthread_once(&once, fetch) == 0);
    return &it;
}
