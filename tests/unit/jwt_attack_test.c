/* jwt_attack_test.c: tokens of identity providers that somebody has made or changed to get in, or to become somebody
 * else; each is refused, for its own reason. Keys are made by the test; the good token beside them is let in. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "auth.h"
#include "bearer.h"
#include "jwtlab.h"
#include "limit.h"
#include "ossignature.h"

#define NOW_S 1800000000LL
#define CORP "https://login.example.com/realms/corp"
#define OTHER "https://accounts.example.org"

static struct limits limits;
static struct issuers *issuers;
static struct keyring rings[ISSUERS_MAX];
static struct jwtlab_key *keys[JWTLAB_KIND_COUNT], *strange, *others;
static struct arena arena;
static struct why why;
static struct buf set; /* of corp */

static const char document[] =
    "{\"issuers\":[{\"name\":\"corp\",\"issuer\":\"" CORP "\",\"audience\":[\"reeve\",\"reeve-2\"],"
    "\"algorithms\":[\"RS256\",\"PS256\",\"ES256\",\"ES384\"],\"client_id\":\"console\",\"map\":["
    "{\"when\":{\"groups\":\"admins\"},\"account\":\"{preferred_username}\",\"roles\":[\"admin\"],\"tenant\":\"*\"},"
    "{\"when\":{\"groups\":\"byemail\"},\"account\":\"{email}\",\"roles\":[\"viewer\"],\"tenant\":\"{tenant}\"},"
    "{\"when\":{\"realm.roles\":[\"dev*\"],\"groups\":\"?*\"},"
    "\"roles\":[\"submitter\",\"viewer\"],\"tenant\":\"acme\"}]},"
    "{\"name\":\"other\",\"issuer\":\"" OTHER "\",\"client_id\":\"c\",\"map\":["
    "{\"when\":{\"sub\":\"*\"},\"roles\":[\"admin\"],\"tenant\":\"*\"}]}]}";

static void ring_fill(struct keyring *k, const char *url, struct slice jwks) {
    char discovery[1024], at[ISSUER_URL_MAX + 64];
    snprintf(discovery, sizeof discovery,
             "{\"issuer\":\"%s\",\"jwks_uri\":\"%s/keys\",\"token_endpoint\":\"%s/token\"}", url, url, url);
    assert_int_equal(keyring_begin(k, 0, at), KEYRING_DISCOVERY);
    assert_int_equal(keyring_came(k, 0, slice_str(discovery), -1, &limits, &why), ERR_OK);
    assert_int_equal(keyring_begin(k, 0, at), KEYRING_KEYS);
    assert_int_equal(keyring_came(k, 0, jwks, -1, &limits, &why), ERR_OK);
}

static int setup(void **state) {
    static const char *const kids[] = {"rsa", "weak", "p256", "p384", "ed"};
    const struct json_node *tree = NULL;
    struct buf other;
    (void)state;
    limits_default(&limits);
    arena_init(&arena, 65536, (size_t)16 << 20);
    assert_int_equal(json_tree_read(slice_str(document), &limits, &arena, &tree, &why), ERR_OK);
    if (issuers_read(tree, role_by_word, &issuers, &why) != ERR_OK) fail_msg("%s", why.text);
    buf_init(&set, 65536);
    buf_init(&other, 65536);
    buf_put_slice(&set, SLICE("{\"keys\":[{\"kty\":\"oct\",\"kid\":\"shared\",\"k\":\"c2VjcmV0\"}"));
    for (uint32_t i = 0; i < JWTLAB_KIND_COUNT; i++) {
        keys[i] = jwtlab_key_new((enum jwtlab_kind)i);
        buf_put_u8(&set, ',');
        jwtlab_jwk(keys[i], kids[i], ",\"use\":\"sig\"", &set);
    }
    buf_put_slice(&set, SLICE(",{\"kty\":\"RSA\",\"kid\":\"enc\",\"use\":\"enc\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}"));
    strange = jwtlab_key_new(JWTLAB_RSA);
    others = jwtlab_key_new(JWTLAB_RSA);
    buf_put_slice(&other, SLICE("{\"keys\":["));
    jwtlab_jwk(others, "rsa", "", &other);
    buf_put_slice(&other, SLICE("]}"));
    for (uint32_t i = 0; i < issuers->count; i++) keyring_init(&rings[i], &issuers->all[i]);
    ring_fill(&rings[0], CORP, buf_slice(&set));
    ring_fill(&rings[1], OTHER, buf_slice(&other));
    buf_fini(&other);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    for (uint32_t i = 0; i < JWTLAB_KIND_COUNT; i++) jwtlab_key_free(keys[i]);
    jwtlab_key_free(strange);
    jwtlab_key_free(others);
    for (uint32_t i = 0; i < issuers->count; i++) keyring_fini(&rings[i]);
    issuers_free(issuers);
    buf_fini(&set);
    arena_fini(&arena);
    return 0;
}

