// Compiles the definition of an upstream: its URL, and the texts that its `auth` takes from settings.

import type { UpstreamDefinition } from '../../../platform/author/define-upstream.ts'
import type {
  BasicAuth, ClaimsAuth, ExchangeAuth, NoAuth, SecretAuth, ServiceAuth, UpstreamAuth
} from '../../../platform/author/upstream-auth.ts'
import { isInside, isReachable } from '../../../base/addresses.ts'
import { messageOf } from '../../../base/words.ts'
import { findHandlerProblem, hasShape } from '../../../catalog/compiled/definitions/check-definition.ts'
import type { CompiledSettings } from '../../../catalog/compiled/definitions/compile-settings.ts'
import type { ReportProblem } from '../../../catalog/compiled/problem.ts'
import type { ActsAs } from '../../../catalog/compiled/upstreams/open-upstream.ts'
import { authShapes, retryShape, upstreamShape } from './upstream-shapes.ts'

/** What an author may give as a function of settings is a text here. */
type TextsOf<A> = { readonly [K in keyof A]: Exclude<A[K], (settings: never) => string> }

/** How calls say who calls, with texts in place of functions of settings. */
export type CompiledAuth = NoAuth | TextsOf<SecretAuth<unknown>> | TextsOf<BasicAuth<unknown>> |
  TextsOf<ServiceAuth<unknown>> | ExchangeAuth | ClaimsAuth

export interface CompiledUpstream {
  readonly definition: UpstreamDefinition
  readonly name: string
  /** Its path ends in `/`. */
  readonly url: URL
  readonly auth: CompiledAuth
  readonly actsAs: ActsAs
  /** How often a call is sent at most. */
  readonly attempts: number
  readonly backoffMs: number
  readonly timeoutMs: number
  readonly answerBytes: number
  /** The calls at once on one replica. */
  readonly running: number
  readonly allowPrivate: boolean
  /** Texts that must not be logged. */
  readonly secrets: readonly string[]
}

const LIMITS = { timeoutMs: 10_000, answerBytes: 10_485_760, running: 50 }
const RETRY = { attempts: 2, backoffMs: 100 }

const ACTS_AS: { readonly [T in UpstreamAuth['type']]: ActsAs } = {
  none: 'nobody',
  secret: 'service',
  basic: 'service',
  service: 'service',
  exchange: 'caller',
  claims: 'caller'
}

/** The members of each `auth` that may be functions of settings. */
const TEXTS: { readonly [T in UpstreamAuth['type']]: { readonly [member: string]: boolean } } = {
  none: {},
  secret: { value: true },
  basic: { user: true, password: true },
  service: { issuer: false, clientId: false, clientSecret: true },
  exchange: {},
  claims: {}
}

type UpstreamSettings = Pick<CompiledSettings, 'values' | 'secrets' | 'incomplete'>

/** Returns `undefined` when the definition is unusable. Every problem has then been reported. */
export function compileUpstream (
  definition: UpstreamDefinition, settings: UpstreamSettings, report: ReportProblem
): CompiledUpstream | undefined {
  if (!hasShape(upstreamShape, definition, report) || !hasAuthShape(definition.auth, report)) return undefined
  const { name, retry = {}, limits, allowPrivate = false } = definition
  if (retry !== false && !hasShape(retryShape, retry, (_, rule) => report('retry', rule))) return undefined
  if (definition.settings !== undefined && !settings.values.has(definition.settings)) {
    report('settings', 'must be made by defineSettings')
    return undefined
  }
  const texts = new SettingTexts(definition, settings, report)
  const text = texts.read('url', definition.url)
  const url = text === undefined ? undefined : readUrl(text, allowPrivate, (rule) => report('url', rule))
  const auth = readAuth(definition.auth, texts)
  if (url === undefined || auth === undefined) return undefined
  return {
    definition,
    name,
    url,
    auth,
    actsAs: ACTS_AS[auth.type],
    ...(retry === false ? { ...RETRY, attempts: 1 } : { ...RETRY, ...retry }),
    ...LIMITS,
    ...limits,
    allowPrivate,
    secrets: texts.secrets
  }
}

