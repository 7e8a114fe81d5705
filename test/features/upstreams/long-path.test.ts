// Paths and queries that are too long: they take no time, and no room in the log.

import t from 'tap'
import { readCallTarget } from '../../../src/features/upstreams/target.ts'
import { ADA, endOf, openUpstream } from './open-upstream.ts'
import { startUpstream } from './upstream-server.ts'

const BASE = new URL('https://crm.example.com/api/')
const TOO_LONG = { name: 'TypeError', message: /at most 8192 characters together/ }

t.test('a path and a query may have 8,192 characters together', (t) => {
  t.equal(readCallTarget(BASE, 'a'.repeat(8190), { b: '' }).query, '?b=')
  t.throws(() => readCallTarget(BASE, 'a'.repeat(8190), { bc: '' }), TOO_LONG)
  t.throws(() => readCallTarget(BASE, `a?${'b'.repeat(8191)}`, undefined), TOO_LONG)
  t.throws(() => readCallTarget(BASE, '', { a: ['x'.repeat(5000), 'x'.repeat(5000)] }), TOO_LONG)
  t.throws(() => readCallTarget(BASE, '', new URLSearchParams({ a: 'x'.repeat(8191) })), TOO_LONG)
  t.end()
})

t.test('what is far too long takes no time', (t) => {
  const long = [
    'a'.repeat(3_000_000), 'é'.repeat(3_000_000), '%25'.repeat(1_000_000), '../'.repeat(1_000_000),
    `${'a'.repeat(3_000_000)}#`, 'a/'.repeat(1_500_000)
  ]
  const begin = process.cpuUsage()
  for (const path of long) t.throws(() => readCallTarget(BASE, path, undefined), TOO_LONG)
  for (const value of long) t.throws(() => readCallTarget(BASE, 'x', { value }), TOO_LONG)
  t.ok(process.cpuUsage(begin).user < 100_000)
  t.end()
})

t.test('the log has the beginning of a long path', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.end())
  const { fetch, lines } = openUpstream(t, upstream)
  t.equal(await endOf(fetch(ADA, 'a'.repeat(8000))), 200)
  t.equal(lines[0]?.fields.path, `/api/${'a'.repeat(95)}…`)
})