static struct bearer_world world_at(int64_t now_s) {
    arena_reset(&arena);
    why.text[0] = 0;
    return (struct bearer_world){.issuers = issuers,
                                 .rings = rings,
                                 .verifier = ossignature(),
                                 .limits = &limits,
                                 .arena = &arena,
                                 .now = {now_s * 1000}};
}

static enum err tell(struct slice token, struct bearer *ret) {
    struct bearer_world w = world_at(NOW_S);
    return bearer_check(&w, token, ret, &why);
}

/* ---- tokens ---- */

#define BASE "\"iss\":\"" CORP "\",\"sub\":\"7\",\"aud\":\"reeve\",\"iat\":1799999990"
#define ADA ",\"preferred_username\":\"ada\",\"groups\":[\"dev\",\"admins\"]"
#define GOOD "{" BASE ",\"exp\":1800000300" ADA "}"
#define RS256 "{\"alg\":\"RS256\",\"kid\":\"rsa\",\"typ\":\"JWT\"}"

static struct slice made(const struct jwtlab_key *k, const char *alg, const char *header, const char *claims,
                         struct buf *out) {
    buf_clear(out);
    jwtlab_sign(k, alg, SLICE(""), header, claims, out);
    return buf_slice(out);
}

struct attack {
    const char *name;
    enum jwtlab_kind key; /* JWTLAB_KIND_COUNT: a stranger's */
    const char *alg;      /* by which it is signed */
    const char *header, *claims;
    const char *words; /* of the refusal */
};
#define STRANGER JWTLAB_KIND_COUNT
#define WITH_EXP(more) "{" BASE ",\"exp\":1800000300" more "}"

