import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createBearerAuthenticator } from '../../../src/platform/access/bearer-authenticator.ts'
import { createStaticToken, type NewStaticToken } from '../../../src/platform/access/static-token-file.ts'
import { openStaticTokens } from '../../../src/platform/access/static-tokens.ts'
import { until } from '../../helpers/deadline.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { createReadableLog } from '../../helpers/log.ts'

const INVALID = { name: 'AuthenticationError', code: 'invalid_token' }
const EXPIRES = new Date('2100-01-01T00:00:00Z')

const make = (change: Partial<NewStaticToken> = {}) => createStaticToken({
  subject: 'ada', scopes: ['books:read'], expiresAt: EXPIRES, ...change
})

async function open (t: Test, text: string, now = Date.now, pollMs = 50) {
  const file = join(await makeFolder(t), 'tokens.yaml')
  await writeFile(file, text)
  const log = createReadableLog()
  const verifier = await openStaticTokens(file, log.logger, { now, pollMs })
  t.teardown(async () => await verifier.close())
  return { file, log, verifier }
}

const worksAt = async (verifier: { verify (token: string): Promise<unknown> }, token: string) => {
  return await verifier.verify(token).then(() => true, () => false)
}

t.test('a token of the file has a subject, scopes and an expiry', async (t) => {
  const [first, second] = [make(), make({ subject: '0042', scopes: [], clientId: 'ci' })]
  const { verifier } = await open(t, `# Ours\n${first.entry}\n${second.entry}\n`)
  const { subject, clientId, scopes, expiresAt } = await verifier.verify(first.token)
  t.strictSame([subject, clientId, [...scopes]], ['ada', undefined, ['books:read']])
  t.equal(expiresAt, EXPIRES.getTime())
  t.match(await verifier.verify(second.token), { subject: '0042', clientId: 'ci' })
})

t.test('a token has 256 random bits, and its line does not contain it (273)', async (t) => {
  const tokens = Array.from({ length: 100 }, () => make())
  t.equal(new Set(tokens.map(({ token }) => token)).size, 100)
  for (const { token, entry } of tokens) {
    t.match(token, /^trv_[\w-]{43}$/)
    t.equal(Buffer.from(token.slice(4), 'base64url').length, 32)
    t.notOk(entry.includes(token.slice(4)))
    t.notOk(entry.includes('\n'))
  }
})

t.test('the file may be written by hand', async (t) => {
  const sha256 = createHash('sha256').update('trv_by-hand').digest('hex')
  for (const expiresAt of ['2100-01-01', '2100-01-01T10:00Z', '"2100-01-01T10:00:00.5+02:00"']) {
    const { verifier } = await open(t, `
- sha256: ${sha256}
  subject: ada
  scopes:
    - books:read
  expiresAt: ${expiresAt}
`)
    t.equal((await verifier.verify('trv_by-hand')).subject, 'ada')
  }
})

t.test('a token with the prefix is valid or refused; others are left to other verifiers', async (t) => {
  const { token, entry } = make()
  const { verifier } = await open(t, entry)
  for (const wrong of [make().token, `${token}x`, token.slice(0, -1), 'trv_', 'trv_abc']) {
    await t.rejects(verifier.verify(wrong), INVALID, wrong)
  }
  for (const other of [token.slice(4), 'opaque', 'a.b.c', `TRV_${token.slice(4)}`]) {
    await t.rejects(verifier.verify(other), { ...INVALID, name: 'TokenNotKnown' })
  }
})

t.test('a token expires to the millisecond (263)', async (t) => {
  let now = EXPIRES.getTime() - 1
  const { token, entry } = make()
  const { verifier } = await open(t, entry, () => now)
  t.ok(await worksAt(verifier, token))
  now += 1
  await t.rejects(verifier.verify(token), { ...INVALID, message: 'the static token has expired' })
})

t.test('a changed file counts, and a removed token stops working though it was used before', async (t) => {
  const [old, kept, added] = [make(), make(), make()]
  const { file, log, verifier } = await open(t, `${old.entry}\n${kept.entry}`)
  const authenticator = createBearerAuthenticator([verifier])
  const isAccepted = async (token: string) => {
    return await Promise.resolve(authenticator.authenticate(`Bearer ${token}`)).then(() => true, () => false)
  }
  t.ok(await isAccepted(old.token))
  await writeFile(file, `${kept.entry}\n${added.entry}`)
  await until(async () => await isAccepted(added.token), 'the added token')
  t.notOk(await isAccepted(old.token))
  t.ok(await isAccepted(kept.token))
  t.match(log.lines, [{ level: 30, msg: 'static tokens reloaded', tokens: 2 }])
})

