/* openssl.h: OpenSSL's headers, in the one way in which they and ours go together: first of all includes, because a
 * type of theirs is called ERR_STATE like an error of ours. */
#ifndef REEVE_OPENSSL_H
#define REEVE_OPENSSL_H

#define ERR_STATE OPENSSL_ERR_STATE
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#undef ERR_STATE

#endif
