// Tools with `dedupe`: a repeated call gets the first answer.

import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Principal } from '../../../src/platform/access/principal.ts'
import type { AppOptions } from '../../../src/app/app.ts'
import { buildApp } from '../../helpers/app.ts'
import { toolModule, type Files } from '../../helpers/catalog-folder.ts'
import { GATES } from '../../helpers/gates.ts'
import { send, type Answer, type RequestParts } from '../../helpers/request.ts'

const DEDUPE = 'annotations: { idempotentHint: true }, dedupe: true'
const count = (name: string, options: string, run: string): string =>
  `let runs = 0\n${toolModule(name, options, run)}`

const FILES: Files = {
  'lib/gates.js': GATES,
  'tools/plain.ts': count('plain', 'annotations: { idempotentHint: true }', '() => String(++runs)'),
  'tools/counts.ts': count(
    'counts', `${DEDUPE}, inputSchema: { type: 'object', properties: { a: {} } }`, '() => String(++runs)'
  ),
  'tools/refuses.ts': count('refuses', DEDUPE, '() => { throw new ToolError(String(++runs)) }'),
  'tools/fails.ts': count(
    'fails', DEDUPE, "() => { if (++runs === 1) throw new Error('broken'); return String(runs) }"
  ),
  'tools/large.ts': count('large', DEDUPE, "() => ++runs + 'x'.repeat(70_000)"),
  'tools/hangs.ts': count(
    'hangs', `${DEDUPE}, timeoutMs: 200`, `(_, { signal }) => ++runs > 1 ? String(runs) : new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })`
  ),
  'tools/own.ts': count(
    'own', `${DEDUPE}, authorize: ({ claims }) => claims?.tenant === 'a' || 'Not yours.'`, '() => String(++runs)'
  ),
  'tools/waits.ts': `import { gate } from '../lib/gates.js'\n${count(
    'waits', DEDUPE, "async () => { runs++; await gate('open').promise; return String(runs) }"
  )}`,
  'tools/opens.ts': `import { gate } from '../lib/gates.js'\n${toolModule(
    'opens', '', "() => { gate('open').open() }"
  )}`
}

/** Callers name themselves, and their scopes. A request without a name is anonymous. */
const authenticator: NonNullable<AppOptions['authenticator']> = {
  authenticate (header): Principal {
    const [subject, ...scopes] = header?.split(' ') ?? []
    return { scopes: new Set(scopes), ...(subject !== undefined && { subject }) }
  }
}

const start = async (t: Test) => await buildApp(t, FILES, { authenticator })

function call (name: string, { id = 1, key = 'k', user = 'ada', args = {} }: {
  readonly id?: string | number, readonly key?: string, readonly user?: string, readonly args?: object
} = {}): RequestParts {
  return {
    method: 'tools/call',
    params: { name, arguments: args },
    id,
    headers: { authorization: user, 'idempotency-key': key }
  }
}

const textOf = ({ response: { result } }: Answer): string => result.content[0].text

t.test('a call of the same sender with the same Idempotency-Key gets the first answer', async (t) => {
  const app = await start(t)
  const texts: string[] = []
  for (const parts of [
    call('counts'), call('counts'), call('counts', { id: 2 }), call('counts', { key: 'l' }),
    call('counts', { user: 'bob' }), call('counts', { user: 'ada write' }), call('counts')
  ]) texts.push(textOf(await send(app, parts)))
  t.strictSame(texts, ['1', '1', '1', '2', '3', '4', '1'])
  t.equal((await send(app, call('counts', { id: 7 }))).response.id, 7)
  t.equal(textOf(await send(app, call('plain'))), '1')
  t.equal(textOf(await send(app, call('plain'))), '2', 'only a tool with dedupe')
})

t.test('without a key each call runs: clients behind one address use the same ids', async (t) => {
  const app = await start(t)
  const anonymous = { ...call('counts', { id: 5 }), headers: {} }
  const texts = [await send(app, anonymous), await send(app, anonymous)].map(textOf)
  t.strictSame(texts, ['1', '2'])
})

