// The values of TRIVET_STATE_URL, and the backend that each scheme opens.

import t from 'tap'
import {
  isSharedUrl, isStateUrl, STATE_URL_FORM
} from '../../../../src/platform/store/backends/url-schemes.ts'
import { checkParts, openStore } from '../../../contracts/backend-contract.ts'
import { makeFolder } from '../../../helpers/folder.ts'

const SHARED = [
  'redis://host', 'rediss://:word@host:6380/1', 'redis+sentinel://a,b/main', 'rediss+sentinel://a/main',
  'redis+cluster://a,b', 'rediss+cluster://a', 'postgres://user@host/db', 'postgresql://user@a:1,b:2/db'
]
const OWN = ['memory:', 'file:data', 'file:/data', 'file:with space', 'file:redis://']
const NONE = [
  '', 'memory', 'memory:x', 'memory://', 'file', 'file:', 'redis', 'redis:', 'redis:host', 'redis://',
  'redis:// ', 'redis+other://host', 'postgres:', 'postgres://', 'postgres:user@host', 'pg://host', 'http://host', './data', 'constructor:', '__proto__:', 'MEMORY:',
  ' memory:', ':'
]

t.test('knows the URLs of each backend, and which backends are shared', async (t) => {
  for (const url of [...SHARED, ...OWN]) t.ok(isStateUrl(url), url)
  for (const url of NONE) t.notOk(isStateUrl(url), url)
  for (const url of SHARED) t.ok(isSharedUrl(url), url)
  for (const url of [...OWN, ...NONE]) t.notOk(isSharedUrl(url), url)
})

t.test('a URL of no backend is refused with the valid forms and without the URL', async (t) => {
  for (const url of [...NONE, 'mysql://user:hunter2@host']) {
    await t.rejects(openStore(t, url), { message: `TRIVET_STATE_URL must be ${STATE_URL_FORM}` }, url)
  }
})

t.test('memory', async (t) => await checkParts(t, 'memory:'))
t.test('file', async (t) => await checkParts(t, `file:${await makeFolder(t)}`))
