// Runs the steps of the Dockerfile without a container engine, which the machine may not have.

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual, promisify } from 'node:util'
import t from 'tap'
import { parse } from 'yaml'
import { until } from './helpers/deadline.ts'
import { makeFolder } from './helpers/folder.ts'

const run = promisify(execFile)
// The packages were just installed for this machine, so npm has them.
process.env.npm_config_prefer_offline = 'true'
process.env.npm_config_audit = 'false'
const root = fileURLToPath(new URL('../', import.meta.url))
const packages = join(root, 'node_modules')
const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8')

/** `.ci/run` does this step too, and takes half a minute of CPU for it. */
const INSTALL = 'npm ci --ignore-scripts'

interface Stage {
  readonly name: string
  readonly steps: ReadonlyArray<readonly [instruction: string, rest: string]>
}

function readStages (text: string): Stage[] {
  return text.split(/^(?=FROM )/m).filter((part) => part.startsWith('FROM ')).map((part) => {
    const [from = '', ...lines] = part.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    const steps = lines.map((line): readonly [string, string] => [
      line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)
    ])
    return { name: / AS (\S+)/.exec(from)?.[1] ?? 'final', steps }
  })
}

/** Whether the project has what the step would install: the same versions, without their scripts. */
async function isInstalled (): Promise<boolean> {
  const ci = await readFile(join(root, '.ci/run'), 'utf8')
  const [locked, installed] = [
    await readVersions('package-lock.json'), await readVersions('node_modules/.package-lock.json')
  ]
  return ci.includes(`\n${INSTALL} `) && isDeepStrictEqual(locked, installed)
}

/** Reads the versions of a lock, except those of packages that only other machines have. */
async function readVersions (lock: string): Promise<Map<string, string | undefined>> {
  const { packages } = JSON.parse(await readFile(join(root, lock), 'utf8'))
  const entries = Object.entries<{ readonly version?: string, readonly optional?: true }>(packages)
  return new Map(entries.flatMap(
    ([path, { version, optional }]) => path === '' || optional === true ? [] : [[path, version] as const]
  ))
}

/** Copies a file or a folder, by hard links where the file system has them. */
async function link (from: string, target: string): Promise<void> {
  await run('cp', ['-alT', from, target]).catch(async () => await run('cp', ['-aT', from, target]))
}