t.test('with an Idempotency-Key the id does not matter, and the arguments must be the same', async (t) => {
  const app = await start(t)
  t.equal(textOf(await send(app, call('counts', { key: 'k', id: 1 }))), '1')
  const again = await send(app, call('counts', { key: 'k', id: 'other' }))
  t.match(again.response, { id: 'other', result: { content: [{ text: '1' }] } })
  t.equal(textOf(await send(app, call('counts', { key: 'l', id: 1 }))), '2')
  const reused = await send(app, call('counts', { key: 'k', args: { a: 1 } }))
  t.equal(reused.response.result.isError, true)
  t.match(textOf(reused), /^The Idempotency-Key belongs to a call with other arguments\./)
  for (const key of ['', 'x'.repeat(256), 'k, k']) {
    t.match((await send(app, call('counts', { key }))).response.result.content[0].text, /1 to 255 characters/)
  }
})

t.test('arguments are the same in any order, and none are the same as {}', async (t) => {
  const app = await start(t)
  const first = await send(app, call('counts', { args: { a: { x: 1, y: [2] }, b: 3 } }))
  t.equal(textOf(first), '1')
  t.equal(textOf(await send(app, call('counts', { args: { b: 3, a: { y: [2], x: 1 } } }))), '1')
  t.equal(textOf(await send(app, call('counts', { key: 'none' }))), '2')
  const none = call('counts', { key: 'none' })
  t.equal(textOf(await send(app, { ...none, params: { name: 'counts' } })), '2')
})

t.test('a token with other claims is asked again, and gets no answer if it is refused', async (t) => {
  const app = await buildApp(t, FILES, {
    authenticator: {
      authenticate: (tenant) => ({ subject: 'ada', scopes: new Set<string>(), claims: { tenant } })
    }
  })
  t.equal(textOf(await send(app, call('own', { user: 'a' }))), '1')
  t.equal(textOf(await send(app, call('own', { user: 'b' }))), 'Not yours.')
  t.equal(textOf(await send(app, call('own', { user: 'a' }))), '1')
})

t.test('a repetition waits for the first call', async (t) => {
  const app = await start(t)
  const answers = [1, 2, 3].map(async () => await send(app, call('waits', { key: 'k' })))
  await pause(200)
  await send(app, call('opens'))
  t.strictSame((await Promise.all(answers)).map(textOf), ['1', '1', '1'])
})

t.test('an error for the model is an answer; an internal error and a time limit are none', async (t) => {
  const app = await start(t)
  const refused = { isError: true, content: [{ text: '1' }] }
  t.match((await send(app, call('refuses'))).response.result, refused)
  t.match((await send(app, call('refuses'))).response.result, refused)
  t.equal((await send(app, call('fails'))).response.error.code, -32603)
  t.equal(textOf(await send(app, call('fails'))), '2')
  t.equal(textOf(await send(app, call('fails'))), '2')
  t.match(textOf(await send(app, call('hangs'))), /did not finish within 200 ms/)
  t.equal(textOf(await send(app, call('hangs'))), '2')
})

t.test('an answer that is too long is not kept', async (t) => {
  const app = await start(t)
  t.match(textOf(await send(app, call('large'))), /^1x/)
  t.match(textOf(await send(app, call('large'))), /^2x/)
})

t.test('anonymous callers of different networks are different', async (t) => {
  const app = await buildApp(t, FILES, { trustedProxies: ['loopback'] })
  const from = async (address: string) => textOf(await send(app, {
    ...call('counts'), headers: { 'x-forwarded-for': address, 'idempotency-key': 'k' }
  }))
  t.strictSame(
    [await from('192.0.2.1'), await from('192.0.2.2'), await from('192.0.2.1')], ['1', '2', '1']
  )
})

t.test('a tool must be idempotent to be deduped', async (t) => {
  await t.rejects(
    buildApp(t, { 'tools/a.ts': toolModule('a', 'dedupe: true') }),
    { message: /tools\/a\.ts.*dedupe.*needs annotations: \{ idempotentHint: true \}/ }
  )
})
