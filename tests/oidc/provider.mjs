// A real identity provider (oidc-provider), with accounts that say who they are: the password is not asked, the login
// page of its development mode takes any name. It can be stopped and started again on its port, with other keys.
import { createServer } from "node:http";

import { exportJWK, generateKeyPair, SignJWT } from "jose";
import Provider from "oidc-provider";

export const AUDIENCE = "reeve";

/** What the provider knows of a person. */
const people = {
  ada: { groups: ["admins"], preferred_username: "ada", email: "ada@example.org", email_verified: true },
  bob: { groups: ["team-red"], preferred_username: "bob", email: "bob@example.org", email_verified: true },
  eve: { groups: ["strangers"], preferred_username: "eve", email: "eve@example.org", email_verified: false },
};

export async function newKey(alg = "RS256", kid = `key-${Math.random().toString(36).slice(2)}`) {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, publicKey, jwk: { ...(await exportJWK(privateKey)), kid, alg, use: "sig" } };
}

export class IdentityProvider {
  /** `clients`: as oidc-provider wants them. */
  static async start({ port = 0, keys, clients = [] } = {}) {
    const it = new IdentityProvider();
    it.clients = clients;
    it.keys = keys ?? [await newKey("RS256"), await newKey("ES256")];
    await it.listen(port);
    return it;
  }

  async listen(port) {
    this.asked = [];
    this.hold = null; // a promise that every answer waits for
    this.answer = null; // (request, response) in place of the provider's
    let handle = (_, response) => response.writeHead(503).end();
    this.server = createServer(async (request, response) => {
      this.asked.push(`${request.method} ${request.url}`);
      await this.hold;
      if (this.answer?.(request, response)) return;
      handle(request, response);
    });
    await new Promise((done, failed) => this.server.on("error", failed).listen(port, "127.0.0.1", done));
    this.port = this.server.address().port;
    this.url = `http://127.0.0.1:${this.port}`;
    handle = this.make().callback();
  }

  make() {
    const provider = new Provider(this.url, {
      jwks: { keys: this.keys.map((key) => key.jwk) },
      clients: this.clients,
      claims: { openid: ["sub"], profile: ["preferred_username", "groups"], email: ["email", "email_verified"] },
      conformIdTokenClaims: false,
      features: { deviceFlow: { enabled: true }, devInteractions: { enabled: true }, resourceIndicators: this.resources() },
      cookies: { keys: ["a", "b"] },
      pkce: { required: () => true },
      ttl: { AccessToken: () => this.seconds ?? 300, IdToken: 300, Session: 3600, Grant: 3600, Interaction: 600, DeviceCode: 600 },
      extraTokenClaims: (_, token) => people[token.accountId] ?? {},
      findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
      issueRefreshToken: () => true,
    });
    provider.proxy = false;
    return provider;
  }

  /** Access tokens are JWTs for the server. */
  resources() {
    return {
      enabled: true,
      defaultResource: () => `urn:${AUDIENCE}`,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({ scope: "openid profile email offline_access", audience: AUDIENCE, accessTokenFormat: "jwt", jwt: { sign: { alg: "RS256" } } }),
    };
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  /** Stopped, and started with these keys. */
  async restart({ keys = this.keys } = {}) {
    await this.stop();
    this.keys = keys;
    await this.listen(this.port);
  }

  /** A token that this provider could have made; `claims` and `header` replace its own, undefined removes. */
  async token(claims = {}, { key = this.keys[0], header = {}, sub = "ada" } = {}) {
    const now = Math.floor(Date.now() / 1000);
    const all = { iss: this.url, aud: AUDIENCE, sub, iat: now, exp: now + 300, ...people[sub], ...claims };
    for (const [name, value] of Object.entries(all)) if (value === undefined) delete all[name];
    return new SignJWT(all).setProtectedHeader({ alg: key.alg, kid: key.kid, typ: "at+jwt", ...header }).sign(key.privateKey);
  }
}
