/* jwks_fuzz.c: whatever an issuer says that its keys are: a set of keys that can be used, or a sentence. And each key
 * that is in the set can be tried: the library refuses what is none. */
#include "jwks.h"
#include "limit.h"
#include "ossignature.h"
#include "panic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct jwks_key *k) {
    struct why why = {{0}};
    struct verifier *v = ossignature();
    for (uint32_t alg = 0; alg < SIGNATURE_ALG_COUNT; alg++) {
        if (!(k->algs & SIGNATURE_BIT(alg))) continue;
        enum err e = v->verify(v, (enum signature_alg)alg, &k->key, SLICE("text"), SLICE("no signature at all"), &why);
        ENSURE(e == ERR_UNAUTHENTICATED || e == ERR_INVALID);
        ENSURE(why.text[0] != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct limits limits;
    struct arena arena;
    struct jwks set;
    struct why why = {{0}};
    const struct public_key *key = NULL;
    limits_default(&limits);
    arena_init(&arena, 65536, (size_t)16 << 20);
    enum err e = jwks_read(slice_of(data, size), &limits, &arena, &set, &why);
    ENSURE(e == ERR_OK || why.text[0] != 0);
    if (e == ERR_OK) {
        ENSURE(set.count > 0 && set.count <= JWKS_KEYS_MAX);
        for (uint32_t i = 0; i < set.count && i < 4; i++) check(&set.keys[i]);
        for (uint32_t i = 0; i < set.count; i++) (void)!jwks_find(&set, set.keys[i].kid, SIGNATURE_RS256, &key, &why);
    }
    arena_fini(&arena);
    return 0;
}