t.test('the swap of the link of a mounted Secret counts', async (t) => {
  const folder = await makeFolder(t)
  const [old, added] = [make(), make()]
  for (const [name, { entry }] of [['..1', old], ['..2', added]] as const) {
    await mkdir(join(folder, name))
    await writeFile(join(folder, name, 'tokens.yaml'), entry)
  }
  await symlink('..1', join(folder, '..data'))
  await symlink('..data/tokens.yaml', join(folder, 'tokens.yaml'))
  const verifier = await openStaticTokens(join(folder, 'tokens.yaml'), createReadableLog().logger)
  t.teardown(async () => await verifier.close())
  t.ok(await worksAt(verifier, old.token))
  await symlink('..2', join(folder, '..next'))
  await rename(join(folder, '..next'), join(folder, '..data'))
  await until(async () => await worksAt(verifier, added.token), 'the added token')
  t.notOk(await worksAt(verifier, old.token))
})

t.test('a line that was deleted is taken back, though another line has a mistake', async (t) => {
  const [kept, broken, gone, added] = [make(), make(), make(), make()]
  const all = [kept, broken, gone].map(({ entry }) => entry).join('\n')
  const spoil = (entry: string) => entry.replace('"subject"', '"subjekt"')
  for (const [text, works] of [
    [`${kept.entry}\n${spoil(broken.entry)}\n# ${gone.entry}\n${added.entry}`, [true, true, false, true]],
    [`${kept.entry}\n${broken.entry}\n${broken.entry}`, [true, true, false, false]],
    [`${kept.entry}\n${broken.entry}\n- {a\n# ${gone.entry}\n${added.entry}`, [true, true, false, false]],
    [`tokens:\n${kept.entry}`, [true, false, false, false]]
  ] as const) {
    const { file, log, verifier } = await open(t, all)
    await writeFile(file, text)
    await until(() => log.lines.some(({ level }) => level === 50), 'a line of the log')
    const tokens = [kept, broken, gone, added].map(async ({ token }) => await worksAt(verifier, token))
    t.strictSame(await Promise.all(tokens), works, text)
    t.match(verifier.state.problem, /^(?:line \d|the file is not a list)/)
    await writeFile(file, added.entry)
    await until(() => verifier.state.problem === undefined, 'the mended file')
    t.strictSame(verifier.state, { tokens: 1 })
    t.ok(await worksAt(verifier, added.token))
    t.notOk(await worksAt(verifier, kept.token))
    t.equal(log.lines.filter(({ level }) => level === 50).length, 1)
  }
})

t.test('while the file is missing nobody knows which tokens count, and the log says so once', async (t) => {
  const { token, entry } = make()
  const { file, log, verifier } = await open(t, entry)
  const errors = () => log.lines.filter(({ level }) => level === 50)
  await rm(file)
  await until(() => errors().length === 1, 'a line of the log')
  await t.rejects(verifier.verify(token), { name: 'AuthenticationUnavailable' })
  await t.rejects(verifier.verify('other'), { name: 'TokenNotKnown' })
  t.match(verifier.state, { tokens: undefined, problem: /ENOENT/ })
  await writeFile(file, entry)
  await until(async () => await worksAt(verifier, token), 'the token')
  t.strictSame([verifier.state, errors().length], [{ tokens: 1 }, 1])
})

t.test('a named pipe in place of the file is not waited for', async (t) => {
  const token = make()
  const { file, log, verifier } = await open(t, token.entry)
  await rm(file)
  execFileSync('mkfifo', [file])
  await until(() => verifier.state.tokens === undefined, 'the end of the tokens')
  await t.rejects(verifier.verify(token.token), { name: 'AuthenticationUnavailable' })
  t.match(log.lines, [{ msg: 'static tokens are unavailable: their file cannot be read' }])
  await rm(file)
  await writeFile(file, token.entry)
  await until(async () => await worksAt(verifier, token.token), 'the token')
})

t.test('a file that never rests counts all the same', async (t) => {
  const [old, added] = [make(), make()]
  const { file, verifier } = await open(t, old.entry, Date.now, 60)
  for (let writes = 0; await worksAt(verifier, old.token); writes++) {
    // By a rename: a check may otherwise read the file while it is empty.
    await writeFile(`${file}.new`, `${added.entry}\n# ${writes}`)
    await rename(`${file}.new`, file)
  }
  t.ok(await worksAt(verifier, added.token))
})