/* clang-format off */
static const struct attack attacks[] = {
    {"none", JWTLAB_RSA, "none", "{\"alg\":\"none\"}", GOOD, "algorithm is not accepted"},
    {"None", JWTLAB_RSA, "none", "{\"alg\":\"None\",\"kid\":\"rsa\"}", GOOD, "algorithm is not accepted"},
    {"nOnE with a signature", JWTLAB_RSA, "RS256", "{\"alg\":\"nOnE\",\"kid\":\"rsa\"}", GOOD, "algorithm is not accepted"},
    {"no algorithm", JWTLAB_RSA, "RS256", "{\"kid\":\"rsa\"}", GOOD, "no `alg`"},
    {"an algorithm in a list", JWTLAB_RSA, "RS256", "{\"alg\":[\"RS256\"],\"kid\":\"rsa\"}", GOOD, "no `alg`"},
    {"RS256 in small letters", JWTLAB_RSA, "RS256", "{\"alg\":\"rs256\",\"kid\":\"rsa\"}", GOOD, "algorithm is not accepted"},
    {"an algorithm that the issuer may not use", JWTLAB_ED25519, "EdDSA", "{\"alg\":\"EdDSA\",\"kid\":\"ed\"}", GOOD, "may not sign by the algorithm"},
    {"PS256 said, RS256 done", JWTLAB_RSA, "RS256", "{\"alg\":\"PS256\",\"kid\":\"rsa\"}", GOOD, "signature"},
    {"the key of another kind", JWTLAB_RSA, "RS256", "{\"alg\":\"RS256\",\"kid\":\"p256\"}", GOOD, "key"},
    {"the key of another curve", JWTLAB_P384, "ES384", "{\"alg\":\"ES256\",\"kid\":\"p384\"}", GOOD, "key"},
    {"a weak key of the issuer", JWTLAB_RSA_WEAK, "RS256", "{\"alg\":\"RS256\",\"kid\":\"weak\"}", GOOD, "key"},
    {"a symmetric key of the set", JWTLAB_RSA, "RS256", "{\"alg\":\"RS256\",\"kid\":\"shared\"}", GOOD, "key"},
    {"a key for encryption", JWTLAB_RSA, "RS256", "{\"alg\":\"RS256\",\"kid\":\"enc\"}", GOOD, "key"},
    {"a stranger's key under a known name", STRANGER, "RS256", RS256, GOOD, "signature"},
    {"a key that comes along", STRANGER, "RS256", "{\"alg\":\"RS256\",\"kid\":\"rsa\",\"jwk\":{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}}", GOOD, "signature"},
    {"the address of a key set", STRANGER, "RS256", "{\"alg\":\"RS256\",\"kid\":\"evil\",\"jku\":\"https://evil.example/keys\"}", GOOD, "key"},
    {"the address of a certificate", STRANGER, "RS256", "{\"alg\":\"RS256\",\"kid\":\"rsa\",\"x5u\":\"https://evil.example/c.pem\",\"x5c\":[\"MIIB\"]}", GOOD, "signature"},
    {"a path as the name of a key", STRANGER, "RS256", "{\"alg\":\"RS256\",\"kid\":\"../../../../dev/null\"}", GOOD, "key"},
    {"a query as the name of a key", STRANGER, "RS256", "{\"alg\":\"RS256\",\"kid\":\"x' UNION SELECT 'key\"}", GOOD, "key"},
    {"a number as the name of a key", JWTLAB_RSA, "RS256", "{\"alg\":\"RS256\",\"kid\":7}", GOOD, "`kid`"},
    {"no name of a key, and one fits", JWTLAB_RSA, "RS256", "{\"alg\":\"RS256\"}", GOOD, NULL /* good */},
    {"a rule that must be understood", JWTLAB_RSA, "RS256", "{\"alg\":\"RS256\",\"kid\":\"rsa\",\"crit\":[\"exp\"],\"exp\":1}", GOOD, "`crit`"},
    {"an unencoded body", JWTLAB_RSA, "RS256", "{\"alg\":\"RS256\",\"kid\":\"rsa\",\"b64\":false,\"crit\":[\"b64\"]}", GOOD, "`crit`"},
    {"a compressed one", JWTLAB_RSA, "RS256", "{\"alg\":\"RS256\",\"kid\":\"rsa\",\"zip\":\"DEF\"}", GOOD, "compressed"},
    {"a token in a token", JWTLAB_RSA, "RS256", "{\"alg\":\"RS256\",\"kid\":\"rsa\",\"cty\":\"JWT\"}", GOOD, "`cty`"},
    {"a logout token", JWTLAB_RSA, "RS256", "{\"alg\":\"RS256\",\"kid\":\"rsa\",\"typ\":\"logout+jwt\"}", GOOD, "`typ`"},
    {"a proof of possession", JWTLAB_RSA, "RS256", "{\"alg\":\"RS256\",\"kid\":\"rsa\",\"typ\":\"dpop+jwt\"}", GOOD, "`typ`"},
    {"the algorithm twice", JWTLAB_RSA, "RS256", "{\"alg\":\"none\",\"kid\":\"rsa\",\"alg\":\"RS256\"}", GOOD, "no JSON object"},
    {"expired", JWTLAB_RSA, "RS256", RS256, "{" BASE ",\"exp\":1799999900" ADA "}", "expired 100 s ago"},
    {"without an end", JWTLAB_RSA, "RS256", RS256, "{" BASE ADA "}", "no end"},
    {"an end as a text", JWTLAB_RSA, "RS256", RS256, "{" BASE ",\"exp\":\"1800000300\"" ADA "}", "`exp`"},
    {"an end before all times", JWTLAB_RSA, "RS256", RS256, "{" BASE ",\"exp\":-1" ADA "}", "`exp`"},
    {"an end behind all times", JWTLAB_RSA, "RS256", RS256, "{" BASE ",\"exp\":1e300" ADA "}", "`exp`"},
    {"not yet", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"nbf\":1800000200" ADA), "only in 200 s"},
    {"from the future", JWTLAB_RSA, "RS256", RS256, "{\"iss\":\"" CORP "\",\"sub\":\"7\",\"aud\":\"reeve\",\"iat\":1800000100,\"exp\":1800000300" ADA "}", "only in 100 s"},
    {"another audience", JWTLAB_RSA, "RS256", RS256, "{\"iss\":\"" CORP "\",\"sub\":\"7\",\"aud\":\"billing\",\"exp\":1800000300" ADA "}", "audience"},
    {"other audiences", JWTLAB_RSA, "RS256", RS256, "{\"iss\":\"" CORP "\",\"sub\":\"7\",\"aud\":[\"a\",\"reeve3\"],\"exp\":1800000300" ADA "}", "audience"},
    {"no audience", JWTLAB_RSA, "RS256", RS256, "{\"iss\":\"" CORP "\",\"sub\":\"7\",\"exp\":1800000300" ADA "}", "audience"},
    {"an empty list of audiences", JWTLAB_RSA, "RS256", RS256, "{\"iss\":\"" CORP "\",\"sub\":\"7\",\"aud\":[],\"exp\":1800000300" ADA "}", "audience"},
    {"ours among audiences that are none", JWTLAB_RSA, "RS256", RS256, "{\"iss\":\"" CORP "\",\"sub\":\"7\",\"aud\":[\"reeve\",{}],\"exp\":1800000300" ADA "}", "audience"},
    {"the client of the console", JWTLAB_RSA, "RS256", RS256, "{\"iss\":\"" CORP "\",\"sub\":\"7\",\"aud\":\"console\",\"exp\":1800000300" ADA "}", "audience"},
    {"another issuer", JWTLAB_RSA, "RS256", RS256, "{\"iss\":\"https://evil.example\",\"sub\":\"7\",\"aud\":\"reeve\",\"exp\":1800000300" ADA "}", "no tokens of the issuer"},
    {"an issuer with a slash more", JWTLAB_RSA, "RS256", RS256, "{\"iss\":\"" CORP "/\",\"sub\":\"7\",\"aud\":\"reeve\",\"exp\":1800000300" ADA "}", "no tokens of the issuer"},
    {"an issuer that only logs people in", JWTLAB_RSA, "RS256", RS256, "{\"iss\":\"" OTHER "\",\"sub\":\"7\",\"aud\":\"reeve\",\"exp\":1800000300" ADA "}", "no tokens of the issuer"},
    {"no issuer", JWTLAB_RSA, "RS256", RS256, "{\"sub\":\"7\",\"aud\":\"reeve\",\"exp\":1800000300" ADA "}", "no issuer"},
    {"a list of issuers", JWTLAB_RSA, "RS256", RS256, "{\"iss\":[\"" CORP "\"],\"sub\":\"7\",\"aud\":\"reeve\",\"exp\":1800000300" ADA "}", "no issuer"},
    {"no subject", JWTLAB_RSA, "RS256", RS256, "{\"iss\":\"" CORP "\",\"aud\":\"reeve\",\"exp\":1800000300" ADA "}", "no subject"},
    {"a subject that is a number", JWTLAB_RSA, "RS256", RS256, "{\"iss\":\"" CORP "\",\"sub\":7,\"aud\":\"reeve\",\"exp\":1800000300" ADA "}", "no subject"},
    {"an audience twice", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"aud\":\"billing\"" ADA), "no JSON object"},
    {"a body that is a list", JWTLAB_RSA, "RS256", RS256, "[\"reeve\"]", "no JSON object"},
    {"a body that is not UTF-8", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"x\":\"\xff\xfe\""), "no JSON object"},
    {"a body that is too deep", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"x\":[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]"), "no JSON object"},
    {"bound to a key of its owner", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"cnf\":{\"jkt\":\"x\"}" ADA), "`cnf`"},
    {"a signature in the other form", JWTLAB_P256, "DER", "{\"alg\":\"ES256\",\"kid\":\"p256\"}", GOOD, "signature"},
    {"the name of this server's own user", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"preferred_username\":\"uid:0\",\"groups\":[\"admins\"]"), "no account"},
    {"a name with a line end", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"preferred_username\":\"a\\nb\",\"groups\":[\"admins\"]"), "no account"},
    {"a name that turns its line around", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"preferred_username\":\"a\\u202eb\",\"groups\":[\"admins\"]"), "no account"},
    {"a name with a zero byte", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"preferred_username\":\"root\\u0000x\",\"groups\":[\"admins\"]"), "no account"},
    {"an empty name", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"preferred_username\":\"\",\"groups\":[\"admins\"]"), "`preferred_username`"},
    {"a name that is a list", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"preferred_username\":[\"ada\"],\"groups\":[\"admins\"]"), "`preferred_username`"},
    {"a name that is too long", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"groups\":[\"admins\"],\"preferred_username\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\""), "no account"},
    {"an address that is not verified", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"email\":\"ceo@corp.com\",\"email_verified\":false,\"groups\":[\"byemail\"],\"tenant\":\"acme\""), "not verified"},
    {"all tenants by a claim", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"email\":\"a@corp.com\",\"groups\":[\"byemail\"],\"tenant\":\"*\""), "no tenant"},
    {"no tenant, where a claim says it", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"email\":\"a@corp.com\",\"groups\":[\"byemail\"]"), "`tenant`"},
    {"a group whose name contains another", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"preferred_username\":\"eve\",\"groups\":[\"not-admins\",\"admins2\"]"), "no rule of issuer corp"},
    {"groups as one text", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"preferred_username\":\"eve\",\"groups\":\"dev admins\""), "no rule of issuer corp"},
    {"groups in an object", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"preferred_username\":\"eve\",\"groups\":{\"admins\":true}"), "no rule of issuer corp"},
    {"a pattern instead of a group", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"preferred_username\":\"eve\",\"groups\":[\"*\"]"), "no rule of issuer corp"},
    {"half of a rule", JWTLAB_RSA, "RS256", RS256, WITH_EXP(",\"realm\":{\"roles\":[\"developer\"]}"), "`groups` (missing)"},
};
/* clang-format on */

