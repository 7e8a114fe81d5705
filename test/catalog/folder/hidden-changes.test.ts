// A reload changes what callers may not see: they do not hear of it.

import t, { type Test } from 'tap'
import { buildApp, listen } from '../../helpers/app.ts'
import { writeByRename, writeCatalog } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { send } from '../../helpers/request.ts'
import { openSession } from '../../helpers/session.ts'
import { openStream, type AnswerStream } from '../../helpers/stream.ts'
import { authenticator, moduleOf } from '../compiled/scoped-catalog.ts'

const DEADLINE_MS = 20_000
const tool = (name: string, options = '') => `defineTool({ name: '${name}', ${options}run: () => '' })`
const toolsOf = (...tools: string[]) => moduleOf(`export const touch = defineTool({
  name: 'touch', inputSchema: { type: 'object', properties: { uri: { type: 'string' } } },
  run: ({ uri }, ctx) => { ctx.notify.resourceUpdated(uri); return '' }
})\nexport default [${tools.join()}]`)
const resourcesOf = (options: string) => moduleOf(`export default [
  defineResource({ uri: 'doc://open', name: 'open', read: () => '' }),
  defineResource({ uri: 'doc://late', name: 'late', ${options}read: () => '' })
]`)

async function subscribe (t: Test, url: string, authorization: string): Promise<AnswerStream> {
  const resourceSubscriptions = ['doc://open', 'doc://late']
  const notifications = { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions }
  const stream = await openStream(t, url, {
    method: 'subscriptions/listen', params: { notifications }, headers: { authorization }
  })
  t.match(await stream.next(), { params: { notifications } })
  return stream
}

t.test('callers hear only of changes that they see, in both eras (107, 162, 198)', async (t) => {
  const root = await writeCatalog(t, {
    'tools/all.ts': toolsOf(tool('open')), 'resources/all.resource.ts': resourcesOf('')
  })
  const app = await buildApp(t, {}, { authenticator, catalog: root, watch: 'on' })
  const url = await listen(app)
  const [stranger, holder] = [await subscribe(t, url, 'other'), await subscribe(t, url, 'a')]
  const session = await openSession(t, url, { headers: { authorization: 'other' } })
  await session.request('resources/subscribe', { uri: 'doc://late' })
  const sessionStream = await session.get()
  const heard = ({ messages }: Pick<AnswerStream, 'messages'>) => messages.map(
    ({ method, params }) => params?.uri ?? method
  ).filter((one) => !one.includes('acknowledged'))
  const touch = async (uri: string) => {
    await send(app, { method: 'tools/call', params: { name: 'touch', arguments: { uri } } })
  }
  const untilHeard = async (stream: Pick<AnswerStream, 'messages'>, count: number) => {
    await until(() => heard(stream).length >= count, `${count} notifications`, DEADLINE_MS)
  }

  await writeByRename(root, 'tools/all.ts', toolsOf(tool('open'), tool('hidden', "scopes: ['a'], ")))
  await untilHeard(holder, 1)
  await writeByRename(root, 'resources/all.resource.ts', resourcesOf("scopes: ['a'], "))
  await untilHeard(holder, 2)
  await untilHeard(stranger, 1)
  for (const uri of ['doc://late', 'doc://open']) await touch(uri)
  await writeByRename(root, 'tools/all.ts', toolsOf(tool('open', "title: 'Open', ")))
  await untilHeard(holder, 5)
  await untilHeard(stranger, 3)
  await untilHeard(sessionStream, 2)
  const [tools, resources] = ['tools', 'resources'].map((list) => `notifications/${list}/list_changed`)
  t.strictSame(heard(holder), [tools, resources, 'doc://late', 'doc://open', tools])
  t.strictSame(heard(stranger), [resources, 'doc://open', tools], 'a resource that disappeared is a change')
  t.strictSame(heard(sessionStream), [resources, tools])
})

t.test('the log says what callers without scopes do not see, and what they do not use', async (t) => {
  const log = createReadableLog('info')
  await buildApp(t, {
    'tools/all.ts': moduleOf(`export default [
      ${tool('a', "scopes: ['x'], ")}, ${tool('b', "scopes: ['x'], whenMissing: 'challenge', ")}, ${tool('c')}
    ]`)
  }, { logger: log.logger })
  const namesIn = (start: string) => log.lines.filter(({ msg }) => msg.startsWith(start)).map(
    ({ names }) => names
  )
  t.strictSame(namesIn('offered only to callers'), [['a']])
  t.strictSame(namesIn('offered to all callers'), [['b']])
})
