// The identity that the page calls with, and what its host can do. The tab keeps both across a reload.

import { computed, signal } from '@preact/signals'
import { cut } from '../../../../base/text.ts'
import { APPS_CAPABILITY } from '../../../../platform/protocol/apps.ts'
import type { LogLevel } from '../../../../platform/protocol/log-levels.ts'
import { TASKS_CAPABILITY } from '../../../../platform/protocol/tasks.ts'
import { consoleState } from './console-state.ts'
import { isRecord, type JsonObject } from './json.ts'
import { keepInTab, readOfTab } from './tab-storage.ts'

/** A caller that the person chose. */
export interface Identity {
  readonly subject: string
  readonly scopes: readonly string[]
  readonly claims: JsonObject
}

/** What the host can do beside calls: the client capabilities of a request. */
export interface Abilities {
  readonly tasks: boolean
  readonly elicitation: boolean
  readonly screens: boolean
  readonly sampling: boolean
  readonly roots: boolean
}

/** The caller of one request. */
export interface PageCaller {
  /** `undefined`: the caller that the service takes for a request without a token. */
  readonly identity: Identity | undefined
  readonly abilities: Abilities
}

/** Few hosts have the others. */
const USUAL_ABILITIES: Abilities = {
  tasks: true, elicitation: true, screens: true, sampling: false, roots: false
}

const ofTab = readOfTab('caller')

export const identity = signal<Identity | undefined>(readIdentity(ofTab))

export const abilities = signal<Abilities>({ ...USUAL_ABILITIES, ...readAbilities(ofTab) })

/** For services that check tokens. Never kept. */
export const bearerToken = signal('')

/** The lowest level of log messages that a call asks for. */
export const logLevel = signal<LogLevel>('debug')

export const caller = computed<PageCaller>(() => ({ identity: identity.value, abilities: abilities.value }))

export function chooseIdentity (next: Identity | undefined): void {
  identity.value = next
  keepCaller()
}

export function chooseAbilities (changes: Partial<Abilities>): void {
  abilities.value = { ...abilities.value, ...changes }
  keepCaller()
}

function keepCaller (): void { keepInTab('caller', caller.value) }

export function toCapabilities (
  { tasks, elicitation, screens, sampling, roots }: Abilities
): JsonObject {
  const extensions = {
    ...tasks && TASKS_CAPABILITY.extensions, ...screens && APPS_CAPABILITY.extensions
  }
  return {
    ...elicitation && { elicitation: { form: {}, url: {} } },
    ...sampling && { sampling: { tools: {}, context: {} } },
    ...roots && { roots: {} },
    ...Object.keys(extensions).length > 0 && { extensions }
  }
}

const tokens = new Map<string, Promise<string>>()

/** Returns the caller whose token a request has. `undefined`: it has none. */
function toTokenHolder (user: Identity | undefined): Identity | undefined {
  const { callers, caller: { subject = '', scopes } = { scopes: [] } } = consoleState.value ?? {}
  return user ?? (callers === 'desk' ? { subject, scopes, claims: {} } : undefined)
}

/** A token dies with the process that made it. */
function tokenKeyOf (user: Identity): string {
  return JSON.stringify([consoleState.value?.sandboxKey, user])
}

/** Returns the value of the header, or `undefined` for a request without a token. */
export async function toAuthorization (user: Identity | undefined): Promise<string | undefined> {
  if (bearerToken.value !== '') return `Bearer ${bearerToken.value}`
  const holder = toTokenHolder(user)
  if (holder === undefined) return undefined
  const key = tokenKeyOf(holder)
  const token = tokens.get(key) ?? askForToken(holder)
  tokens.set(key, token)
  token.catch(() => tokens.delete(key))
  return `Bearer ${await token}`
}

/** Forgets a token that the service refused. */
export function forgetToken (user: Identity): void {
  tokens.delete(tokenKeyOf(user))
}

async function askForToken ({ subject, scopes, claims }: Identity): Promise<string> {
  const body = { ...subject !== '' && { subject }, scopes, ...Object.keys(claims).length > 0 && { claims } }
  const response = await fetch('/console/callers', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body)
  })
  if (!response.ok) {
    throw new Error(`The service made no token for this caller (HTTP ${response.status}): ` +
      cut(await response.text(), 500))
  }
  const { token }: { readonly token: string } = await response.json()
  return token
}

function readIdentity (stored: unknown): Identity | undefined {
  if (!isRecord(stored) || !isRecord(stored.identity)) return undefined
  const { subject, scopes, claims } = stored.identity
  return {
    subject: String(subject ?? ''),
    scopes: Array.isArray(scopes) ? scopes.map(String) : [],
    claims: isRecord(claims) ? claims : {}
  }
}

function readAbilities (stored: unknown): Partial<Abilities> {
  const abilities = isRecord(stored) && isRecord(stored.abilities) ? stored.abilities : {}
  return Object.fromEntries(
    Object.keys(USUAL_ABILITIES).filter((name) => typeof abilities[name] === 'boolean').map(
      (name) => [name, abilities[name]]
    )
  )
}
