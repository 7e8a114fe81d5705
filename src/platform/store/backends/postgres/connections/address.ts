// Reads the hosts, the credentials and the rules of TLS from TRIVET_STATE_URL, as libpq means them.
// https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING

import { isPort, readHost, type ServerHost } from '../../server-address.ts'

const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

export type SslMode = typeof SSL_MODES[number]

export interface PostgresAddress {
  /** Tried in this order. The first one that takes writes is used. A host may be the folder of a socket. */
  readonly hosts: readonly ServerHost[]
  readonly user: string
  readonly password: string
  /** The path of a file that has the password if the URL has none. */
  readonly passFile?: string
  readonly database: string
  readonly sslMode: SslMode
  /** The files of certificates, by their paths. */
  readonly files: { readonly ca?: string, readonly cert?: string, readonly key?: string }
}

const FORM = 'postgres://user[:password]@host[:port][,host…]/database[?sslmode=verify-full&sslrootcert=FILE], ' +
  'with special characters of a password percent-encoded'
const URL_FORM = /^postgres(?:ql)?:\/\/(?:([^/@?]*)@)?([^/@?#]*)(?:\/([^/?#]*))?(?:\?([^#]*))?$/
const PARAMETERS = [
  'host', 'port', 'passfile', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'target_session_attrs'
]
const DEFAULT_PORT = 5432

/** Throws an Error that says what the URL must be. The error never contains the URL, which has a password. */
export function readPostgresUrl (url: string): PostgresAddress {
  const [match, credentials = '', hostList = '', path = '', query = ''] = URL_FORM.exec(url) ?? []
  if (match === undefined) throw badUrl('it is not of this form')
  const parameters = readParameters(query)
  const { user, password } = readCredentials(credentials)
  const sslMode = parameters.get('sslmode') ?? 'prefer'
  if (!isSslMode(sslMode)) throw badUrl(`sslmode must be one of ${SSL_MODES.join(', ')}`)
  checkTarget(parameters.get('target_session_attrs'))
  const [ca, cert, key] = ['sslrootcert', 'sslcert', 'sslkey'].map((name) => parameters.get(name))
  if ((cert === undefined) !== (key === undefined)) throw badUrl('sslcert and sslkey need each other')
  const database = decode(path, 'the database')
  const passFile = parameters.get('passfile')
  return {
    hosts: readHosts(hostList, parameters),
    user,
    password,
    ...passFile !== undefined && { passFile },
    database: database === '' ? user : database,
    // libpq does so too: whoever names authorities wants the server checked.
    sslMode: sslMode === 'require' && ca !== undefined ? 'verify-ca' : sslMode,
    files: {
      ...ca !== undefined && { ca }, ...cert !== undefined && { cert }, ...key !== undefined && { key }
    }
  }
}

function readHosts (list: string, parameters: ReadonlyMap<string, string>): ServerHost[] {
  const folders = parameters.get('host')
  if (list !== '' && folders !== undefined) throw badUrl('it has hosts before the path and in host')
  if (list === '' && folders === undefined) throw badUrl('the host is missing')
  const portText = parameters.get('port') ?? String(DEFAULT_PORT)
  const port = checkPort(/^\d+$/.test(portText) ? Number(portText) : 0)
  return (folders ?? list).split(',').map((text) => {
    // A Unix socket.
    if (folders !== undefined && text.startsWith('/')) return { host: text, port }
    const server = readHost(text, port)
    if (server === undefined) {
      throw badUrl('each host must be a name or an address; the folder of a socket goes into ?host=')
    }
    return { ...server, port: checkPort(server.port) }
  })
}

function checkPort (port: number): number {
  if (!isPort(port)) throw badUrl('a port must be from 1 to 65535')
  return port
}

function readParameters (query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  for (const text of query === '' ? [] : query.split('&')) {
    const [name = '', ...values] = text.split('=')
    if (!PARAMETERS.includes(name)) throw badUrl(`after the ? there may be ${PARAMETERS.join(', ')}`)
    const value = decode(values.join('='), name)
    if (value === '') throw badUrl(`${name} has no value`)
    parameters.set(name, value)
  }
  return parameters
}

/** The service writes, so it never uses a server that takes no writes. */
function checkTarget (target = 'read-write'): void {
  if (target !== 'read-write' && target !== 'primary') {
    throw badUrl('target_session_attrs must be read-write or primary: the service writes')
  }
}

function readCredentials (text: string): Pick<PostgresAddress, 'user' | 'password'> {
  const colon = text.indexOf(':')
  const user = decode(colon === -1 ? text : text.slice(0, colon), 'the user')
  if (user === '') throw badUrl('before the @ there must be a user, or user:password')
  return { user, password: colon === -1 ? '' : decode(text.slice(colon + 1), 'the password') }
}

function decode (text: string, subject: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw badUrl(`${subject} is not percent-encoded`)
  }
}

function isSslMode (text: string): text is SslMode {
  return SSL_MODES.some((mode) => mode === text)
}

function badUrl (problem: string): Error {
  return new Error(`TRIVET_STATE_URL must be ${FORM}: ${problem}`)
}
