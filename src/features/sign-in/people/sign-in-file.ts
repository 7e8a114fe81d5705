// Reads sign-in.yaml: the identity provider, who may come in, which claims become which scopes, which clients
// are allowed, and how long what they get lives.

import { join } from 'node:path'
import { parse } from 'yaml'
import { readPlainFile } from '../../../base/file-system.ts'
import { codeOf } from '../../../base/words.ts'
import { scopeToken } from '../../../catalog/compiled/definitions/definition-shapes.ts'
import type { Problem, ReportProblem } from '../../../catalog/compiled/problem.ts'
import { toFileProblem } from '../../../catalog/folder/error-problem.ts'
import { createSettingsCheck, createSettingsReader } from '../../../catalog/folder/settings-reader.ts'
import { Type, type Static } from '../../../platform/schema/type.ts'
import type { ClientRules } from '../engine/documents.ts'
import type { ClaimRule, PeopleRules } from './people.ts'
import { readPinnedDocuments } from './pinned-documents.ts'
import { findOpenDoor, PROVIDER_NAMES, PROVIDERS, recognizeProvider, type ProviderName } from './providers.ts'

const closed = { additionalProperties: false }
const optional = Type.Optional
const seconds = (minimum: number, maximum: number) => optional(Type.Integer({ minimum, maximum }))
const text = Type.String({ minLength: 1, maxLength: 1000 })
const HOUR = 3600
const DAY = 24 * HOUR
const YEAR = 365 * DAY

const SCOPE_NAME = '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$'

const texts = Type.Array(text, { minItems: 1, maxItems: 1000 })
const claimRule = Type.Object({ claim: text, anyOf: texts }, closed)

const shape = Type.Object({
  preset: optional(Type.Enum(PROVIDER_NAMES)),
  admit: optional(Type.Array(claimRule, { maxItems: 100 })),
  scopes: optional(Type.Record(Type.Union([Type.Literal('everyone'), claimRule]), SCOPE_NAME)),
  ask: optional(Type.Object({
    scopes: optional(Type.Array(scopeToken, { maxItems: 100 })), audience: optional(text)
  }, closed)),
  clients: optional(Type.Object({
    hosts: optional(Type.Array(text, { maxItems: 1000 })),
    documents: optional(Type.Record(text)),
    registration: optional(Type.Enum(['on', 'off']))
  }, closed)),
  times: optional(Type.Object({
    // The provider is asked at each refresh: a person who was disabled there is out within an hour.
    accessTokenSeconds: seconds(60, HOUR),
    idleSeconds: seconds(HOUR, YEAR),
    maxAgeSeconds: seconds(HOUR, YEAR)
  }, closed))
}, closed)

type Settings = Static<typeof shape>

export interface SignInTimes {
  readonly accessTokenSeconds: number
  /** How long a grant lives without a use. */
  readonly refreshTokenSeconds: number
  readonly grantSeconds: number
}

export interface SignInFile {
  readonly preset: ProviderName
  readonly rules: PeopleRules
  /** What the provider is asked for beside what its preset says. */
  readonly ask: { readonly scopes: readonly string[], readonly audience?: string | undefined }
  readonly clients: ClientRules
  readonly times: SignInTimes
}

const SIGN_IN_FILE = 'sign-in.yaml'
/** Scopes of the engine and of OpenID Connect. */
const RESERVED_SCOPES = ['sign-in', 'openid', 'offline_access']

/** Each alternative has a problem of its own. */
const ANY_SCOPE_PROBLEM = /^(scopes\.\S+?)(?:\.claim|\.anyOf\S*?)?:? (?:must|is required).*$/s
const SCOPE_PROBLEM = '$1 must be everyone, or have a claim and anyOf'

const findProblems = createSettingsCheck(shape)
const toSettings = createSettingsReader(shape)

/**
 * Finds all problems of the file, which counts only if there are none. Without the file the defaults count.
 * @param issuer the identity provider. Absent: what depends on it is not checked.
 */
