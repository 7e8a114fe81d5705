// What features give to the service. Each has a file here that opens it, and one line that calls that file:
// without them the service has all the rest.

import type { KeyObject } from 'node:crypto'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Catalog } from '../catalog/compiled/catalog.ts'
import type { UpstreamCompiler } from '../catalog/compiled/upstreams/upstream-dependency.ts'
import type { LoadObserver } from '../catalog/folder/live/live-catalog.ts'
import type { GuardsDependencies, LoadShedding } from '../edges/http/guards.ts'
import type { HealthReport } from '../edges/http/readiness.ts'
import type { ServiceConfig } from '../ops/config/config.ts'
import type { Authenticator } from '../platform/access/authentication.ts'
import type { Claims } from '../platform/access/claims.ts'
import type { Principal } from '../platform/access/principal.ts'
import type { SignedInCallers } from '../platform/access/signed-in-callers.ts'
import type { TokenVerifier } from '../platform/access/token.ts'
import type { CallLimiter, LimitHit } from '../platform/limits/call-limiter.ts'
import type { OpenStreams } from '../platform/limits/open-streams.ts'
import type { StateStore } from '../platform/store/records/state-store.ts'
import type { Sealer } from '../platform/store/sealing/sealer.ts'
import type { Observer } from '../request/pipeline/observer.ts'
import type { FileAccess, UpstreamTokens } from '../request/pipeline/seams.ts'
import type { ServedTasks } from '../request/pipeline/served-tasks.ts'

type ServedCatalog = Pick<Catalog, 'current'>

/** What is there before the state is open. */
export interface Prepared {
  readonly signIn?: ServedSignIn | undefined
}

/** What opens when the state is open. */
export interface Features {
  readonly files?: ServedFiles
  readonly tasks?: ServedTasks
}

/** What the sign-in takes of the state. */
export interface SignInState {
  readonly config: ServiceConfig
  readonly log: FastifyBaseLogger
  readonly catalog: ServedCatalog
  readonly sealer: Sealer
  readonly backend: { readonly store: StateStore }
}

export interface ServedSignIn {
  /** The service as an authorization server, when it is open. */
  readonly issuer: string
  /** Verifies the tokens that the service issues. */
  readonly verifier: TokenVerifier
  /** What upstreams get of callers who have signed in here. */
  readonly callers: SignedInCallers
  /** Counts how sign-ins of people have ended. */
  outcomes (): { readonly [outcome: string]: number }
  /** Rejects with a ConfigError. */
  open (state: SignInState): Promise<void>
  register (app: FastifyInstance, dependencies: GuardsDependencies & RouteLimits): void
}

export interface ServedFiles {
  readonly access: FileAccess
  /** Adds the routes. Links have the address that the app listens on if no setting has the public URL. */
  register (app: FastifyInstance, dependencies: GuardsDependencies & RouteLimits): void
  close (): Promise<void>
}

export interface ServedShedding extends LoadShedding {
  /** How many requests may be served at once now. */
  readonly limit: number
  /** How many requests were refused, by reason. */
  readonly refused: { readonly [reason: string]: number }
  /** Begins to measure. */
  start (): void
  close (): void
}

/** Limits what a route beside the endpoint takes. */
export interface RouteLimits {
  readonly openStreams: OpenStreams
  readonly limiter: Pick<CallLimiter, 'admitOther'>
}

export interface ServedUpstreams {
  readonly compile: UpstreamCompiler
  /** Called for each call that ends. Replaced when there are metrics. */
  onCall (upstream: string, outcome: string, seconds: number): void
  /** How many calls run, by upstream. */
  readonly running: { readonly [upstream: string]: number }
  /** Gives the secrets of the service, which are opened after the catalog. */
  signWith (sealer: Sealer): void
  /** What tasks keep for the upstreams that their tools name. */
  taskTokens (catalog: ServedCatalog): UpstreamTokens
  /** Returns the public keys, as JSON, while the catalog has an upstream that may get JWTs. */
  readSigningKeys (catalog: ServedCatalog): string | undefined
}

export interface ServedAudit {
  readonly observer: Observer
  /** Writes a line about what an operator did, or was refused. */
  noteOperator (act: object): void
  /** Opens the file anew, so that it can be moved away. */
  reopen (): void
}

export interface ServedMetrics {
  /** Measures the requests. */
  readonly observer: Observer
  /** Counts a handle that a tool has created. */
  countHandle (): void
  /** Counts a call that a limit has refused. */
  countLimitHit (hit: LimitHit): void
  readonly contentType: string
  /** The metrics in the text format of Prometheus. */
  text (): Promise<string>
  /** The metrics as values, which can be added to those of other workers. */
  values (): Promise<readonly object[]>
}

/** What a worker says to the others. */
export interface WorkerReports {
  /** The values of its metrics. */
  metrics (): Promise<readonly object[]>
  health (): Promise<HealthReport>
}

export interface ServedAdmin {
  /** The app of the admin address. It must listen by itself. */
  readonly admin?: FastifyInstance
  /** What the admin address tells, for other workers. */
  readonly reports?: WorkerReports
}

/** What a service for an author gets beside its config. */
export interface AuthorParts {
  /** Absent if the service checks tokens, or if others reach it. */
  readonly callers?: Authenticator
  readonly authorConsole?: AuthorPage
  readonly desk?: ServedDesk | undefined
}

/** The issuer of this process, for callers that its author picks. */
export interface ServedDesk {
  readonly issuer: string
  /** The caller that the author begins with. */
  readonly firstCaller: { readonly subject?: string | undefined, readonly scopes: readonly string[] }
  /** Verifies the tokens that `signFor` makes for the endpoint. */
  readonly verifier: TokenVerifier
  signFor (caller: { readonly scopes: readonly string[] }): Promise<string>
  vouchesFor (principal: Principal): boolean
  /** Makes a token of a caller for an upstream. */
  exchange (caller: Principal, audience: string, scopes: readonly string[], seconds: number): Promise<string>
  /** What signs the JWTs for upstreams. */
  readSigner (): Readonly<{ issuer: string, key: KeyObject, kid: string, type: string, mark: Claims }>
  /** Present if people sign in at the desk. */
  readonly signIn: DeskSignIn | undefined
  register (app: FastifyInstance): void
}

/** What the sign-in takes of the desk. */
export interface DeskSignIn {
  /** Creates what takes the place of the identity provider. */
  createProvider (options: { readonly redirectUri: string }): {
    readonly issuer: string
    begin (way: WayToDesk): Promise<string>
    end (query: string, way: WayToDesk): Promise<DeskPerson>
    renew (refreshToken: string, before: Pick<DeskPerson, 'claims'>): Promise<RenewedDesk>
  }
  /** Opens a state of this process: another service must not take what people get here. */
  openState (log: SignInState['log']): Promise<Pick<SignInState, 'sealer'> & SignInState['backend']>
}

type DeskPerson = Readonly<{ claims: Claims, tokens: { accessToken: string } }>
type RenewedDesk = Pick<DeskPerson, 'tokens'> & { identify (): Promise<Pick<DeskPerson, 'claims'>> }
type WayToDesk = Readonly<{ state: string, nonce: string }>

/** What `trivet dev` shows its author in a browser. */
export interface AuthorPage {
  /** Where the page is, such as `/console`. */
  readonly path: string
  readonly report: LoadObserver
  /** Takes the log messages of tasks. */
  readonly taskLog: { add (taskId: string, notification: string): void }
  /** Called when the service has its tasks, which open after the page. */
  showTasks (readTask: ServedTasks['operator']['record']): void
  register (app: FastifyInstance): void
}
