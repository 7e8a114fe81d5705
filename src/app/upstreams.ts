// Opens upstreams, with what their credentials need: the exchange of tokens, the tokens that tasks keep, and
// the keys for the JWTs of this service.

import type { CallerTokens } from '../platform/access/caller-tokens.ts'
import { TokenExchange } from '../features/upstreams/tokens/token-exchange.ts'
import { withVouchingIssuer } from '../features/upstreams/tokens/vouched-exchange.ts'
import type { Catalog } from '../catalog/compiled/catalog.ts'
import { clientIn, rulesIn } from '../ops/config/access-settings.ts'
import type { ServiceConfig } from '../ops/config/config.ts'
import type { Sealer } from '../platform/store/sealing/sealer.ts'
import { createSigningKeys, type SigningKeys } from '../platform/store/sealing/signing-keys.ts'
import { KeptTokens } from '../features/upstreams/credentials/kept-tokens.ts'
import { createTaskTokens } from '../features/upstreams/credentials/task-tokens.ts'
import { createUpstreamCompiler } from '../features/upstreams/definition/upstream-dependency.ts'
import { createUpstreams, type UpstreamsOptions } from '../features/upstreams/upstreams.ts'
import type { ServedDesk, ServedSignIn, ServedUpstreams } from './features.ts'

interface UpstreamsDependencies extends Pick<UpstreamsOptions, 'log' | 'openTransport'> {
  readonly config: ServiceConfig
  /** The tokens of callers. Absent if a program that embeds the service finds the principals itself. */
  readonly tokens: CallerTokens | undefined
  readonly signIn?: ServedSignIn | undefined
  readonly desk: ServedDesk | undefined
}

export function openUpstreams (
  { config, log, tokens, signIn, desk, openTransport }: UpstreamsDependencies
): ServedUpstreams {
  const { auth: modes, authIssuers: issuers, publicUrl } = config
  const client = clientIn(config)
  const { exchange: form } = rulesIn(config)
  const asksServer = modes.includes('jwt') || modes.includes('introspection')
  const signedIn = signIn?.callers
  const mayExchange = asksServer && (issuers.length === 1 || client?.privateKey !== undefined)
  const hasClient = mayExchange && client !== undefined
  const ownExchange = tokens !== undefined && (hasClient || signedIn !== undefined)
    ? new TokenExchange({ issuers: hasClient ? issuers : [], tokens, client, form, signedIn })
    : undefined
  const exchange = desk === undefined ? ownExchange : withVouchingIssuer(desk, ownExchange)
  const keptTokens = new KeptTokens()
  let sealer: Sealer | undefined
  let keys: SigningKeys | undefined

  /** Derives the keys at their first use. */
  function readKeys (): SigningKeys {
    if (sealer === undefined) throw new Error('the secrets of the service are not open yet')
    keys ??= createSigningKeys(sealer)
    return keys
  }

  const upstreams = createUpstreams({
    log,
    workerCount: config.workerCount,
    openTransport,
    credentials: {
      log,
      exchange,
      kept: keptTokens,
      readClaims: (principal) => signedIn?.readClaims(principal),
      own: { issuer: issuers[0], client },
      facts: {
        modes,
        issuers,
        publicUrl,
        form: asksServer ? form : signedIn?.form,
        client: client && (client.privateKey === undefined ? 'secret' : 'key'),
        hasOwnAuthenticator: tokens === undefined && desk === undefined,
        hasDesk: desk !== undefined
      },
      openSigner (principal) {
        if (desk?.vouchesFor(principal) === true) return desk.readSigner()
        const { current: { privateKey: key, publicKey: { kid } } } = readKeys()
        if (publicUrl === undefined) throw new TypeError('unreachable: auth.jwt does not load without it')
        return { issuer: publicUrl, key, kid }
      }
    }
  })
  return Object.assign(upstreams, {
    compile: createUpstreamCompiler(upstreams.open),
    signWith (secrets: Sealer) { sealer = secrets },
    taskTokens: (catalog: Pick<Catalog, 'current'>) => createTaskTokens({
      exchange,
      kept: keptTokens,
      log,
      exchangesOf (name) {
        const tool = catalog.current.primitives.tools.find(({ key }) => key === name)
        return (tool?.upstreams ?? []).flatMap(
          ({ name, auth }) => auth.type === 'exchange' ? [{ name, auth }] : []
        )
      }
    }),
    readSigningKeys: ({ current }: Pick<Catalog, 'current'>) => (
      current.upstreams.some(({ auth }) => auth === 'claims') ? readKeys().jwks : undefined
    )
  })
}
