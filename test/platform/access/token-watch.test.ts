import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { AuthenticationUnavailable, type Authenticator } from '../../../src/platform/access/authentication.ts'
import { createBearerAuthenticator } from '../../../src/platform/access/bearer-authenticator.ts'
import { ANONYMOUS, type Principal } from '../../../src/platform/access/principal.ts'
import { createStaticToken } from '../../../src/platform/access/static-token-file.ts'
import { openStaticTokens } from '../../../src/platform/access/static-tokens.ts'
import { createTokenWatch } from '../../../src/platform/access/token-watch.ts'
import { until } from '../../helpers/deadline.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { createReadableLog } from '../../helpers/log.ts'

const principalOf = (subject: string): Principal => ({ subject, scopes: new Set() })

function watch (t: Test, isStillValid: Required<Authenticator>['isStillValid']) {
  const tokenWatch = createTokenWatch({ isStillValid }, { everyMs: 5 })
  t.teardown(() => tokenWatch.close())
  const ended: string[] = []
  return {
    ended,
    /** Returns a function that closes the stream. */
    open (principal: Principal, name: string): () => void {
      const listeners: Array<() => void> = []
      const stream = { onClose: (listener: () => void) => { listeners.push(listener) } }
      tokenWatch.add(principal, stream, () => ended.push(name))
      return () => { for (const listener of listeners) listener() }
    }
  }
}

t.test('the streams of a token that was taken back end, and share one check', async (t) => {
  const [ada, bob] = [principalOf('ada'), principalOf('bob')]
  const taken = new Set<Principal>()
  const asked: Principal[] = []
  const { open, ended } = watch(t, (principal) => {
    asked.push(principal)
    return !taken.has(principal)
  })
  const closes = [open(ada, 'a'), open(ada, 'b'), open(bob, 'c')]
  await until(() => asked.length >= 4, 'two rounds')
  t.strictSame([ended, asked.slice(0, 4)], [[], [ada, bob, ada, bob]])
  closes[0]?.()
  taken.add(ada)
  await until(() => ended.length > 0, 'the end of the stream')
  t.strictSame(ended, ['b'], 'a closed stream has ended')
  for (const close of closes) close()
  const carol = principalOf('carol')
  open(carol, 'd')
  await nextTurn()
  asked.length = 0
  await until(() => asked.length >= 2, 'two rounds')
  t.strictSame(new Set(asked), new Set([carol]), 'nobody asks about closed streams')
})

t.test('while nobody knows, streams stay; any other error ends them', async (t) => {
  let error: Error = new AuthenticationUnavailable('down')
  let asked = 0
  const { open, ended } = watch(t, async () => {
    asked++
    throw error
  })
  open(principalOf('ada'), 'a')
  await until(() => asked >= 2, 'two rounds')
  t.strictSame(ended, [])
  error = new TypeError('a mistake')
  await until(() => ended.length > 0, 'the end of the stream')
})

t.test('few tokens are asked about at once', async (t) => {
  let asking = 0
  let most = 0
  let asked = 0
  const { open } = watch(t, async () => {
    most = Math.max(most, ++asking)
    asked++
    await nextTurn()
    asking--
    return true
  })
  for (let index = 0; index < 300; index++) open(principalOf(`p${index}`), 'stream')
  await until(() => asked >= 300, 'one round')
  t.equal(most, 8)
})

t.test('a principal counts while its token does, and has the scopes that it had', async (t) => {
  const file = join(await makeFolder(t), 'tokens.yaml')
  const { token, entry } = createStaticToken({
    subject: 'ada', scopes: ['books:read', 'books:write'], expiresAt: new Date('2100-01-01')
  })
  await writeFile(file, entry)
  const verifier = await openStaticTokens(file, createReadableLog().logger, { pollMs: 5 })
  const authenticator = createBearerAuthenticator([verifier], { anonymous: true })
  t.teardown(async () => await authenticator.close())
  const principal = await authenticator.authenticate(`Bearer ${token}`)
  t.ok(await authenticator.isStillValid(principal))
  t.ok(await authenticator.isStillValid(ANONYMOUS))
  const change = async (text: string, isValid: boolean) => {
    await writeFile(file, text)
    await until(async () => await authenticator.isStillValid(principal) === isValid, text)
  }
  await change(entry.replace('"books:write"', '"other"'), false)
  await change(entry.replace('"books:write"', '"books:write","other"'), true)
  await change(entry.replace('"ada"', '"bob"'), false)
  await change(entry, true)
  await change('', false)
})