static void every_attack_is_refused_for_its_reason(void **state) {
    (void)state;
    struct buf token;
    buf_init(&token, 65536);
    for (size_t i = 0; i < sizeof attacks / sizeof attacks[0]; i++) {
        const struct attack *a = &attacks[i];
        struct bearer b = {.issuer = NULL};
        const struct jwtlab_key *k = a->key == STRANGER ? strange : keys[a->key];
        enum err e = tell(made(k, a->alg, a->header, a->claims, &token), &b);
        if (a->words == NULL) {
            if (e != ERR_OK) fail_msg("%s: %s", a->name, why.text);
            continue;
        }
        if (e == ERR_OK || b.issuer != NULL) fail_msg("%s: let in as %s", a->name, b.as.name);
        if (strstr(why.text, a->words) == NULL) fail_msg("%s: refused with: %s", a->name, why.text);
    }
    buf_fini(&token);
}

static void good_tokens_are_let_in(void **state) {
    (void)state;
    static const struct {
        enum jwtlab_kind key;
        const char *alg, *header;
    } good[] = {{JWTLAB_RSA, "RS256", RS256},
                {JWTLAB_RSA, "PS256", "{\"alg\":\"PS256\",\"kid\":\"rsa\",\"typ\":\"at+jwt\"}"},
                {JWTLAB_P256, "ES256", "{\"alg\":\"ES256\",\"kid\":\"p256\"}"},
                {JWTLAB_P384, "ES384", "{\"alg\":\"ES384\",\"kid\":\"p384\",\"x5t\":\"abc\"}"}};
    struct buf token;
    buf_init(&token, 65536);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct bearer b;
        enum err e = tell(made(keys[good[i].key], good[i].alg, good[i].header, GOOD, &token), &b);
        if (e != ERR_OK) fail_msg("%s: %s", good[i].alg, why.text);
        assert_string_equal(b.as.name, "ada@corp");
        assert_string_equal(b.as.tenant, "");
        assert_int_equal(b.as.roles, ROLE_BIT(ROLE_ADMIN));
        assert_int_equal(b.expires_ms, (1800000300LL + 60) * 1000);
        assert_int_equal(b.as.rule, 1);
    }
    struct bearer b;
    const char *nested = WITH_EXP(",\"realm\":{\"roles\":[\"x\",\"developer\"]},\"groups\":[\"any\"]");
    assert_int_equal(tell(made(keys[JWTLAB_RSA], "RS256", RS256, nested, &token), &b), ERR_OK);
    assert_string_equal(b.as.name, "7@corp");
    assert_string_equal(b.as.tenant, "acme");
    assert_int_equal(b.as.roles, ROLE_BIT(ROLE_SUBMITTER) | ROLE_BIT(ROLE_VIEWER));
    buf_fini(&token);
}

