/* osdigest.c: SHA-256 and SHA-1 by libcrypto, which picks the machine's own instructions. Through its plain functions,
 * not through EVP: looking an algorithm up there sets all of OpenSSL up, which costs each process 2 MB and some
 * milliseconds, the command line among them. That these functions are called deprecated is what the first line is
 * about. A failure here is no memory, and that is a panic. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "osdigest.h"

#include <openssl/sha.h>
#include <stdlib.h>

#include "osseal.h"
#include "panic.h"

_Static_assert(DIGEST_BYTES == SHA256_DIGEST_LENGTH, "a digest is SHA-256");
_Static_assert(DIGEST_SHA1_BYTES == SHA_DIGEST_LENGTH, "the other one is SHA-1");

struct digest_run {
    SHA256_CTX sha;
};

static void op_whole(struct hasher *d, struct slice bytes, uint8_t ret[DIGEST_BYTES]) {
    SHA256_CTX sha;
    (void)d;
    ENSURE(SHA256_Init(&sha) == 1);
    ENSURE(SHA256_Update(&sha, bytes.ptr, bytes.len) == 1);
    ENSURE(SHA256_Final(ret, &sha) == 1);
}

static struct digest_run *op_begin(struct hasher *d) {
    (void)d;
    struct digest_run *r = malloc(sizeof *r);
    ENSURE(r != NULL);
    ENSURE(SHA256_Init(&r->sha) == 1);
    return r;
}

static void op_more(struct digest_run *r, struct slice bytes) {
    ENSURE(SHA256_Update(&r->sha, bytes.ptr, bytes.len) == 1);
}

static void op_drop(struct digest_run *r) {
    free(r);
}

static void op_end(struct digest_run *r, uint8_t ret[DIGEST_BYTES]) {
    ENSURE(SHA256_Final(ret, &r->sha) == 1);
    op_drop(r);
}

static void op_sha1(struct hasher *d, struct slice bytes, uint8_t ret[DIGEST_SHA1_BYTES]) {
    SHA_CTX sha;
    (void)d;
    ENSURE(SHA1_Init(&sha) == 1);
    ENSURE(SHA1_Update(&sha, bytes.ptr, bytes.len) == 1);
    ENSURE(SHA1_Final(ret, &sha) == 1);
}

struct hasher *osdigest(void) {
    static struct hasher it = {.whole = op_whole,
                               .begin = op_begin,
                               .more = op_more,
                               .end = op_end,
                               .drop = op_drop,
                               .sha1 = op_sha1,
                               .seal = osseal,
                               .unseal = osseal_open};
    return &it;
}
