// Skills while the service runs: what clients hear of a change, and what they get afterwards.

import t from 'tap'
import { buildApp, listen } from '../../helpers/app.ts'
import { writeByRename, writeCatalog, writeInPlace } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { send, type Message } from '../../helpers/request.ts'
import { openStream } from '../../helpers/stream.ts'
import { authenticator } from '../compiled/guarded-catalog.ts'

const DEADLINE_MS = 20_000
const LIST_CHANGED = 'notifications/resources/list_changed'
const main = (name: string, text = 'Steps.', metadata = '') =>
  `---\nname: ${name}\ndescription: D.\n${metadata}---\n${text}\n`
const STAFF = 'metadata:\n  trivet/scopes: staff\n'

t.test('a change of a skill is served, and told to those who see the skill', async (t) => {
  const root = await writeCatalog(t, {
    'skills/open/SKILL.md': main('open'),
    'skills/open/references/a.md': 'a',
    'skills/secret/SKILL.md': main('secret', '', STAFF)
  })
  const app = await buildApp(t, {}, { authenticator, catalog: root, watch: 'on' })
  const url = await listen(app)
  const resourceSubscriptions = ['skill://open/references', 'skill://secret/SKILL.md']
  const subscribe = async (authorization: string) => await openStream(t, url, {
    method: 'subscriptions/listen',
    params: { notifications: { resourcesListChanged: true, resourceSubscriptions } },
    headers: { authorization }
  })
  const [stranger, staff] = [await subscribe('other'), await subscribe('staff')]
  const heard = ({ messages }: { readonly messages: readonly Message[] }) => messages.map(
    ({ method, params }) => params?.uri ?? method
  ).filter((one) => !one.includes('acknowledged'))
  const untilHeard = async (stream: typeof staff, count: number) =>
    await until(() => heard(stream).length >= count, `${count} notifications`, DEADLINE_MS)
  const digestOf = async (uri: string) => {
    const { result } = (await send(app, { method: 'skills/get', params: { uri: 'skill://open/SKILL.md' } })).response
    return result.skill.resources.find((one: Message) => one.uri === uri)?.digest
  }

  const before = await digestOf('skill://open/references/a.md')
  await writeByRename(root, 'skills/open/references/a.md', 'b')
  await untilHeard(staff, 2)
  await untilHeard(stranger, 2)
  t.not(await digestOf('skill://open/references/a.md'), before, 'the size is the same, the digest is not')
  await writeByRename(root, 'skills/secret/SKILL.md', main('secret', 'Other steps.', STAFF))
  await untilHeard(staff, 4)
  await writeInPlace(root, 'skills/open/references/new.md', 'n')
  await untilHeard(staff, 6)
  await untilHeard(stranger, 4)
  t.match(await digestOf('skill://open/references/new.md'), /^sha256:/)

  const open = [LIST_CHANGED, 'skill://open/references/a.md']
  const added = [LIST_CHANGED, 'skill://open/references/new.md']
  t.strictSame(heard(stranger), [...open, ...added])
  t.strictSame(heard(staff), [...open, LIST_CHANGED, 'skill://secret/SKILL.md', ...added])
})

t.test('the first skill makes the service declare them, and a broken one is left out', async (t) => {
  const root = await writeCatalog(t, { 'server.yaml': 'name: s' })
  const log = createReadableLog('warn')
  const app = await buildApp(t, {}, { catalog: root, watch: 'on', logger: log.logger })
  const isDeclared = async () =>
    'extensions' in (await send(app, { method: 'server/discover' })).response.result.capabilities
  const uris = async (): Promise<string> => {
    const { response } = await send(app, { method: 'skills/list' })
    return (response.result?.skills ?? []).map(({ uri }: Message) => uri).join(' ')
  }
  const untilServed = async (expected: string) =>
    await until(async () => await uris() === expected, expected, DEADLINE_MS)
  t.notOk(await isDeclared())
  await writeInPlace(root, 'skills/a/SKILL.md', main('a'))
  await until(isDeclared, 'the declaration', DEADLINE_MS)
  await writeInPlace(root, 'skills/a/SKILL.md', main('b'))
  await writeInPlace(root, 'skills/c/SKILL.md', main('c'))
  await untilServed('skill://c/SKILL.md')
  t.match(log.lines.findLast(({ msg }) => msg === 'skills with problems are left out'), {
    level: 40, problems: [{ file: 'skills/a/SKILL.md', place: 'name', rule: /name of the folder/ }]
  })
  const told = log.lines.length
  await writeInPlace(root, 'skills/d/SKILL.md', main('d'))
  await untilServed('skill://c/SKILL.md skill://d/SKILL.md')
  t.equal(log.lines.length, told, 'the same problems are logged once')
  await writeInPlace(root, 'skills/a/SKILL.md', main('a'))
  await untilServed('skill://a/SKILL.md skill://c/SKILL.md skill://d/SKILL.md')
})

t.test('with "guard: refuse" a skill that breaks keeps the catalog from before', async (t) => {
  const root = await writeCatalog(t, { 'server.yaml': 'guard: refuse', 'skills/a/SKILL.md': main('a') })
  const log = createReadableLog('warn')
  const app = await buildApp(t, {}, { catalog: root, watch: 'on', logger: log.logger })
  await writeInPlace(root, 'skills/a/SKILL.md', main('b'))
  const isRefused = () => log.lines.some(({ msg }) => /^catalog not reloaded/.test(msg))
  await until(isRefused, 'the refusal', DEADLINE_MS)
  t.match(log.lines.find(({ problems }) => problems?.length > 1), {
    problems: [{ rule: /breaks clients: skill .*a\/SKILL.md is gone/ }, { place: 'guard' }]
  })
  const { skills } = (await send(app, { method: 'skills/list' })).response.result
  t.strictSame(skills.map(({ uri }: Message) => uri), ['skill://a/SKILL.md'])
})

t.test('the version of the catalog changes with a skill, and with who sees it', async (t) => {
  const versionOf = async (text: string) => {
    const app = await buildApp(t, { 'server.yaml': 'name: s', 'skills/a/SKILL.md': text })
    return (await send(app, { method: 'server/discover' })).response.result._meta['dev.trivet/catalogVersion']
  }
  const versions = [main('a'), main('a', 'Other.'), main('a', 'Steps.', STAFF)].map(versionOf)
  t.equal(new Set(await Promise.all(versions)).size, 3)
  t.equal(await versionOf(main('a')), await versions[0])
})