/* A public key is public: whoever has it must not be able to sign by using it as a secret. */
static void a_public_key_is_no_secret(void **state) {
    (void)state;
    struct buf token, jwk;
    struct bearer b;
    buf_init(&token, 65536);
    buf_init(&jwk, 65536);
    jwtlab_jwk(keys[JWTLAB_RSA], "rsa", "", &jwk);
    const struct slice secrets[] = {buf_slice(&jwk), buf_slice(&set), SLICE("secret"), SLICE("")};
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
        static const char *const headers[] = {"{\"alg\":\"HS256\",\"kid\":\"rsa\"}", RS256,
                                              "{\"alg\":\"HS256\",\"kid\":\"shared\"}"};
        for (size_t k = 0; k < sizeof headers / sizeof headers[0]; k++) {
            buf_clear(&token);
            jwtlab_sign(NULL, "HS256", secrets[i], headers[k], GOOD, &token);
            assert_int_equal(tell(buf_slice(&token), &b), ERR_UNAUTHENTICATED);
        }
    }
    buf_fini(&jwk);
    buf_fini(&token);
}

static void a_token_is_refused_when_any_byte_of_it_differs(void **state) {
    (void)state;
    struct buf token;
    struct bearer b;
    buf_init(&token, 65536);
    made(keys[JWTLAB_P256], "ES256", "{\"alg\":\"ES256\",\"kid\":\"p256\"}", GOOD, &token);
    assert_int_equal(tell(buf_slice(&token), &b), ERR_OK);
    for (size_t i = 0; i < token.len; i++) {
        static const uint8_t others_[] = {'A', '=', '.', '\n', ' ', 0x80};
        uint8_t was = token.at[i];
        for (size_t k = 0; k < sizeof others_; k++) {
            if (others_[k] == was) continue;
            token.at[i] = others_[k];
            if (tell(buf_slice(&token), &b) == ERR_OK) fail_msg("byte %zu as %u is let in", i, others_[k]);
        }
        token.at[i] = was;
        assert_int_not_equal(tell(slice_of(token.at, i), &b), ERR_OK);
    }
    buf_fini(&token);
}

