/* jwt_fuzz.c: whatever is sent as a token of an identity provider is taken apart or refused with a sentence; what is
 * taken apart has a signature that is checked over its own bytes, and is let in by no key that did not sign it. */
#include "bearer.h"
#include "limit.h"
#include "panic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Nothing that is made here is signed. */
static enum err never(struct verifier *v, enum signature_alg alg, const struct public_key *key, struct slice bytes,
                      struct slice signature, struct why *why) {
    (void)v, (void)alg, (void)key, (void)signature;
    ENSURE(bytes.len > 0);
    return why_set(why, ERR_UNAUTHENTICATED, "the signature of the token is wrong");
}

static void check(const struct jwt *t, struct slice text) {
    const struct slice audience = SLICE("reeve");
    struct jwt_wanted wanted = {.audiences = &audience, .audience_count = 1, .nonce = SLICE("n"), .now = {1}};
    struct verifier v = {never};
    struct public_key key = {.kind = SIGNATURE_RSA};
    struct why why = {{0}};
    ENSURE(t->issuer.len > 0 && t->subject.len > 0 && t->expires_ms > 0);
    ENSURE(t->alg < SIGNATURE_ALG_COUNT);
    ENSURE(t->signed_text.len < text.len && memcmp(t->signed_text.ptr, text.ptr, t->signed_text.len) == 0);
    ENSURE(text.ptr[t->signed_text.len] == '.');
    (void)!jwt_check(t, &wanted, &why);
    ENSURE(jwt_verify(t, &v, &key, &why) != ERR_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct slice text = slice_of(data, size);
    struct limits limits;
    struct arena arena;
    struct jwt t;
    struct why why = {{0}};
    limits_default(&limits);
    arena_init(&arena, 16384, (size_t)1 << 20);
    enum err e = jwt_read(text, &limits, &arena, &t, &why);
    ENSURE(e == ERR_OK || (e == ERR_UNAUTHENTICATED && why.text[0] != 0));
    if (e == ERR_OK) check(&t, text);
    arena_fini(&arena);
    return 0;
}
