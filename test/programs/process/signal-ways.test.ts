// The ways in which signals reach a service that is at work: its call gets its answer in each of them.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { until, within } from '../../helpers/deadline.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { post } from '../../helpers/stream.ts'
import { hasRedisServer, startRedisServer } from '../../servers/redis-server.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const LAUNCH = join(ROOT, 'dist/launch.js')
const DEADLINE_MS = 30_000

interface Way {
  readonly name: string
  /** What is started in a group of its own. */
  readonly command: (folder: string) => readonly [string, ...string[]]
  readonly program?: string
  /** More of the environment. `undefined` if a server is missing. */
  readonly environment?: (t: Test) => Promise<Record<string, string>> | undefined
  stop (child: ChildProcess): void
}

const node = () => [process.execPath, LAUNCH, 'serve'] as const
const dev = () => [process.execPath, LAUNCH, 'dev'] as const
const withWorkers = (t: Test) => hasRedisServer(t)
  ? startRedisServer(t).then(({ url }) => (
    { TRIVET_WORKERS: '2', TRIVET_STATE_URL: url, TRIVET_SECRETS: 's'.repeat(32) }
  ))
  : undefined
const npmStart = () => ['npm', 'start', '--silent'] as const
const npx = () => ['npx', '--no-install', 'trivet', 'serve'] as const
const inShell = () => ['/bin/sh', '-c', `"${process.execPath}" "${LAUNCH}" serve; true`] as const
const toChild = (signal: NodeJS.Signals) => (child: ChildProcess) => { child.kill(signal) }
const toGroup = (signal: NodeJS.Signals) => ({ pid = 0 }: ChildProcess) => { process.kill(-pid, signal) }
/** As npm does after a signal to the group, and as a supervisor that repeats itself. */
const twice = (stop: Way['stop']) => (child: ChildProcess) => {
  stop(child)
  setTimeout(() => { stop(child) }, 50)
}

const WAYS = (['SIGTERM', 'SIGINT'] as const).flatMap((signal): Way[] => [
  { name: `${signal} to the process`, command: node, stop: toChild(signal) },
  { name: `${signal} to the process, twice at once`, command: node, stop: twice(toChild(signal)) },
  { name: `${signal} to the group, as systemd and terminals do`, command: node, stop: toGroup(signal) },
  { name: `${signal} to the group of npm start`, command: npmStart, stop: toGroup(signal) },
  {
    name: `${signal} to the group of npm start, twice at once`,
    command: npmStart,
    stop: twice(toGroup(signal))
  },
  { name: `${signal} to dev`, command: dev, stop: toChild(signal) },
  { name: `${signal} to the group of dev`, command: dev, stop: toGroup(signal) },
  { name: `${signal} to two workers`, command: node, stop: toChild(signal), environment: withWorkers },
  {
    name: `${signal} to the group of two workers`,
    command: node,
    stop: toGroup(signal),
    environment: withWorkers
  },
  { name: `${signal} to npm`, command: npmStart, stop: toChild(signal) },
  { name: `${signal} to the group of npx`, command: npx, stop: toGroup(signal) },
  { name: `${signal} to npx`, command: npx, stop: toChild(signal) },
  { name: `${signal} to the group of a shell`, command: inShell, stop: toGroup(signal) },
  {
    name: `timeout passes ${signal} on to its group`,
    command: () => ['timeout', '600', ...node()],
    stop: toChild(signal)
  },
  {
    name: `docker's init passes ${signal} on to its child`,
    program: 'tini',
    command: () => ['tini', '-s', '--', ...node()],
    stop: toChild(signal)
  },
  {
    name: `docker's init passes ${signal} on to the group`,
    program: 'tini',
    command: () => ['tini', '-s', '-g', '--', ...node()],
    stop: toChild(signal)
  },
  {
    name: `dumb-init passes ${signal} on`,
    program: 'dumb-init',
    command: () => ['dumb-init', ...node()],
    stop: toChild(signal)
  }
])

async function makePackage (t: Test): Promise<string> {
  const folder = await makeFolder(t)
  await mkdir(join(folder, 'node_modules/.bin'), { recursive: true })
  await symlink(LAUNCH, join(folder, 'node_modules/.bin/trivet'))
  await writeFile(join(folder, 'package.json'), JSON.stringify({
    name: 'service', version: '1.0.0', scripts: { start: 'trivet serve' }
  }))
  return folder
}

async function checkWay (t: Test, { name, command, stop, environment }: Way): Promise<void> {
  const more = environment === undefined ? {} : await environment(t)
  if (more === undefined) return
  const folder = await makePackage(t)
  const catalog = await writeCatalog(t, {
    'tools/slow.ts': `import { setTimeout } from 'node:timers/promises'
      ${toolModule('slow', '', `async (_, ctx) => {
        ctx.log.info('begun')
        await setTimeout(2000)
        return 'done'
      }`)}`
  })
  const [program, ...args] = command(folder)
  const child = spawn(program, args, {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      PORT: '0',
      TRIVET_CATALOG: catalog,
      TRIVET_STATE_URL: 'memory:',
      TRIVET_OVERLOAD: 'off',
      ...more
    }
  })
  t.teardown(() => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    } catch {
      // The group has ended.
    }
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => { output += String(bytes) })
  // All processes have it: the service may outlive what started it.
  const closed = once(child.stdout, 'close')
  const urlIn = () => /http:\/\/[^\s"]+/.exec(output)?.[0]
  await until(() => urlIn() !== undefined, `the start: ${name}`, DEADLINE_MS)
  const call = post(t, urlIn() ?? '', { method: 'tools/call', params: { name: 'slow' } }).then(
    ({ response }) => response.result?.content[0].text, String
  )
  await until(() => output.includes('begun'), 'the call', DEADLINE_MS)
  stop(child)
  t.equal(await within(call, 'the answer', DEADLINE_MS), 'done', name)
  await within(closed, `the end: ${name}`, DEADLINE_MS)
  t.notMatch(output, 'exiting', name)
}

// Most of the time they wait for the call that runs.
t.jobs = 4

/** npm leaves SIGINT to the terminal, which sends it to the whole group: alone, it reaches nobody else. */
const TO_NPM_ALONE = new Set(['SIGINT to npm', 'SIGINT to npx'])

for (const way of WAYS.filter(({ name }) => !TO_NPM_ALONE.has(name))) {
  t.test(way.name, { timeout: 90_000 }, async (t) => {
    if (way.program !== undefined && spawnSync(way.program, ['--version']).error !== undefined) {
      t.pass(`SKIPPED: ${way.program} is missing`)
      return
    }
    await checkWay(t, way)
  })
}