export async function readSignInFile (
  root: string, issuer: string | undefined
): Promise<{ readonly file: SignInFile, readonly problems: readonly Problem[] }> {
  const problems: Problem[] = []
  const report: ReportProblem = (place, rule) => { problems.push({ file: SIGN_IN_FILE, place, rule }) }
  const settings = await readSettings(root, problems)
  // Without the settings of the author the next problems would not be true.
  const isReadable = problems.length === 0
  const { preset: name, scopes = {}, clients = {}, times = {}, admit = [], ask = {} } = settings
  const sure = issuer === undefined ? undefined : recognizeProvider(issuer)
  const preset = name ?? sure ?? 'oidc'
  if (sure !== undefined && preset !== sure) report('preset', `must be ${sure} for ${issuer}`)
  const openDoor = issuer === undefined || !isReadable ? undefined : findOpenDoor(issuer, preset, admit)
  if (openDoor !== undefined) report('admit', openDoor)
  const { audienceParam, subjectClaims = ['sub'] } = PROVIDERS[preset]
  if (ask.audience !== undefined && audienceParam === undefined) {
    report('ask.audience', `the provider ${preset} takes none`)
  }
  for (const scope of RESERVED_SCOPES) {
    if (Object.hasOwn(scopes, scope)) report(`scopes.${scope}`, 'is a scope of the sign-in itself')
  }
  const {
    accessTokenSeconds = HOUR, idleSeconds: refreshTokenSeconds = 14 * DAY,
    maxAgeSeconds: grantSeconds = 90 * DAY
  } = times
  if (refreshTokenSeconds > grantSeconds) report('times.idleSeconds', 'must not be more than maxAgeSeconds')
  const { hosts, documents = {}, registration = hosts === undefined ? 'on' : 'off' } = clients
  const toRule = preset === 'github' ? toSmallLetters : (rule: ClaimRule) => rule
  const file = {
    preset,
    rules: {
      admit: admit.map(toRule),
      scopes: Object.fromEntries(Object.entries(scopes).map(
        ([scope, rule]) => [scope, rule === 'everyone' ? rule : toRule(rule)]
      )),
      subjectClaims
    },
    ask: { scopes: ask.scopes ?? [], audience: ask.audience },
    clients: {
      ...(hosts !== undefined && { allowedHosts: hosts.map((host) => host.toLowerCase()) }),
      documents: await readPinnedDocuments(root, documents, report),
      registration: registration === 'on'
    },
    times: { accessTokenSeconds, refreshTokenSeconds, grantSeconds }
  }
  return { file, problems }
}

/** Letters of both cases are the same login of GitHub. */
function toSmallLetters ({ claim, anyOf }: ClaimRule): ClaimRule {
  return { claim, anyOf: [...anyOf, ...anyOf.map((text) => text.toLowerCase())] }
}

/** @param issuer may be any text. */
export async function findSignInProblems (root: string, issuer = ''): Promise<readonly Problem[]> {
  return (await readSignInFile(root, URL.canParse(issuer) ? issuer : undefined)).problems
}

async function readSettings (root: string, problems: Problem[]): Promise<Settings> {
  try {
    const value: unknown = parse(String(await readPlainFile(join(root, SIGN_IN_FILE)))) ?? {}
    const wrong = new Set(findProblems(value).map((text) => text.replace(ANY_SCOPE_PROBLEM, SCOPE_PROBLEM)))
    problems.push(...[...wrong].map(toProblem))
    return wrong.size > 0 ? {} : toSettings(value)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') problems.push(toFileProblem(error, SIGN_IN_FILE, SIGN_IN_FILE))
    return {}
  }
}

/** @param text begins with the path of the setting, if it is about one. */
function toProblem (text: string): Problem {
  const [, place = '', rule = text] = /^(\S+?):? (.*)$/s.exec(text) ?? []
  return { file: SIGN_IN_FILE, place, rule }
}