/* Signatures of zeroes once were good for every text (CVE-2022-21449); and the parts of two tokens make no third. */
static void made_up_signatures_are_refused(void **state) {
    (void)state;
    struct buf token, other;
    struct bearer b;
    buf_init(&token, 65536);
    buf_init(&other, 65536);
    made(keys[JWTLAB_P256], "none", "{\"alg\":\"ES256\",\"kid\":\"p256\"}", GOOD, &token);
    for (size_t i = 0; i < 86; i++) buf_put_u8(&token, 'A');
    assert_int_equal(tell(buf_slice(&token), &b), ERR_UNAUTHENTICATED);
    made(keys[JWTLAB_RSA], "RS256", RS256, GOOD, &token);
    made(keys[JWTLAB_RSA], "RS256", RS256, WITH_EXP(",\"preferred_username\":\"eve\",\"groups\":[\"admins\"]"), &other);
    const char *signature = strrchr((const char *)token.at, '.');
    buf_cut(&other, (size_t)(strrchr((const char *)other.at, '.') - (const char *)other.at));
    buf_put(&other, signature, strlen(signature));
    assert_int_equal(tell(buf_slice(&other), &b), ERR_UNAUTHENTICATED);
    buf_put(&token, "AAAA", 4); /* a longer signature */
    assert_int_equal(tell(buf_slice(&token), &b), ERR_UNAUTHENTICATED);
    buf_clear(&other); /* five parts: encrypted */
    buf_put_slice(&other, SLICE("eyJhbGciOiJSU0EtT0FFUCJ9.AAAA.AAAA.AAAA.AAAA"));
    assert_int_equal(tell(buf_slice(&other), &b), ERR_UNAUTHENTICATED);
    buf_clear(&other);
    buf_put_slice(&other, SLICE("eyJ"));
    while (other.len < JWT_BYTES_MAX + 10) buf_put_u8(&other, other.len % 4000 == 0 ? '.' : 'A');
    assert_int_equal(tell(buf_slice(&other), &b), ERR_UNAUTHENTICATED);
    buf_fini(&other);
    buf_fini(&token);
}

