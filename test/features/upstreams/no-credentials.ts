// What the credentials of a service without access need.

import { KeptTokens } from '../../../src/features/upstreams/credentials/kept-tokens.ts'
import type { CredentialDependencies } from '../../../src/features/upstreams/open-credential.ts'

export const NO_CREDENTIALS: CredentialDependencies = {
  log: { warn () {} },
  facts: { modes: [], issuers: [] },
  own: {},
  exchange: undefined,
  kept: new KeptTokens(),
  readClaims: () => undefined,
  openSigner () { throw new Error('the service has no keys') }
}
