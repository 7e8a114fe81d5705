// A service with a sign-in.yaml, and an identity provider that behaves as a well-known one.

import type { Test } from 'tap'
import type { AppOptions } from '../../../../src/app/app.ts'
import { createPerson } from '../../../helpers/person.ts'
import type { Files } from '../../../helpers/catalog-folder.ts'
import type {
  AuthorizationServer, AuthorizationServerSettings
} from '../../../servers/authorization-server.ts'
import { callHello, HELLO, signIn, startSignInService } from '../sign-in-service.ts'

export interface ProviderService {
  readonly origin: string
  readonly provider: AuthorizationServer
  /** Signs a person in with these scopes. Resolves to what the tool sees, or to the page that refuses. */
  enter (name: string, scope?: string): Promise<Readonly<Record<string, unknown>>>
  /** The warnings of the log. */
  readonly warnings: readonly Warning[]
}

interface Warning { readonly message: string, readonly [field: string]: unknown }

/** @param yaml the text of sign-in.yaml. */
export async function startProviderService (
  t: Test, yaml: string, settings: AuthorizationServerSettings = {}, files: Files = {},
  options: AppOptions = {}
): Promise<ProviderService> {
  const { logger, warnings } = createWarnings()
  const { origin, provider } = await startSignInService(
    t, { logger, ...options }, { ...HELLO, 'sign-in.yaml': yaml, ...files }, settings
  )
  return { origin, provider, warnings, enter: async (name, scope) => await enter(origin, name, scope) }
}

/** Signs a person in at a service, and calls its tool. */
async function enter (origin: string, name: string, scope = 'books:read books:write') {
  const { back, body } = await signIn(origin, { scope, person: createPerson({ name }) })
  if (body.access_token === undefined) return { status: back.status, text: back.text }
  const { body: text } = await callHello(`${origin}/mcp`, body.access_token)
  const { result } = JSON.parse(text)
  return JSON.parse(result.content[0].text)
}

function createWarnings () {
  const warnings: Warning[] = []
  const levels = ['fatal', 'error', 'info', 'debug', 'trace', 'silent']
  const logger = {
    level: 'warn',
    ...Object.fromEntries(levels.map((level) => [level, () => {}])),
    warn (fields: object | string, message = String(fields)) {
      warnings.push({ ...Object(fields), message })
    },
    child: () => logger
  } as unknown as NonNullable<AppOptions['logger']>
  return { logger, warnings }
}