t.test('the steps of the Dockerfile build a service that starts, and whose health check passes', {
  timeout: 800_000
}, async (t) => {
  const work = await mkdtemp(join(tmpdir(), 'trivet-image-'))
  t.teardown(async () => await rm(work, { recursive: true, force: true }))
  const stages = readStages(dockerfile)
  t.strictSame(stages.map(({ name }) => name), ['build', 'dependencies', 'final'])
  const environment: { [variable: string]: string } = {}
  let command: string[] = []
  let healthCheck: string[] = []

  for (const { name, steps } of stages) {
    const stage = join(work, name)
    await mkdir(stage)
    for (const [instruction, rest] of steps) {
      if (instruction === 'COPY') await copy(rest, stage)
      else if (rest === INSTALL && await isInstalled()) await symlink(packages, join(stage, 'node_modules'))
      // Folders at the root of the image are not created here, and users of the image are missing.
      else if (rest.startsWith('mkdir /')) await mkdir(join(stage, '.compile-cache'))
      else if (rest.startsWith('chown ')) t.equal(rest, 'chown -R root:root .compile-cache')
      else if (instruction === 'RUN') {
        const step = rest.replace('/catalog', join(root, 'catalog'))
        await run('bash', ['-c', step], { cwd: stage, maxBuffer: 1e8 })
      } else if (instruction === 'ENV') {
        for (const pair of rest.split(' ')) {
          environment[pair.slice(0, pair.indexOf('='))] = pair.slice(pair.indexOf('=') + 1)
        }
      } else if (instruction === 'CMD') command = JSON.parse(rest)
      else if (instruction === 'HEALTHCHECK') healthCheck = JSON.parse(rest.slice(rest.indexOf('CMD ') + 4))
      else t.ok(['RUN', 'WORKDIR', 'USER', 'EXPOSE'].includes(instruction), instruction)
    }
  }

  async function copy (rest: string, stage: string): Promise<void> {
    const [, from, paths = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(rest) ?? []
    const sources = paths.split(' ')
    const target = sources.pop() ?? '.'
    for (const source of sources) {
      const isInto = target.endsWith('/') && sources.length > 0 && /\.\w+$/.test(source)
      const copied = join(stage, isInto ? join(target, source) : target)
      if (from === undefined) await cp(join(root, source), copied, { recursive: true })
      else await link(join(work, from, source.replace(/^\/app\//, '')), copied)
    }
  }

  t.strictSame(environment.HOST, '0.0.0.0')
  t.match(steps('final'), /USER node/)
  const [program = '', ...args] = command
  const refused = await run(program, args, {
    cwd: join(work, 'final'), env: { PATH: process.env.PATH ?? '', ...environment }
  }).catch((error: { stderr: string }) => error)
  t.match(refused.stderr, /TRIVET_AUTH/, 'it starts only when it is said who may use it')

  // Uses loopback and the folder of the example, because this machine is not a container.
  const own = {
    ...environment,
    HOST: '127.0.0.1',
    PORT: '38917',
    TRIVET_CATALOG: join(root, 'catalog'),
    TRIVET_STATE_URL: `file:${join(work, 'data')}`
  }
  const service = spawn(program, args, {
    cwd: join(work, 'final'),
    env: { PATH: process.env.PATH ?? '', ...own },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const exited = once(service, 'exit')
  t.teardown(() => service.kill('SIGKILL'))
  let output = ''
  service.stdout.on('data', (chunk) => { output += String(chunk) })
  await until(() => output.includes('"url":"http://'), 'the line that says it serves', 60_000)
  const [probe = '', ...probeArgs] = healthCheck
  await t.resolves(
    run(probe, probeArgs, { env: { PATH: process.env.PATH ?? '', ...own } }), 'the health check passes'
  )
  service.kill('SIGTERM')
  t.strictSame(await exited, [0, null])
  await t.rejects(
    run(probe, probeArgs, { env: { PATH: process.env.PATH ?? '', ...own } }), 'and fails when nothing serves'
  )

  function steps (name: string): string {
    return stages.find((stage) => stage.name === name)?.steps.map((step) => step.join(' ')).join('\n') ?? ''
  }
})

t.test('each stage has the same base, by its digest', async (t) => {
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base = '']) => base)
  t.equal(bases.length, 3)
  t.equal(new Set(bases).size, 1)
  t.match(bases[0], /^node:24\.\d+\.\d+-slim@sha256:[0-9a-f]{64}$/)
  t.match(await readFile(join(root, 'deploy/README.md'), 'utf8'), `# FROM ${bases[0]?.split('@')[0]}@sha256:`)
})

t.test('the list of packages of deploy/README.md has those of the image, and no others', async (t) => {
  const folder = join(await makeFolder(t), 'sbom')
  const readme = await readFile(join(root, 'deploy/README.md'), 'utf8')
  const [, commands = ''] = /```sh\n(mkdir \S+sbom [^`]*)```/.exec(readme) ?? []
  await run('bash', ['-ec', commands.replaceAll('/tmp/sbom', folder)], { cwd: root })
  const { bomFormat, components } = JSON.parse(await readFile(join(folder, 'sbom.json'), 'utf8'))
  t.equal(bomFormat, 'CycloneDX')
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
  const locked = Object.entries<{ version: string, dev?: true }>(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { version }]) => `${path.replace(/.*node_modules\//, '')}@${version}`)
  const listed = components.map(
    ({ group, name, version }: { [field: string]: string | undefined }) =>
      `${group === undefined ? '' : `${group}/`}${name}@${version}`
  )
  t.strictSame(new Set(listed), new Set(locked))
})

t.test('the composition mounts the example read-only, and sets an authentication mode', async (t) => {
  const { services, configs } = parse(await readFile(join(root, 'docker-compose.yml'), 'utf8'))
  const replicas = ['trivet-1', 'trivet-2', 'trivet-3']
  for (const name of replicas) {
    t.match(services[name], {
      environment: { TRIVET_AUTH: 'none', TRIVET_STATE_URL: 'redis://redis:6379' },
      read_only: true,
      volumes: ['./catalog:/catalog:ro']
    })
  }
  for (const proxy of ['nginx', 'haproxy']) {
    t.strictSame(
      [...new Set([...configs[proxy].content.matchAll(/server .*?(\S+):3000\b/g)].map(([, name]) => name))],
      replicas, `${proxy} sends requests to each of the replicas`
    )
    t.strictSame(services[proxy].depends_on, replicas)
  }
})
