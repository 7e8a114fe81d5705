// Starts of the built service that are interrupted or fail: all that is open is closed.

import { readdir, readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { toolModule, writeCatalog } from './helpers/catalog-folder.ts'
import { within } from './helpers/deadline.ts'
import { startFakeRedis } from './helpers/fake-redis.ts'
import { makeFolder } from './helpers/folder.ts'
import type { Message } from './helpers/request.ts'
import { launch, runService, startService } from './helpers/service.ts'

const SECRETS = 'a secret of at least thirty-two characters'
/** Shorter than the deadlines of modules and of dependencies. */
const SOON_MS = 8000

t.test('SIGTERM closes what is open while a module hangs at its top level', async (t) => {
  const state = { TRIVET_STATE_URL: `file:${await makeFolder(t)}` }
  const catalog = await writeCatalog(t, {
    'tools/a.ts': "process.kill(process.pid, 'SIGTERM')\nsetInterval(() => {}, 1000)\n" +
      `await new Promise(() => {})\n${toolModule('a')}`
  })
  const { code, stdout, stderr } = await within(
    runService({ TRIVET_CATALOG: catalog, ...state }), 'the exit', SOON_MS
  )
  t.equal(code, 0)
  t.equal(stderr, '')
  t.notMatch(stdout, /serves/)
  const next = await startService(t, { TRIVET_CATALOG: await writeCatalog(t, {}), ...state })
  t.equal(await next.stop(), 0, 'another process can open the state')
})

t.test('SIGTERM closes dependencies that are open while another one is being opened', async (t) => {
  const events = join(await makeFolder(t), 'events')
  const note = (text: string) => `appendFileSync(${JSON.stringify(events)}, ${JSON.stringify(`${text}\n`)})`
  const catalog = await writeCatalog(t, {
    'lib/dependencies.ts': `import { appendFileSync } from 'node:fs'
      import { setTimeout as pause } from 'node:timers/promises'
      import { defineDependency } from 'trivet'
      export const orders = defineDependency({
        name: 'orders',
        open: () => { ${note('open orders')}; return {} },
        close: async () => { await pause(50); ${note('close orders')} }
      })
      export const books = defineDependency({
        name: 'books',
        async open () {
          await pause(50)
          process.kill(process.pid, 'SIGTERM')
          await pause(100)
          ${note('open books')}
          return {}
        },
        close: () => { ${note('close books')} }
      })\n`,
    'tools/a.ts': `import '../lib/dependencies.ts'\n${toolModule('a')}`
  })
  const { code } = await within(runService({ TRIVET_CATALOG: catalog }), 'the exit', SOON_MS)
  t.equal(code, 0)
  t.match(await readFile(events, 'utf8'), /^open orders\n(?:.*\n)*close orders\n/)
})

t.test('SIGTERM ends a start that waits for a Redis without answers', async (t) => {
  let connected = () => {}
  const connection = new Promise<void>((resolve) => { connected = resolve })
  const sockets = new Set<Socket>()
  const url = await startFakeRedis(t, (socket) => {
    sockets.add(socket.on('error', () => {}))
    connected()
  })
  t.teardown(() => { for (const socket of sockets) socket.destroy() })
  const { child, exited, stdout, stderr } = launch({
    TRIVET_CATALOG: await writeCatalog(t, {}), TRIVET_STATE_URL: url, TRIVET_SECRETS: SECRETS
  })
  t.teardown(() => { child.kill('SIGKILL') })
  await connection
  const begun = performance.now()
  child.kill('SIGTERM')
  t.equal(await within(exited, 'the exit', SOON_MS), 0)
  t.ok(performance.now() - begun < 4000, 'it does not wait for the deadline of Redis')
  t.equal(stderr(), '')
  t.notMatch(stdout(), /serves/)
})

t.test('a failed start is one record of level 60 with its problems, and leaves no folder', async (t) => {
  const folder = await makeFolder(t)
  const state = join(folder, 'trivet', 'data')
  const broken = await writeCatalog(t, { 'tools/a.ts': 'export default 1 +\n', 'tools/b.ts': '+\n' })
  const cases = [
    { environment: { TRIVET_CATALOG: broken, TRIVET_STATE_URL: `file:${state}` }, count: 2 },
    { environment: { TRIVET_CATALOG: broken, PORT: 'abc', TRIVET_WATCH: 'x' }, count: 2 },
    {
      environment: {
        TRIVET_CATALOG: await writeCatalog(t, {}),
        TRIVET_STATE_URL: `file:${state}`,
        TRIVET_AUTH: 'tokens',
        TRIVET_AUTH_TOKENS: await makeFolder(t)
      },
      count: 1
    }
  ]
  for (const { environment, count } of cases) {
    for (const args of [[], ['serve']]) {
      const { code, stdout, stderr } = await runService(environment, { args })
      t.equal(code, 1)
      const records = stdout.trim().split('\n').map((line): Message => JSON.parse(line))
      t.match(records, [{ level: 60, msg: 'the service has not started' }])
      t.equal(records[0]?.problems.length, count)
      t.match(stderr, /^The (?:catalog does not load|settings are not usable):\n {2}/)
    }
  }
  t.strictSame(await readdir(folder), [])
})
