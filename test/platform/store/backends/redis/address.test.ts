// Reads the URLs of Redis.

import t from 'tap'
import { readRedisUrl, type RedisAddress } from '../../../../../src/platform/store/backends/redis/address.ts'

const LOCAL: RedisAddress = {
  kind: 'single', isTls: false, hosts: [{ host: 'a', port: 6379 }], master: '', db: 0
}
const LOGIN = { username: 'user', password: 'word:of@its/own' }

const read: ReadonlyArray<readonly [url: string, address: RedisAddress]> = [
  ['redis://a', LOCAL],
  ['redis://a/', LOCAL],
  ['redis://a:6380/3', { ...LOCAL, hosts: [{ host: 'a', port: 6380 }], db: 3 }],
  ['rediss://[::1]:1', { ...LOCAL, isTls: true, hosts: [{ host: '::1', port: 1 }] }],
  ['redis://user:word%3Aof%40its%2Fown@a', { ...LOCAL, ...LOGIN }],
  ['redis://:word%3Aof%40its%2Fown@a', { ...LOCAL, password: LOGIN.password }],
  ['redis://user:@a', { ...LOCAL, username: 'user' }],
  ['redis+sentinel://a,b:1/main', {
    ...LOCAL, kind: 'sentinel', hosts: [{ host: 'a', port: 26379 }, { host: 'b', port: 1 }], master: 'main'
  }],
  ['rediss+sentinel://a/main/2', {
    ...LOCAL, kind: 'sentinel', isTls: true, hosts: [{ host: 'a', port: 26379 }], master: 'main', db: 2
  }],
  ['redis+cluster://a,b', {
    ...LOCAL, kind: 'cluster', hosts: [{ host: 'a', port: 6379 }, { host: 'b', port: 6379 }]
  }]
]

const refused: ReadonlyArray<readonly [url: string, problem: RegExp]> = [
  ['redis://:hunter2@', /it is none of these$/],
  ['redis+other://:hunter2@a', /it is none of these$/],
  [
    'redis://:hunter2@a:99999', /each host must be a name or an address, with a port from 1 to 65535 or none$/
  ],
  ['redis://:hunter2@a:0', /each host must be a name or an address, with a port from 1 to 65535 or none$/],
  ['redis://:hunter2@a b', /each host must be a name or an address, with a port from 1 to 65535 or none$/],
  ['redis+sentinel://:hunter2@a', /the name of the master is missing, such as \/mymaster$/],
  ['redis://:hunter2@a,b', /more than one host needs redis\+sentinel or redis\+cluster$/],
  ['redis://:hunter2@a/x', /after the hosts there must be the number of a database$/],
  ['redis://:hunter2@a/1/2', /after the hosts there must be the number of a database$/],
  ['redis+cluster://:hunter2@a/1', /a cluster has no database but 0$/],
  ['redis://hunter2@a', /before the @ there must be user:password, or :password$/],
  ['redis://:hunter2%@a', /the user or the password is not percent-encoded$/]
]

t.test('an address is read', async (t) => {
  for (const [url, address] of read) t.strictSame(readRedisUrl(url), address, url)
})

t.test('an invalid URL is refused with the problem and without the password', async (t) => {
  for (const [url, problem] of refused) {
    t.throws(() => readRedisUrl(url), { message: /^TRIVET_STATE_URL must be redis:\/\/(?!.*hunter2)/ }, url)
    t.throws(() => readRedisUrl(url), { message: problem }, url)
  }
})
