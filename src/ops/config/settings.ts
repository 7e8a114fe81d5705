// Every setting of the service. A new one is one row: its type, its flag, its checks and its place in
// docs/settings.md follow.

import { isHttpUrl } from '../../platform/access/server-url.ts'
import { isProxyRange } from '../../base/addresses.ts'
import { FILES_URL_FORM, isFilesUrl } from '../../features/files/url-schemes.ts'
import { NO_RATE, RATE_FORM, RATE_PATTERN } from '../../platform/limits/rate.ts'
import { isStateUrl, STATE_URL_FORM } from '../../platform/store/backends/url-schemes.ts'
import { ACCESS_SETTINGS } from './access-settings.ts'
import {
  address, bytes, file, integer, integerOr, list, milliseconds, ofProcess, oneOf, secret, setting, text,
  type Setting, type SettingsTable, type ValuesOf
} from './setting-kinds.ts'

const LISTEN_HINT = 'pass it to app.listen()'
const WORKERS_HINT = 'call it in each of several processes'
const ADMIN_HINT = 'only a service that runs as a process has an admin address'

const SERVICE = {
  catalog: setting('TRIVET_CATALOG', text('the path of a folder', /\S/), './catalog', "The catalog's folder."),
  host: ofProcess(LISTEN_HINT, setting('HOST', address, '127.0.0.1',
    'The address to listen on. An address that others can reach needs `TRIVET_AUTH`.')),
  port: ofProcess(LISTEN_HINT, setting('PORT', integer(0, 65_535), 3000,
    'The port to listen on. 0 picks a free one.')),
  workers: ofProcess(WORKERS_HINT, setting('TRIVET_WORKERS', integerOr('auto', 1, 256), 1,
    'The processes that serve together on one port. More than one needs a shared state. `auto` is one for ' +
      'each core. See [Workers](operating/replicas.md#workers).')),
  path: setting('TRIVET_PATH',
    text(
      'a path such as /mcp, and neither /livez, /readyz nor below /.well-known',
      /^(?!\/(?:livez|readyz|\.well-known(?:\/.*)?)$)\/[\w./-]*$/
    ), '/mcp',
    'The path of the endpoint.'),
  watch: setting('TRIVET_WATCH', oneOf(['on', 'off', 'poll']), 'on',
    'Whether changes of the catalog are noticed. `poll` is for volumes that do not report changes.'),
  legacy: setting('TRIVET_LEGACY', oneOf(['on', 'off']), 'on',
    'Whether clients of earlier revisions are served, in sessions.')
} satisfies SettingsTable

const CONNECTIONS = {
  allowedHosts: setting('TRIVET_ALLOWED_HOSTS',
    list('host names, each with or without a port', /^[^\s/,*]+$/), [],
    'The host names to answer to. On a loopback address its own names are always allowed. On any other ' +
      'address an empty list allows all names.'),
  allowedOrigins: setting('TRIVET_ALLOWED_ORIGINS',
    list('origins such as https://app.example.com', /^(?:\*|[a-z][a-z0-9+.-]*:\/\/[^\s/,]+)$/i), [],
    'The web origins that may call, or `*`. On a loopback address its own origins are always allowed.'),
  trustedProxies: setting('TRIVET_TRUSTED_PROXIES',
    list(
      'addresses, ranges such as 10.0.0.0/8, loopback, linklocal or uniquelocal', { test: isProxyRange }
    ), [],
    'The proxies whose `X-Forwarded-For` is believed. They must overwrite that header, or append to it.'),
  keepAliveMs: setting('TRIVET_KEEP_ALIVE_MS', milliseconds(100, 3_600_000), 25_000,
    'The time between two keep-alives of a stream. It must be less than the idle timeout of a proxy.')
} satisfies SettingsTable