/* The same kid at two issuers: the key of one does not sign for the other. */
static void an_issuer_signs_for_itself_only(void **state) {
    (void)state;
    struct buf token;
    struct bearer b;
    struct bearer_world w = world_at(NOW_S);
    buf_init(&token, 65536);
    made(others, "RS256", RS256, GOOD, &token);
    assert_int_equal(bearer_check(&w, buf_slice(&token), &b, &why), ERR_UNAUTHENTICATED);
    buf_fini(&token);
}

static void a_login_is_for_its_own_client_nonce_and_issuer(void **state) {
    (void)state;
    static const struct {
        const char *claims, *words; /* NULL: it is good */
    } logins[] = {
        {"\"aud\":\"console\",\"nonce\":\"n-1\"", NULL},
        {"\"aud\":[\"console\",\"x\"],\"azp\":\"console\",\"nonce\":\"n-1\"", NULL},
        {"\"aud\":[\"console\",\"x\"],\"nonce\":\"n-1\"", "`azp`"},
        {"\"aud\":\"console\",\"azp\":\"x\",\"nonce\":\"n-1\"", "`azp`"},
        {"\"aud\":\"console\",\"nonce\":\"n-2\"", "`nonce`"},
        {"\"aud\":\"console\"", "`nonce`"},
        {"\"aud\":\"console\",\"nonce\":[\"n-1\"]", "`nonce`"},
        {"\"aud\":\"reeve\",\"nonce\":\"n-1\"", "`aud`"},
    };
    struct buf token;
    char claims[1024];
    struct bearer b;
    buf_init(&token, 65536);
    for (size_t i = 0; i < sizeof logins / sizeof logins[0]; i++) {
        struct bearer_world w = world_at(NOW_S);
        snprintf(claims, sizeof claims, "{\"iss\":\"" CORP "\",\"sub\":\"7\",\"exp\":1800000300%s,%s}", ADA,
                 logins[i].claims);
        made(keys[JWTLAB_RSA], "RS256", RS256, claims, &token);
        enum err e = bearer_check_login(&w, &issuers->all[0], buf_slice(&token), SLICE("n-1"), &b, &why);
        if (logins[i].words == NULL && e != ERR_OK) fail_msg("%s: %s", logins[i].claims, why.text);
        if (logins[i].words != NULL && (e == ERR_OK || strstr(why.text, logins[i].words) == NULL))
            fail_msg("%s: %d %s", logins[i].claims, e, why.text);
        w = world_at(NOW_S);
        e = bearer_check_login(&w, &issuers->all[1], buf_slice(&token), SLICE("n-1"), &b, &why);
        assert_int_equal(e, ERR_UNAUTHENTICATED);
        assert_has(why.text, "another issuer");
    }
    buf_fini(&token);
}

static void clocks_may_differ_by_the_margin(void **state) {
    (void)state;
    struct buf token;
    struct bearer b;
    buf_init(&token, 65536);
    made(keys[JWTLAB_RSA], "RS256", RS256, GOOD, &token);
    static const struct {
        int64_t now_s;
        enum err e;
    } times[] = {{1800000300, ERR_OK},
                 {1800000359, ERR_OK},
                 {1800000360, ERR_UNAUTHENTICATED},
                 {1799999930, ERR_OK},
                 {1799999929, ERR_UNAUTHENTICATED}};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        struct bearer_world w = world_at(times[i].now_s);
        assert_int_equal(bearer_check(&w, buf_slice(&token), &b, &why), times[i].e);
    }
    buf_fini(&token);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_tokens_are_let_in),
        cmocka_unit_test(every_attack_is_refused_for_its_reason),
        cmocka_unit_test(a_public_key_is_no_secret),
        cmocka_unit_test(a_token_is_refused_when_any_byte_of_it_differs),
        cmocka_unit_test(made_up_signatures_are_refused),
        cmocka_unit_test(an_issuer_signs_for_itself_only),
        cmocka_unit_test(a_login_is_for_its_own_client_nonce_and_issuer),
        cmocka_unit_test(clocks_may_differ_by_the_margin),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
