// Reads the hosts and the credentials of Redis from TRIVET_STATE_URL.

import { isPort, readHost, type ServerHost } from '../server-address.ts'

export interface RedisAddress {
  readonly kind: 'single' | 'sentinel' | 'cluster'
  readonly isTls: boolean
  readonly username?: string
  readonly password?: string
  readonly hosts: readonly ServerHost[]
  /** The name of the master at the Sentinels. Empty for the other kinds. */
  readonly master: string
  readonly db: number
}

const FORMS = 'redis://[user:password@]host[:port][/db], ' +
  'redis+sentinel://[user:password@]host[:port],…/master[/db] or ' +
  'redis+cluster://[user:password@]host[:port],…, ' +
  'each with rediss for TLS, and with special characters of a password percent-encoded'
const URL_FORM = /^redis(s)?(?:\+(sentinel|cluster))?:\/\/(?:([^/@]*)@)?([^/@?#]+)(?:\/([^?#]*))?$/

/** Throws an Error that says what the URL must be. The error never contains the URL, which has a password. */
export function readRedisUrl (url: string): RedisAddress {
  const [, tls, kind = 'single', credentials, hostList = '', path = ''] = URL_FORM.exec(url) ?? []
  if (hostList === '') throw badUrl('it is none of these')
  if (kind !== 'single' && kind !== 'sentinel' && kind !== 'cluster') throw badUrl('it is none of these')
  const hosts = hostList.split(',').map((text) => readServer(text, kind === 'sentinel' ? 26_379 : 6379))
  if (kind === 'single' && hosts.length > 1) {
    throw badUrl('more than one host needs redis+sentinel or redis+cluster')
  }
  const segments = path.split('/').filter((part) => part !== '')
  const master = kind === 'sentinel' ? segments.shift() : ''
  if (master === undefined) throw badUrl('the name of the master is missing, such as /mymaster')
  const [db = '0', ...excess] = segments
  if (!/^\d{1,5}$/.test(db) || excess.length > 0) {
    throw badUrl('after the hosts there must be the number of a database')
  }
  if (kind === 'cluster' && Number(db) !== 0) throw badUrl('a cluster has no database but 0')
  return { kind, isTls: tls !== undefined, ...readCredentials(credentials), hosts, master, db: Number(db) }
}

function readServer (text: string, defaultPort: number): ServerHost {
  const server = readHost(text, defaultPort)
  if (server !== undefined && isPort(server.port)) return server
  throw badUrl('each host must be a name or an address, with a port from 1 to 65535 or none')
}

function readCredentials (text: string | undefined): Pick<RedisAddress, 'username' | 'password'> {
  if (text === undefined) return {}
  const colon = text.indexOf(':')
  if (colon === -1) throw badUrl('before the @ there must be user:password, or :password')
  try {
    const username = decodeURIComponent(text.slice(0, colon))
    const password = decodeURIComponent(text.slice(colon + 1))
    return { ...(username !== '' && { username }), ...(password !== '' && { password }) }
  } catch {
    throw badUrl('the user or the password is not percent-encoded')
  }
}

function badUrl (problem: string): Error {
  return new Error(`TRIVET_STATE_URL must be ${FORMS}: ${problem}`)
}
