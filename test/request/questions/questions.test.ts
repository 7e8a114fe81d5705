import t from 'tap'
import { elicit, roots } from '../../../src/platform/author/input-request.ts'
import { ask, form, paramsOf, problemOf, rounds } from './asking.ts'
import { runRound } from './rounds.ts'

t.test('one error has every problem of all questions of a call', async (t) => {
  const { error } = await runRound(
    rounds,
    async (round) => await round.ask({
      a: form({ x: {}, y: { type: 'string', format: 'x' } }), b: elicit.url({ message: '', url: 'x' })
    })
  )
  t.ok(error instanceof Error)
  for (const message of [
    'ask, "a": schema: properties.x', 'ask, "a": schema: properties.y.format', 'ask, "b": message',
    'ask, "b": url'
  ]) {
    t.match(error, { message })
  }
})

t.test('a question has a key and is made by one of the four functions (211)', async (t) => {
  t.match((await ask(roots(), '')).error, { message: /^ask, "": a key must not be empty/ })
  t.match((await ask(roots(), 'k\ud83d')).error, { message: /a key must be well-formed text/ })
  for (const wrong of [undefined, null, 1, 'x', {}, { kind: 'toString', params: {} }, { kind: 'form' }]) {
    // @ts-expect-error: authors may write without types
    t.match(await problemOf(wrong), /must be made by elicit\.form, elicit\.url, sample or roots/)
  }
  for (const wrong of [undefined, null, [roots()]]) {
    // @ts-expect-error: authors may write without types
    t.match((await runRound(rounds, async (round) => await round.ask(wrong))).error, {
      message: /ask: takes an object/
    })
  }
})

t.test('a URL is sent unchanged, with its mode and its message only (228)', async (t) => {
  for (const url of ['https://example.com/pay?id=1#top', 'http://localhost:3000', 'HTTPS://example.com/']) {
    t.same(await paramsOf(elicit.url({ message: 'Pay here', url })), {
      mode: 'url', message: 'Pay here', url
    })
  }
})

t.test('a URL is absolute, of http or https, and without credentials (228, 229)', async (t) => {
  for (const url of [
    '', '/pay', 'example.com', '//example.com', 'ftp://example.com', 'javascript:alert(1)',
    'https:example.com', 'https://exa mple.com', ' https://example.com', 'file:///x'
  ]) {
    t.match(
      await problemOf(elicit.url({ message: 'm', url })),
      /^ask, "k": url: must be an absolute http or https URL, got "/, url
    )
  }
  t.match(
    await problemOf(elicit.url({ message: 'm', url: 'https://user:secret@example.com' })),
    /url: must not have a user name or password/
  )
  t.match(
    await problemOf(elicit.url({ message: '', url: 'https://example.com' })), /message: must be a text/
  )
})

t.test('roots are asked for without params (211)', async (t) => {
  t.same((await ask(roots())).pending, { inputRequests: { k: { method: 'roots/list', params: {} } } })
})