const STATE = {
  stateUrl: secret(setting('TRIVET_STATE_URL', text(STATE_URL_FORM, { test: isStateUrl }), 'file:./data',
    'Where state is kept: `memory:`, `file:PATH`, or a server that replicas share. Redis or Valkey: ' +
      '`redis://`, `redis+sentinel://h1,h2/master`, `redis+cluster://h1,h2`, with `rediss` for TLS. ' +
      'PostgreSQL: `postgres://user@h1,h2/database`, with `?sslmode=verify-full` for checked TLS. If ' +
      'the folder of `file:` is removed or truncated, writes fail and `/readyz` says so: restart.')),
  statePrefix: setting('TRIVET_STATE_PREFIX',
    text('1 to 64 letters, digits, -, _ or .', /^[\w.-]{1,64}$/), 'trivet',
    'The beginning of every key and channel, and the name of the schema of PostgreSQL. Services with ' +
      'different prefixes can use one server, or one folder, and share nothing in it.'),
  secrets: secret(setting('TRIVET_SECRETS', list('secrets of 32 characters or more each', /^.{32,}$/), [],
    'The secrets that seal request states and session ids. The first one seals, each one opens. ' +
      'Required for a shared state. By default `file:` state keeps one in `FOLDER/PREFIX.secret`, and ' +
      'with `memory:` each process has its own.')),
  requestStateTtlMs: setting('TRIVET_REQUEST_STATE_TTL_MS', milliseconds(1000, 86_400_000), 900_000,
    'How long a client may take to answer a question.'),
  taskLeaseMs: setting('TRIVET_TASK_LEASE_MS', milliseconds(500, 600_000), 10_000,
    'A replica that does not report for this time has lost its tasks. Another one takes them over, ' +
      'within twice this time. All replicas need the same value.'),
  taskWaitMs: setting('TRIVET_TASK_WAIT_MS', milliseconds(0, 600_000), undefined,
    'How long a client without tasks waits for the result of a tool with `task`, until its model is told ' +
      'how to [continue the call](hosts.md). It must be below `TRIVET_REQUEST_TIMEOUT_MS`, and below the ' +
      'time after which hosts give up. By default 25,000, or five sixths of that timeout if that is less.')
} satisfies SettingsTable

const LARGE_FILES = {
  filesUrl: setting('TRIVET_FILES_URL', text(FILES_URL_FORM, { test: isFilesUrl }), undefined,
    'Where [large files](large-files.md) are kept: a folder that all replicas share, or a bucket. By ' +
      'default in the folder of `file:` state; with `memory:` until the process ends.'),
  filesToken: setting('TRIVET_FILES_TOKEN', oneOf(['optional', 'required']), 'optional',
    'Whether a link to a file works without an access token. `required` is for hosts and login proxies ' +
      'that always send one.'),
  // A storage takes 58 GiB in one file.
  maxFileBytes: setting('TRIVET_MAX_FILE_BYTES', bytes(1024, 53_687_091_200), 268_435_456,
    'The largest file that is put or uploaded.'),
  maxFileBytesPerCaller: setting('TRIVET_MAX_FILE_BYTES_PER_CALLER',
    bytes(1024, 1_099_511_627_776), 2_147_483_648,
    'All files of one caller, until they expire. All anonymous callers count as one, and one address ' +
      'that is not of this machine may have a tenth.')
} satisfies SettingsTable

const LIMITS = {
  maxRequests: setting('TRIVET_MAX_REQUESTS', integer(1, 1_000_000), 10_000,
    'The requests that a replica serves at once, without streams of changes. The next one is answered ' +
      '503.'),
  overload: setting('TRIVET_OVERLOAD', oneOf(['on', 'off']), 'on',
    'Whether a replica with a busy event loop or little memory refuses a share of the requests. See ' +
      '[Overload](operating/limits.md#overload).'),
  maxStreams: setting('TRIVET_MAX_STREAMS', integer(1, 1_000_000), 10_000,
    'The open streams of a replica, of every kind. One caller may have half of them, one anonymous ' +
      'address that is not of this machine a tenth. The next one is answered 503. Streams of calls ' +
      'count, and are not refused.'),
  maxCallsPerCaller: setting('TRIVET_MAX_CALLS_PER_CALLER',
    text(`${RATE_FORM}, or ${NO_RATE}`, new RegExp(`${RATE_PATTERN}|^${NO_RATE}$`)), undefined,
    'The calls that one caller may begin in a time, over all replicas. By default a replica allows ' +
      '`6000/1m`, and 30,000 other requests. `off` allows any number of both. See ' +
      '[Limits](operating/limits.md#limits).'),
  maxRunningPerCaller: setting('TRIVET_MAX_RUNNING_PER_CALLER', integer(1, 1_000_000), 1000,
    'The calls of one caller that may run at once on a replica.'),
  maxHandlesPerCaller: setting('TRIVET_MAX_HANDLES_PER_CALLER', integer(1, 10_000_000), 10_000,
    'The live handles of one caller. All anonymous callers count as one, and one address that is not of ' +
      'this machine may create a tenth.'),
  maxTasksPerCaller: setting('TRIVET_MAX_TASKS_PER_CALLER', integer(1, 1_000_000), 1000,
    'The unfinished tasks of one caller. It may have ten times as many together with ended ones, which ' +
      'count until they expire. All anonymous callers count as one, and one address that is not of this ' +
      'machine may have a tenth of the unfinished ones.'),
  maxBodyBytes: setting('TRIVET_MAX_BODY_BYTES', bytes(1024, 104_857_600), 1_048_576, 'The largest request.'),
  maxResourceBytes: setting('TRIVET_MAX_RESOURCE_BYTES', bytes(1024, 268_435_456), 10_485_760,
    'The largest file, or directory, that can be read.'),
  requestTimeoutMs: setting('TRIVET_REQUEST_TIMEOUT_MS', milliseconds(1, 3_600_000), 30_000,
    'How long a handler may take, unless its definition sets `timeoutMs`.')
} satisfies SettingsTable

