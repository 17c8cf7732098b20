/* simsigner.c: see simsigner.h. */
#include "simsigner.h"

#include <string.h>

#include "osdigest.h"

static void signature_of(const uint8_t key[SIGNER_KEY_BYTES], struct slice message,
                         uint8_t ret[SIGNER_SIGNATURE_BYTES]) {
    struct hasher *d = osdigest();
    for (uint8_t half = 0; half < 2; half++) {
        struct digest_run *r = d->begin(d);
        d->more(r, slice_of(&half, 1));
        d->more(r, slice_of(key, SIGNER_KEY_BYTES));
        d->more(r, message);
        d->end(r, ret + (size_t)half * DIGEST_BYTES);
    }
}

static const uint8_t own_key[SIGNER_KEY_BYTES] = "the simulator's own public key";

static void op_key(struct signer *s, uint8_t ret[SIGNER_KEY_BYTES]) {
    (void)s;
    memcpy(ret, own_key, SIGNER_KEY_BYTES);
}

static void op_sign(struct signer *s, struct slice message, uint8_t ret[SIGNER_SIGNATURE_BYTES]) {
    (void)s;
    signature_of(own_key, message, ret);
}

static bool op_is_right(const struct sign_checker *c, const uint8_t key[SIGNER_KEY_BYTES], struct slice message,
                        const uint8_t signature[SIGNER_SIGNATURE_BYTES]) {
    uint8_t right[SIGNER_SIGNATURE_BYTES];
    (void)c;
    signature_of(key, message, right);
    return memcmp(right, signature, sizeof right) == 0;
}

const struct sign_checker simsigner_checker = {op_is_right};

struct signer *simsigner(void) {
    static struct signer signer = {.key = op_key, .sign = op_sign};
    return &signer;
}
