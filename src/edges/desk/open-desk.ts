// Opens the desk of `trivet dev`: the issuer for callers that the author picks.

import type { FastifyInstance } from 'fastify'
import { isLoopback } from '../../base/addresses.ts'
import { random } from '../../base/time.ts'
import type { Variables } from '../../catalog/folder/environment-settings.ts'
import { ConfigError, readConfig } from '../../ops/config/config.ts'
import type { Config } from '../../ops/config/settings.ts'
import { openBackend } from '../../platform/store/backends/url-schemes.ts'
import { createSealer } from '../../platform/store/sealing/sealer.ts'
import { LOOPBACK_HOST } from '../http/origin-policy.ts'
import { createDesk, deskIssuerOf, type DeskCaller } from './desk.ts'
import { registerDesk } from './desk-routes.ts'

/** The modes beside which the author picks callers. */
const MODES = ['jwt', 'sign-in']
/** The caller of the console where a caller needs a token. */
const AUTHOR: DeskCaller = { subject: 'author', scopes: [] }

/** Returns the settings that `jwt` and `sign-in` need, and that the desk can give. */
export function toDeskVariables (variables: Variables): Variables {
  const has = (name: string) => (variables[name] ?? '').trim() !== ''
  const modes = (variables['TRIVET_AUTH'] ?? '').split(',').map((mode) => mode.trim())
  const address = readAddress(variables)
  if (address === undefined || address.port === 0 || !modes.some((mode) => MODES.includes(mode))) return {}
  const issuer = deskIssuerOf(address.host, address.port)
  return {
    ...!has('TRIVET_PUBLIC_URL') && { TRIVET_PUBLIC_URL: `${new URL(issuer).origin}${address.path}` },
    ...modes.includes('jwt') && !has('TRIVET_AUTH_ISSUERS') && { TRIVET_AUTH_ISSUERS: issuer },
    ...modes.includes('sign-in') && !has('TRIVET_SIGN_IN') && {
      TRIVET_SIGN_IN: issuer, TRIVET_SIGN_IN_CLIENT_ID: 'dev', TRIVET_SIGN_IN_CLIENT_SECRET: random.name(32)
    }
  }
}

/** Returns `undefined` for settings that the service itself complains about, and where others reach it. */
function readAddress ({ HOST, PORT, TRIVET_PATH }: Variables): Config | undefined {
  try {
    const config = readConfig({ HOST, PORT, TRIVET_PATH, TRIVET_AUTH: 'none' })
    return mayOpen(config) ? config : undefined
  } catch {
    return undefined
  }
}

/** Whether browsers of this machine, and nobody else, reach the service. */
function mayOpen ({ host }: Pick<Config, 'host'>): boolean {
  return LOOPBACK_HOST.test(host.includes(':') ? `[${host}]` : host)
}

/**
 * Returns `undefined` where the desk has no place. Throws a ConfigError if people would sign in at it for a
 * service that others reach.
 * @param caller that the author begins with.
 */
export function openDesk (config: Config, caller: DeskCaller | undefined) {
  const { auth, host, port, path: endpoint, publicUrl } = config
  const modes = auth.filter((mode) => mode !== 'none')
  const isOpen = modes.length === 0
  if (!mayOpen(config) || (!isOpen && !modes.some((mode) => MODES.includes(mode)))) return undefined
  const desk = createDesk({ host, port, endpoint, caller: caller ?? AUTHOR, isOpen })
  // Without the sign-in there is no such setting.
  const { signIn }: Pick<Config, 'host'> & { readonly signIn?: string | undefined } = config
  const signsIn = signIn === desk.issuer
  if (signsIn && !isLoopback(new URL(publicUrl ?? desk.issuer).hostname)) {
    throw new ConfigError([
      `TRIVET_PUBLIC_URL is ${publicUrl}. Without TRIVET_SIGN_IN people sign in at the desk of dev, ` +
        'which is for this machine only: leave one out, or set the other'
    ])
  }
  let callback: string | undefined
  return Object.assign(desk, {
    signIn: signsIn
      ? {
          createProvider ({ redirectUri }: { readonly redirectUri: string }) {
            callback = redirectUri
            return desk.identityProvider
          },
          // Another service with the same secrets and the same state must not take what was given here.
          async openState (log: { warn (fields: object, message: string): void }) {
            const { store } = await openBackend('memory:', { log, prefix: '' })
            return { store, sealer: createSealer(undefined) }
          }
        }
      : undefined,
    register: (app: FastifyInstance) => registerDesk(app, desk, callback)
  })
}