function hasAuthShape (auth: unknown, report: ReportProblem): auth is UpstreamAuth {
  const type: unknown = Reflect.get(Object(auth), 'type')
  if (typeof type !== 'string' || !Object.hasOwn(authShapes, type)) {
    report('auth.type', `must be one of ${Object.keys(authShapes).join(', ')}`)
    return false
  }
  const shape = authShapes[type as keyof typeof authShapes]
  return hasShape(shape, auth, (_, rule) => report('auth', rule)) && hasClaimFunctions(auth, report)
}

function hasClaimFunctions (auth: unknown, report: ReportProblem): boolean {
  const { headers, jwt } = auth as Partial<ClaimsAuth>
  const problems = [['auth.headers', headers], ['auth.jwt.claims', jwt?.claims]].flatMap(([place, value]) => {
    const rule = value === undefined ? undefined : findHandlerProblem(value)
    return rule === undefined ? [] : [{ place: String(place), rule }]
  })
  for (const { place, rule } of problems) report(place, rule)
  return problems.length === 0
}

function readAuth (auth: UpstreamAuth, texts: SettingTexts): CompiledAuth | undefined {
  const members: { [name: string]: unknown } = { ...auth }
  for (const [member, isSecret] of Object.entries(TEXTS[auth.type])) {
    if (members[member] === undefined) continue
    const text = texts.read(`auth.${member}`, members[member], isSecret)
    if (text === undefined) return undefined
    members[member] = text
  }
  // Each member that may be a function of settings is a text now.
  return members as unknown as CompiledAuth
}

/** Reads what is a text, or a function of settings. No problem quotes a secret. */
class SettingTexts {
  readonly secrets: string[]
  readonly #values: object
  /** Without a required setting a function returns anything. That the setting is missing was reported. */
  readonly #isComplete: boolean
  readonly #report: ReportProblem

  constructor (
    { settings }: UpstreamDefinition, { values, secrets, incomplete }: UpstreamSettings, report: ReportProblem
  ) {
    this.secrets = [...(settings && secrets.get(settings)) ?? []]
    this.#values = (settings && values.get(settings)) ?? {}
    this.#isComplete = settings === undefined || !incomplete.has(settings)
    this.#report = report
  }

  read (place: string, source: unknown, isSecret = false): string | undefined {
    let value = source
    try {
      if (typeof source === 'function') value = source(this.#values)
    } catch (error) {
      return this.#fail(place, source, `failed: ${this.#redact(messageOf(error))}`)
    }
    if (typeof value !== 'string' || value === '') {
      return this.#fail(place, source, 'must be a text that is not empty, or a function that returns one')
    }
    if (isSecret) this.secrets.push(value)
    return value
  }

  #fail (place: string, source: unknown, rule: string): undefined {
    if (this.#isComplete || typeof source !== 'function') this.#report(place, rule)
  }

  #redact (text: string): string {
    return this.secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '(secret)'), text)
  }
}

/** No problem quotes the URL: it may have a password. */
function readUrl (text: string, allowPrivate: boolean, report: (rule: string) => void): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    report('must be a URL that begins with https:// or http://')
    return undefined
  }
  const rule = findUrlProblem(url, text, allowPrivate)
  if (rule !== undefined) {
    report(rule)
    return undefined
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return url
}

function findUrlProblem (
  { protocol, username, password, hostname }: URL, text: string, allowPrivate: boolean
): string | undefined {
  if (`${username}${password}` !== '') return 'must have no user and no password: use auth with type basic'
  if (/[?#]/.test(text)) return 'must have no query and no fragment'
  if (!allowPrivate && protocol === 'http:') {
    return 'must begin with https://, because tokens would travel in clear; with allowPrivate: true it may ' +
      'begin with http://'
  }
  if (!allowPrivate && isInside(hostname)) {
    return `names ${hostname}, which is in a private network: set allowPrivate: true if that is meant`
  }
  return isReachable(hostname, allowPrivate)
    ? undefined
    : `names ${hostname}, an address that no upstream may have`
}
