// `ctx.notify.listChanged`, from a tool on one replica to the clients that listen.

import t, { type Test } from 'tap'
import { createApp } from '../../../src/app/app.ts'
import { listen } from '../../helpers/app.ts'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { send, type Message } from '../../helpers/request.ts'
import { openSession } from '../../helpers/session.ts'
import { openStream } from '../../helpers/stream.ts'

const TEMPLATE = `import { defineResourceTemplate } from 'trivet'
  globalThis.listedNotes ??= ['1']
  export default defineResourceTemplate({
    uriTemplate: 'note://{id}', name: 'notes', read: () => '',
    list: () => globalThis.listedNotes.map((id) => ({ name: id, variables: { id } }))
  })`

const FILES = {
  'tools/add.ts': toolModule('add', '', `(_, ctx) => {
    globalThis.listedNotes.push(String(globalThis.listedNotes.length + 1))
    ctx.notify.listChanged('resources')
    return 'added'
  }`),
  'resources/notes.resource.ts': TEMPLATE
}

const CHANGED = 'notifications/resources/list_changed'

async function openApp (t: Test) {
  const app = await createApp({ ...QUIET, catalog: await writeCatalog(t, FILES) })
  t.teardown(async () => await app.close())
  return { app, url: await listen(app) }
}

t.test('clients that listen are told, also where no file is watched (147, 162, 339)', async (t) => {
  const { app, url } = await openApp(t)
  const { capabilities } = (await send(app, { method: 'server/discover' })).response.result
  t.match(capabilities, { tools: { listChanged: undefined }, resources: { listChanged: true } })
  const session = await openSession(t, url)
  t.match(session.initialized.capabilities, { resources: { listChanged: true } })
  const asked = { toolsListChanged: true, resourcesListChanged: true }
  const stream = await openStream(t, url, {
    method: 'subscriptions/listen', id: 'a', params: { notifications: asked }
  })
  t.strictSame((await stream.next()).params.notifications, { resourcesListChanged: true })
  const sessionStream = await session.get()
  const listed = async (): Promise<number> =>
    (await send(app, { method: 'resources/list' })).response.result.resources.length
  const before = await listed()
  await send(app, { method: 'tools/call', params: { name: 'add' } })
  await until(async () => await listed() === before + 1, 'the list')
  t.match(await stream.next(), { method: CHANGED })
  const isTold = ({ method }: Message) => method === CHANGED
  await until(() => sessionStream.messages.some(isTold), 'the notification of the session')
  t.equal((await session.request('resources/list')).result.resources.length, before + 1)
})
