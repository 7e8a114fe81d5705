// Paths of the catalog folder that cannot be read.

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, symlink } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { toolModule, writeCatalog, writeInPlace } from '../../helpers/catalog-folder.ts'
import { until, within } from '../../helpers/deadline.ts'
import { loadSnapshot } from '../../helpers/load-catalog.ts'
import { runService, startService } from '../../helpers/service.ts'
import { post } from '../../helpers/stream.ts'
import { keysOf } from './definition-modules.ts'

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url))
/** A user who may not read folders without permissions. Root may. */
const USER = process.getuid?.() === 0 ? 65_534 : undefined

for (const watch of ['on', 'poll', 'off']) {
  t.test(`a link to itself is a problem, and no crash (${watch})`, async (t) => {
    const root = await writeCatalog(t, { 'tools/a.ts': toolModule('a'), 'prompts/p.md': 'P' })
    await symlink('loop', join(root, 'tools/loop'))
    await mkdir(join(root, 'resources'))
    await symlink('self.txt', join(root, 'resources/self.txt'))
    const { code, stderr } = await runService({ TRIVET_CATALOG: root, TRIVET_WATCH: watch })
    t.equal(code, 1)
    for (const path of ['tools/loop', 'resources/self.txt']) {
      t.match(stderr, `\n  ${path}: cannot be read: ELOOP: `)
    }
    t.notMatch(stderr, /\n\s+at /)
  })

  t.test(`a folder without permissions is a problem, lost+found is skipped (${watch})`, async (t) => {
    const root = await writeCatalog(t, { 'tools/a.ts': toolModule('a'), 'resources/a.txt': 'a' })
    await chmod(root, 0o755)
    const closed = ['lost+found', 'resources/lost+found', 'data']
    for (const path of closed) {
      await mkdir(join(root, path))
      await chmod(join(root, path), 0)
    }
    const service = await startService(t, { TRIVET_CATALOG: root, TRIVET_WATCH: watch }, { uid: USER })
    t.match(service.stdout(), /serves 1 tool, 0 prompts, 1 resource and/)
    t.equal(service.stderr(), '')
    await service.stop()
    await mkdir(join(root, 'resources/secret'))
    await chmod(join(root, 'resources/secret'), 0)
    const { code, stderr } = await runService({ TRIVET_CATALOG: root, TRIVET_WATCH: watch }, { uid: USER })
    t.equal(code, 1)
    t.match(stderr, /^The catalog does not load:\n {2}resources\/secret: cannot be read: EACCES: .*\n$/)
    for (const path of [...closed, 'resources/secret']) await chmod(join(root, path), 0o700)
  })

  t.test(`a catalog folder without permissions is a problem (${watch})`, async (t) => {
    const root = await writeCatalog(t, {})
    await chmod(root, 0)
    const { code, stderr } = await runService({ TRIVET_CATALOG: root, TRIVET_WATCH: watch }, { uid: USER })
    t.equal(code, 1)
    t.equal(stderr.split('\n')[1]?.startsWith(`  ${root}: cannot be read: EACCES: `), true, stderr)
    t.equal(stderr.trimEnd().split('\n').length, 2, stderr)
    await chmod(root, 0o700)
  })
}

t.test('a link to nothing is skipped', async (t) => {
  const root = await writeCatalog(t, { 'tools/a.ts': toolModule('a') })
  await symlink('nothing.ts', join(root, 'tools/b.ts'))
  t.strictSame(keysOf((await loadSnapshot(root)).primitives.tools), ['a'])
})

t.test('a named pipe in place of server.yaml is a problem, and is not waited for', async (t) => {
  const root = await writeCatalog(t, { 'tools/a.ts': toolModule('a') })
  execFileSync('mkfifo', [join(root, 'server.yaml')])
  const { code, stderr } = await within(runService({ TRIVET_CATALOG: root }), 'the exit', 30_000)
  t.equal(code, 1)
  t.match(stderr, '\n  server.yaml: expected a file, got a named pipe\n')
})

t.test('a reload without free descriptors is tried again', { timeout: 90_000 }, async (t) => {
  const root = await writeCatalog(t, { 'tools/a.ts': toolModule('a') })
  const limited = 'ulimit -n 80 && exec "$0" "$@"'
  const command = ['/bin/sh', '-c', limited, process.execPath, MAIN] as const
  const { url, stdout } = await startService(t, { TRIVET_CATALOG: root }, { command })
  const sockets = Array.from({ length: 100 }, () => connect(Number(new URL(url).port), '127.0.0.1'))
  for (const socket of sockets) socket.on('error', () => {})
  await Promise.all(sockets.map(async (socket) => await once(socket, 'connect')))
  await writeInPlace(root, 'tools/b.ts', toolModule('b'))
  await until(() => /not reloaded.*EMFILE|EMFILE.*not reloaded/.test(stdout()), 'the refusal', 20_000)
  for (const socket of sockets) socket.destroy()
  const isServed = async () => await post(t, url, { method: 'tools/call', params: { name: 'b' } }).then(
    ({ response }) => response.result !== undefined,
    // The service still closes connections.
    () => false
  )
  await until(isServed, 'the new tool', 20_000)
})
