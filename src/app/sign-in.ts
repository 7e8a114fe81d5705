// Opens the sign-in, with sign-in.yaml beside server.yaml.

import { createClientAuthentication } from '../platform/access/client-authentication.ts'
import type { TokenVerifier } from '../platform/access/token.ts'
import type { Snapshot } from '../catalog/compiled/snapshot.ts'
import { holdsScope } from '../catalog/compiled/scopes/scope-hierarchy.ts'
import type { SignInFile } from '../features/sign-in/people/sign-in-file.ts'
import { ConfigError, failConfig, type ServiceConfig } from '../ops/config/config.ts'
import type { DeskSignIn, ServedSignIn, SignInState } from './features.ts'

/**
 * Resolves to `undefined` where `sign-in` is no mode. Rejects with a ConfigError.
 * @param desk takes the place of the identity provider.
 */
export async function prepareSignIn (
  config: ServiceConfig, desk?: DeskSignIn
): Promise<ServedSignIn | undefined> {
  if (!config.auth.includes('sign-in')) return undefined
  const file = await readFile(config)
  const { PROVIDERS } = await import('../features/sign-in/people/providers.ts')
  const { exchange: form } = PROVIDERS[file.preset]
  const settings = { ...readSettings(config), file, form, desk }
  try {
    createClientAuthentication(settings.provider.client)
  } catch (error) {
    failConfig(error)
  }
  let parts: Awaited<ReturnType<typeof openSignIn>> | undefined
  function readParts () {
    if (parts === undefined) throw new TypeError('unreachable: no request comes before the state is open')
    return parts
  }
  const verifier: TokenVerifier = {
    get maxAgeMs () { return readParts().signIn.verifier.maxAgeMs },
    verify: async (token) => await readParts().signIn.verifier.verify(token)
  }
  return {
    verifier,
    async open (state) { parts = await openSignIn(state, settings) },
    issuer: settings.issuer,
    outcomes: () => readParts().signIn.outcomes,
    callers: {
      issuer: settings.issuer,
      server: settings.provider.issuer,
      client: settings.provider.client,
      form: settings.form,
      nameOf: (principal) => readParts().signIn.callers.nameOf(principal),
      read: async (principal) => await readParts().signIn.callers.read(principal),
      readClaims: (principal) => readParts().signIn.callers.readClaims(principal)
    },
    register (app, dependencies) {
      const { signIn, registerRoutes, words } = readParts()
      registerRoutes(app, { ...dependencies, signIn, words, workerCount: config.workerCount })
    }
  }
}

/** Hot changes do not count: tokens that were given would have other rules. */
async function readFile ({ catalog, signIn: issuer }: ServiceConfig): Promise<SignInFile> {
  const { readSignInFile } = await import('../features/sign-in/people/sign-in-file.ts')
  const { file, problems } = await readSignInFile(catalog, issuer)
  if (problems.length > 0) {
    throw new ConfigError(problems.map(
      ({ file, place, rule }) => `${file}: ${place === '' ? rule : `${place} ${rule}`}`
    ))
  }
  return file
}

/** The settings of the sign-in were checked. */
function readSettings (
  {
    publicUrl: resource = '', signIn = '', signInClientId: clientId = '', signInClientSecret: secret,
    signInClientKey: privateKey
  }: ServiceConfig
) {
  const client = {
    clientId, ...(secret !== undefined && { secret }), ...(privateKey !== undefined && { privateKey })
  }
  // The folder of the endpoint.
  const issuer = new URL('.', resource).href.replace(/\/$/, '')
  return { issuer, resource, provider: { issuer: signIn, client } }
}

interface SignInSettings extends ReturnType<typeof readSettings> {
  readonly file: SignInFile
  readonly desk: DeskSignIn | undefined
}

async function openSignIn (
  { catalog, sealer, log, backend: { store } }: SignInState, settings: SignInSettings
) {
  const [{ openSignIn: open }, { registerSignIn }, { toErrorPage }] = await Promise.all([
    import('../features/sign-in/sign-in.ts'), import('../edges/sign-in/routes.ts'),
    import('../edges/sign-in/pages.ts')
  ])
  const words = {
    title: () => catalog.current.server.info.title ?? catalog.current.server.info.name,
    describeScope: (name: string) => catalog.current.server.scopes.find(
      ({ definition }) => definition.name === name
    )?.definition.description
  }
  const signIn = await open({
    ...settings,
    log,
    store,
    sealer,
    ...await settings.desk?.openState(log),
    createProvider: settings.desk?.createProvider,
    toErrorPage: (error) => toErrorPage(words.title(), error)
  }).catch(failConfig)
  const scopes = findMissingScopes(catalog.current, new Set(Object.keys(settings.file.rules.scopes)))
  if (scopes.length > 0) log.warn({ scopes }, 'no rule of sign-in.yaml gives scopes that the catalog needs')
  return { signIn, registerRoutes: registerSignIn, words }
}

function findMissingScopes (
  { primitives: { tools, prompts, resources, templates }, hierarchy }: Snapshot, granted: ReadonlySet<string>
): readonly string[] {
  const scopes = [tools, prompts, resources, templates].flatMap((all) => all.flatMap(({ scopes }) => scopes))
  return [...new Set(scopes)].filter((scope) => !holdsScope(granted, scope, hierarchy))
}