t.test('a token that is taken back during constant changes stops working when the file rests', async (t) => {
  for (const isBackAtFirst of [false, true]) {
    const folder = await makeFolder(t)
    const [kept, gone] = [make(), make()]
    async function swap (name: string, entries: readonly string[]): Promise<void> {
      await mkdir(join(folder, name), { recursive: true })
      if (entries.length > 0) await writeFile(join(folder, name, 'tokens.yaml'), entries.join('\n'))
      await symlink(name, join(folder, '..next'))
      await rename(join(folder, '..next'), join(folder, '..data'))
    }
    await swap('..0', [kept.entry])
    const file = join(folder, '..data', 'tokens.yaml')
    const verifier = await openStaticTokens(file, createReadableLog().logger, { pollMs: 60 })
    t.teardown(async () => await verifier.close())
    // Each look of the verifier finds another file, until it takes the tokens of two.
    for (let swaps = 1; !(await worksAt(verifier, gone.token)); swaps++) {
      await swap(`..${swaps}`, [kept.entry, gone.entry])
    }
    if (isBackAtFirst) await swap('..0', [])
    else await swap('..last', [kept.entry])
    await until(async () => !(await worksAt(verifier, gone.token)), 'the end of the token')
    t.ok(await worksAt(verifier, kept.token))
  }
})

t.test('tokens of before an outage of the file do not count while the new file changes', async (t) => {
  const [kept, gone] = [make(), make()]
  const { file, log, verifier } = await open(t, `${kept.entry}\n${gone.entry}`, Date.now, 60)
  await rm(file)
  await until(() => log.lines.some(({ level }) => level === 50), 'a line of the log')
  for (let writes = 0; !(await worksAt(verifier, kept.token)); writes++) {
    await writeFile(`${file}.new`, `${kept.entry}\n# ${writes}`)
    await rename(`${file}.new`, file)
  }
  t.notOk(await worksAt(verifier, gone.token))
})

t.test('a file that cannot be read at first is refused, and nothing of it is shown (273)', async (t) => {
  const hash = 'a'.repeat(64)
  const line = (change: object) => JSON.stringify([
    { sha256: hash, subject: 'secret', scopes: [], expiresAt: '2100-01-01', ...change }
  ])
  for (const [text, message] of [
    ['- {secret', /^line 1 is not YAML: a bracket is not closed, or the indentation is wrong$/],
    ['- "secret', /^line 1 is not YAML: a quote, a comma or a space is missing$/],
    ['- a: 1\n  a: 2', /^line 2 is not YAML: it has a field twice$/],
    ['- "secret\\q"', /^line 1 is not YAML$/],
    ['secret: 1', /not a list/],
    ['- secret', /^line 1 is not a map of fields$/],
    ['[]\n---\n- secret', /^line 2 is not YAML: the file has a second document$/],
    [`- &a {sha256: ${hash}, subject: a, scopes: [], expiresAt: 2100-01-01}\n- *a`, /^line 2 is not a map/],
    [`# One\n- {sha256: ${hash}, subject: ada, scopes: []}`, /^line 2: expiresAt must be/],
    [line({ sha256: 'secret' }), /^line 1: sha256/],
    [line({ sha256: hash.toUpperCase() }), /^line 1: sha256/],
    [line({ subject: '' }), /^line 1: subject/],
    [line({ subject: ['secret'] }), /^line 1: subject/],
    [line({ scopes: 'secret' }), /^line 1: scopes/],
    [line({ scopes: [['secret']] }), /^line 1: each of the scopes/],
    [line({ clientId: '' }), /^line 1: clientId/],
    [line({ expiresAt: '1 January 2100' }), /^line 1: expiresAt/],
    [line({ expiresAt: '2100-13-01' }), /^line 1: expiresAt is a day/],
    [line({ expiresAt: '2100-02-29' }), /^line 1: expiresAt is a day/],
    [line({ expiresAt: '2100-02-31T10:00Z' }), /^line 1: expiresAt is a day/],
    [line({ expiresAt: '2100-04-31T10:00+02:00' }), /^line 1: expiresAt is a day/],
    [line({ expires: 'secret' }), /^line 1 has a field that is none of/],
    [`- {sha256: ${hash}, subject: a, scopes: [], expiresAt: 2100-01-01}\n`.repeat(2), /^line 2 has the same/]
  ] as const) {
    const error = await open(t, text).catch((error: unknown) => error)
    t.match(error, { name: 'Error', message }, text)
    t.notMatch(String(error), /secret|aaaa/)
  }
  await t.rejects(openStaticTokens(join(await makeFolder(t), 'none'), createReadableLog().logger), /ENOENT/)
})

t.test('an empty file has no tokens', async (t) => {
  for (const text of ['', '# None\n', '[]']) {
    const { verifier } = await open(t, text)
    await t.rejects(verifier.verify(make().token), INVALID)
  }
})