const STOP = {
  drainMs: setting('TRIVET_DRAIN_MS', milliseconds(0, 600_000), 0,
    'How long requests are served after SIGTERM while `/readyz` answers 503. The load balancer needs ' +
      'this time to notice.'),
  shutdownTimeoutMs: setting('TRIVET_SHUTDOWN_TIMEOUT_MS', milliseconds(0, 600_000), 10_000,
    'How long requests may still take after SIGTERM and the drain.')
} satisfies SettingsTable

const TELEMETRY = {
  logLevel: setting('TRIVET_LOG_LEVEL',
    oneOf<string>(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']), 'info',
    'The lowest level that the log has.'),
  logLevelFile: ofProcess('only a process reads it again after SIGHUP', setting('TRIVET_LOG_LEVEL_FILE',
    file, undefined,
    'A file with the level, which counts instead. It is read at the start and after each SIGHUP, and ' +
      'may be missing or empty.')),
  auditFile: setting('TRIVET_AUDIT_FILE', file, undefined,
    'The file that the [audit log](operating/observing.md#the-audit-log) is appended to, such as ' +
      '`/dev/stderr`. By default there is none.'),
  adminPort: ofProcess(ADMIN_HINT, setting('TRIVET_ADMIN_PORT', integer(0, 65_535), undefined,
    'The port of a second address, for operators: `/metrics`, `/readyz` in detail, `/livez`. By ' +
      'default there is none.')),
  adminHost: ofProcess(ADMIN_HINT, setting('TRIVET_ADMIN_HOST', address, '127.0.0.1',
    'The address of `TRIVET_ADMIN_PORT`. Everyone who reaches it may read it: a Prometheus in ' +
      'another container needs `0.0.0.0`, and a network that clients cannot reach.')),
  adminToken: secret(ofProcess(ADMIN_HINT, setting('TRIVET_ADMIN_TOKEN',
    text('32 characters or more: letters, digits, and -._~+/', /^[\w.~+/-]{32,}=*$/), undefined,
    'The token by which operators see, cancel and retry [tasks](operating/tasks.md) at ' +
      '`TRIVET_ADMIN_PORT`. Without it nothing can be changed there, no value of a recording is ' +
      'shown, and everyone who reaches it sees the tasks.'))),
  otlpUrl: secret(ofProcess('register an SDK of OpenTelemetry before you call it', setting('TRIVET_OTLP_URL',
    text('an http:// or https:// URL without a user, a query or a fragment', { test: isHttpUrl }), undefined,
    'The URL of an OpenTelemetry collector that takes OTLP over HTTP, such as `http://localhost:4318`. ' +
      'By default no [traces](operating/observing.md#traces) are sent.')))
} satisfies SettingsTable

/** The groups of the settings, in the order of the documentation. */
export const GROUPS: { readonly [name: string]: SettingsTable } = {
  Service: SERVICE,
  Access: ACCESS_SETTINGS,
  Connections: CONNECTIONS,
  State: STATE,
  'Large files': LARGE_FILES,
  Limits: LIMITS,
  Stop: STOP,
  'Log, metrics and traces': TELEMETRY
}

export const SETTINGS = {
  ...SERVICE, ...ACCESS_SETTINGS, ...CONNECTIONS, ...STATE, ...LARGE_FILES, ...LIMITS, ...STOP, ...TELEMETRY
}

type Table = typeof SETTINGS

/** The values of all settings, by option. */
export type Config = ValuesOf<Table>

/** The settings that only the process uses. The app uses all others. */
export type ProcessKey = {
  [K in keyof Table]: Table[K] extends { processOnly: string } ? K : never
}[keyof Table]

/** The rows of the table. */
export const ROWS: ReadonlyArray<readonly [option: string, setting: Setting]> = Object.entries(SETTINGS)

/** The variables of the settings whose values nobody else may read. */
export const SECRET_VARIABLES: readonly string[] = ROWS.flatMap(
  ([, { isSecret, variable }]) => isSecret === true ? [variable] : []
)
