// An identity provider for tests: npm's oidc-provider with its own pages to sign in and agree on,
// where everybody is who he says he is. Standard input has what it is to be, as JSON:
//   {issuer, port, client: {…}, algorithm: "RS256", kid, key, groups: {ann: ["ml"]}, bare}
// key: with which it signs, null = a new one. bare: ID tokens say nothing that the userinfo endpoint
// tells, too. Once it listens its key is on standard output.

import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Provider } from 'oidc-provider';

const told = JSON.parse(readFileSync(0, 'utf8'));
const kinds = {
  RS256: ['rsa', { modulusLength: 2048 }],
  ES256: ['ec', { namedCurve: 'P-256' }],
  EdDSA: ['ed25519', {}],
};
const key = told.key ?? {
  ...generateKeyPairSync(...kinds[told.algorithm]).privateKey.export({ format: 'jwk' }),
  kid: told.kid,
  use: 'sig',
  alg: told.algorithm,
};

const provider = new Provider(told.issuer, {
  clients: [{ id_token_signed_response_alg: key.alg, ...told.client }],
  jwks: { keys: [key] },
  enabledJWA: { idTokenSigningAlgValues: Object.keys(kinds) },
  cookies: { keys: ['of-a-test'] },
  conformIdTokenClaims: Boolean(told.bare),
  claims: { openid: ['sub', 'preferred_username', 'groups'], profile: [], email: [] },
  features: { devInteractions: { enabled: true }, deviceFlow: { enabled: true } },
  pkce: { required: () => true },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: `subject-of-${id}`, preferred_username: id, groups: told.groups[id] ?? [] }),
  }),
});
provider.listen(told.port, '127.0.0.1', () => console.log(JSON.stringify(key)));
