// Which file may import which. Each rule is also shown a source that breaks it, because a rule that cannot
// fail holds nothing.

import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { breaksOfDoors } from './helpers/door-rules.ts'
import {
  breaksOfBackends, breaksOfBarrels, breaksOfCrowds, breaksOfCycles, breaksOfEras, breaksOfFloors,
  breaksOfNames, breaksOfPackage, breaksOfPermissions, breaksOfProcess, breaksOfRooms,
  breaksOfSecrets, breaksOfSize, breaksOfSmallFiles, breaksOfStrangers, breaksOfTime, breaksOfTypeNames,
  breaksOfWires, readImports, type Import, type Sources
} from './helpers/source-rules.ts'
import { breaksOfWeight } from './helpers/weight-rules.ts'

const SRC = fileURLToPath(new URL('../src', import.meta.url))

/** From the leaves to the process. A file imports from its own floor and those below. */
const FLOORS = [
  'base', 'platform', 'catalog', 'request', 'features', 'ops', 'edges', 'app', 'index.ts',
  ['programs', 'testing.ts'], 'main.ts', 'launch.ts'
]

/** The rooms of each floor, and which rooms of their own floor they may import. */
const ROOMS = {
  'platform/protocol': [],
  'platform/access': [],
  'platform/modules': [],
  'platform/schema': ['platform/protocol'],
  'platform/limits': ['platform/access', 'platform/protocol'],
  'platform/author': ['platform/access', 'platform/limits', 'platform/protocol'],
  'platform/store/sealing': [],
  'platform/store/records': [
    'platform/access', 'platform/author', 'platform/limits', 'platform/protocol', 'platform/schema'
  ],
  'platform/store/changes': ['platform/access', 'platform/limits', 'platform/protocol'],
  'platform/store/backends': ['platform/limits', 'platform/store/changes', 'platform/store/records'],
  'catalog/hosts': [],
  'catalog/compiled': ['catalog/hosts'],
  'catalog/folder': ['catalog/compiled'],
  'catalog/advice': ['catalog/compiled', 'catalog/hosts'],
  'catalog/contracts': ['catalog/compiled', 'catalog/hosts'],
  'request/questions': [],
  'request/pipeline': ['request/questions'],
  'request/methods': ['request/pipeline'],
  'features/tasks/records': [],
  'features/tasks/journal': ['features/tasks/records'],
  'features/tasks/machine': ['features/tasks/journal', 'features/tasks/records'],
  'features/tasks/runs': ['features/tasks/journal', 'features/tasks/machine', 'features/tasks/records'],
  'features/tasks/clients': ['features/tasks/machine', 'features/tasks/records', 'features/tasks/runs'],
  'features/tasks/calls': [
    'features/tasks/clients', 'features/tasks/journal', 'features/tasks/machine', 'features/tasks/records',
    'features/tasks/runs'
  ],
  'features/tasks/operators': [
    'features/tasks/journal', 'features/tasks/machine', 'features/tasks/records', 'features/tasks/runs'
  ],
  'features/tasks/tasks.ts': [
    'features/tasks/calls', 'features/tasks/clients', 'features/tasks/machine', 'features/tasks/operators',
    'features/tasks/records', 'features/tasks/runs'
  ],
  'features/audit': [],
  'features/files': [],
  'features/remainders': [],
  'features/sign-in': [],
  'features/metrics': [],
  'features/overload': [],
  'features/upstreams': [],
  'features/tracing': [],
  'ops/config': [],
  'ops/log': ['ops/config'],
  'edges/http': [],
  'edges/admin': ['edges/http'],
  'edges/console': ['edges/http'],
  'edges/desk': ['edges/http'],
  'edges/files': ['edges/http'],
  'edges/sign-in': ['edges/http'],
  'edges/legacy/sessions': [],
  'edges/legacy/methods': ['edges/legacy/sessions'],
  'edges/legacy/http': ['edges/http', 'edges/legacy/sessions'],
  // The composition of the era.
  'edges/legacy/open.ts': [
    'edges/http', 'edges/legacy/http', 'edges/legacy/methods', 'edges/legacy/sessions'
  ],
  'programs/terminal': [],
  'programs/process': ['programs/terminal'],
  'programs/testing': [],
  'programs/cli': ['programs/terminal', 'programs/testing']
}

/** For the source that breaks the rule of permissions. */
const SMALL_HOUSE = { 'a/b': ['a/c', 'a/d'], 'a/c': [] }

async function readSources (): Promise<Sources> {
  const files = (await readdir(SRC, { recursive: true })).filter((file) => file.endsWith('.ts')).toSorted()
  return new Map(
    await Promise.all(
      files.map(async (file) => [file.split(sep).join('/'), await readFile(join(SRC, file), 'utf8')] as const)
    )
  )
}

const mayImportFastify = ({ file, isType }: Import) => file.startsWith('edges/http/') ||
  (isType && /^(?:main\.ts$|app\/|edges\/(?:admin\/|console\/|desk\/|files\/|sign-in\/|legacy\/(?:http\/|open\.ts$)))/.test(file))
const DRIVERS: { readonly [name: string]: string } = {
  lmdb: 'platform/store/backends/lmdb/',
  ioredis: 'platform/store/backends/redis/',
  pg: 'platform/store/backends/postgres/',
  aws4fetch: 'features/files/s3/'
}
const mayImportDriver = ({ file, target }: Import) => file.startsWith(DRIVERS[target] ?? '')
const ENTRY = /^platform\/store\/backends\/[^/]+\/backend\.ts$/
/** The table has the entry of each. */
const mayImportBackend = ({ file, target }: Import) => {
  return file === 'platform/store/backends/url-schemes.ts' && ENTRY.test(target)
}
/** A service without an admin address must not load the library. */
const mayImportMetrics = ({ file, target, isType, isDynamic }: Import) =>
  !target.startsWith('features/metrics/') || file.startsWith('features/metrics/') || isType || isDynamic
/** A service without traces must not load the API of OpenTelemetry. */
const mayImportTracing = ({ file, target, isType, isDynamic }: Import) =>
  !target.startsWith('features/tracing/') || file.startsWith('features/tracing/') || isType || isDynamic
/** A service whose catalog has no upstream must not load undici. */
const mayImportPool = ({ target, isType, isDynamic }: Import) =>
  target !== 'features/upstreams/pool.ts' || isType || isDynamic
const TESTING = /^(?:programs\/testing\/|testing\.ts$)/
/** A service that serves must not load the code for tests. The commands may. */
const mayImportTesting = ({ file, target }: Import) =>
  !TESTING.test(target) || TESTING.test(file) || file.startsWith('programs/cli/')
/** The page of the console runs in a browser. `init` writes the source of a tool that rolls dice. */
const mayTakeTime = (file: string) => file === 'base/time.ts' || file === 'programs/cli/initial-files.ts' ||
  file.startsWith('edges/console/page/')
/** Siblings of one contract, which a table names, and the file in whose place the build puts another. */
const mayBeSmall = (file: string) => file === 'platform/schema/built-checks.ts' ||
  /^(?:platform\/store\/backends\/\w+\/backend|features\/files\/\w+\/kind)\.ts$/.test(file)
const mayImportAjv = ({ file, isType }: Import) => file === 'platform/schema/ajv-instances.ts' || isType

/** Every rule, by its claim, with sources that break it. */
const RULES: ReadonlyArray<{
  readonly claim: string
  readonly breaks: (sources: Sources) => string[]
  readonly made: { readonly [file: string]: string }
  readonly found: readonly string[]
}> = [
  {
    claim: 'a file imports only from its own floor and those below',
    breaks: (sources) => breaksOfFloors(sources, FLOORS),
    made: {
      'base/a.ts': "import { b } from '../platform/protocol/errors.ts'\n",
      'platform/store/changes/b.ts': "import { x } from './broadcast.ts'\nimport {\n  y,\n  z\n} from " +
        "'../../../request/pipeline/method.ts'\n",
      'catalog/folder/c.ts': "const x = await import('../../app/app.ts')\n",
      'catalog/compiled/lists/d.ts': "// import { a } from '../../../edges/http/body.ts'\n" +
        "import { b } from '../../../platform/protocol/errors.ts'\n",
      'programs/cli/e.ts': "export { a } from '../../testing.ts'\n",
      'utils/f.ts': "import { a } from '../app/app.ts'\n"
    },
    found: [
      'utils is no floor', 'base/a.ts imports platform/protocol/errors.ts',
      'platform/store/changes/b.ts imports request/pipeline/method.ts',
      'catalog/folder/c.ts imports app/app.ts'
    ]
  },
  {
    claim: 'each room imports only the rooms of its floor that it may',
    breaks: (sources) => breaksOfRooms(sources, ROOMS),
    made: {
      'platform/protocol/a.ts': "import type { Principal } from '../access/principal.ts'\n",
      'platform/store/records/b.ts': "import { x } from '../changes/broadcast.ts'\n" +
        "import { y } from '../../schema/compile.ts'\n",
      'features/upstreams/c.ts': "import '../files/uploads.ts'\nexport { a } from '../../base/words.ts'\n",
      'edges/http/d.ts': "const x = await import('../legacy/open.ts')\n",
      'catalog/e.ts': '',
      'catalog/more/e.ts': ''
    },
    found: [
      'catalog/more is not listed', 'platform/protocol/a.ts imports platform/access/principal.ts',
      'platform/store/records/b.ts imports platform/store/changes/broadcast.ts',
      'features/upstreams/c.ts imports features/files/uploads.ts',
      'edges/http/d.ts imports edges/legacy/open.ts'
    ]
  },
  {
    claim: 'each room imports the rooms that it may',
    breaks: (sources) => breaksOfPermissions(sources, sources.has('launch.ts') ? ROOMS : SMALL_HOUSE),
    made: { 'a/b/b.ts': "import { c } from '../c/c.ts'\n", 'a/c/c.ts': '' },
    found: ['a/b does not import a/d']
  },
  {
    claim: 'a wire knows no method and no catalog: the pipeline does',
    breaks: (sources) => breaksOfSecrets(
      sources, /^edges\/(?:admin|files|http|legacy\/http)\//, /^(?:catalog|request\/methods|request\/questions)\//
    ),
    made: {
      'edges/http/a.ts': "import '../../request/methods/tools-call.ts'\n",
      'edges/legacy/http/b.ts': "import type { C } from '../../../catalog/compiled/catalog.ts'\n",
      'edges/console/c.ts': "import { d } from '../../catalog/advice/find-advice.ts'\n"
    },
    found: [
      'edges/http/a.ts imports request/methods/tools-call.ts',
      'edges/legacy/http/b.ts imports catalog/compiled/catalog.ts'
    ]
  },
  {
    claim: 'methods do not import methods',
    breaks: (sources) => breaksOfStrangers(sources, 'request/methods', /method-list\.ts$/),
    made: {
      'request/methods/a.ts': "import { toolsCall } from './tools-call.ts'\n",
      'request/methods/method-list.ts': "import { a } from './a.ts'\n"
    },
    found: ['request/methods/a.ts imports request/methods/tools-call.ts']
  },
  {
    claim: 'nothing of the current era knows the earlier ones',
    breaks: (sources) => breaksOfEras(sources),
    made: {
      'edges/legacy/http/a.ts': "import { s } from '../sessions/session.ts'\n",
      'app/app.ts': "import { open } from '../edges/legacy/open.ts'\n" +
        "import { s } from '../edges/legacy/sessions/session.ts'\n",
      'edges/legacy/open.ts': "import { a } from './http/a.ts'\n",
      'edges/http/b.ts': "import { a } from '../legacy/http/a.ts'\n",
      'request/pipeline/c.ts': "import type { S } from '../../edges/legacy/sessions/session.ts'\n"
    },
    found: [
      'app/app.ts imports edges/legacy/sessions/session.ts', 'edges/http/b.ts imports edges/legacy/http/a.ts',
      'request/pipeline/c.ts imports edges/legacy/sessions/session.ts'
    ]
  },
  {
    claim: 'each wire has the same files for the same jobs',
    breaks: (sources) => breaksOfWires(sources),
    made: {
      'edges/http/modern/post.ts': '',
      'edges/http/modern/outlet.ts': '',
      'edges/legacy/http/post.ts': '',
      'edges/legacy/http/listen.ts': ''
    },
    found: ['edges/http/modern/outlet.ts has no counterpart in edges/legacy/http/']
  },
  {
    claim: 'edges/http/ alone imports Fastify and its plugins when it runs',
    // Busboy is a parser of forms: it takes no app.
    breaks: (sources) => breaksOfPackage(
      sources, /^(?:@fastify\/(?!busboy$)|fastify)/, mayImportFastify
    ),
    made: {
      'request/pipeline/a.ts': "import type { FastifyReply } from 'fastify'\n",
      'edges/legacy/http/a.ts': "import type { FastifyReply } from 'fastify'\n",
      'edges/files/d.ts': "import Fastify from 'fastify'\nimport { Busboy } from '@fastify/busboy'\n",
      'main.ts': "import type { FastifyInstance } from 'fastify'\nimport Fastify from 'fastify'\n",
      'edges/http/b.ts': "import cors from '@fastify/cors'\n",
      'edges/legacy/sessions/c.ts': "import plugin from 'fastify-plugin'\n"
    },
    found: [
      'request/pipeline/a.ts imports fastify', 'edges/files/d.ts imports fastify', 'main.ts imports fastify',
      'edges/legacy/sessions/c.ts imports fastify-plugin'
    ]
  },
  {
    claim: 'one file imports ajv when it runs',
    breaks: (sources) => breaksOfPackage(sources, /^ajv/, mayImportAjv),
    made: {
      'platform/schema/a.ts': "import type { ErrorObject } from 'ajv'\n",
      'platform/schema/ajv-instances.ts': "import { Ajv } from 'ajv'\n",
      'platform/schema/b.ts': "import { Ajv2020 } from 'ajv/dist/2020.js'\n",
      'platform/schema/c.ts': "import { type ErrorObject } from 'ajv'\n"
    },
    found: ['platform/schema/b.ts imports ajv/dist/2020.js', 'platform/schema/c.ts imports ajv']
  },
  {
    claim: 'only features/metrics/ imports prom-client, and the others import it late',
    breaks: (sources) => [
      ...breaksOfPackage(sources, /^prom-client$/, ({ file }) => file.startsWith('features/metrics/')),
      ...readImports(sources).filter((one) => !mayImportMetrics(one)).map(
        ({ file, target }) => `${file} imports ${target} early`
      )
    ],
    made: {
      'features/metrics/a.ts': "import { Registry } from 'prom-client'\nimport { b } from './b.ts'\n",
      'app/admin.ts': "import type { A } from '../features/metrics/a.ts'\n" +
        "const a = await import('../features/metrics/a.ts')\n",
      'app/app.ts': "import { a } from '../features/metrics/a.ts'\n",
      'edges/http/b.ts': "import type { Registry } from 'prom-client'\n"
    },
    found: ['edges/http/b.ts imports prom-client', 'app/app.ts imports features/metrics/a.ts early']
  },
  {
    claim: 'only features/tracing/ imports OpenTelemetry, and the others import it late',
    breaks: (sources) => [
      ...breaksOfPackage(sources, /^@opentelemetry\//, ({ file }) => file.startsWith('features/tracing/')),
      ...readImports(sources).filter((one) => !mayImportTracing(one)).map(
        ({ file, target }) => `${file} imports ${target} early`
      )
    ],
    made: {
      'features/tracing/a.ts': "import { trace } from '@opentelemetry/api'\nimport { b } from './b.ts'\n",
      'app/a.ts': "import type { A } from '../features/tracing/a.ts'\n" +
        "const a = import('../features/tracing/a.ts')\n",
      'app/app.ts': "import { a } from '../features/tracing/a.ts'\n",
      'features/tasks/b.ts': "import type { Span } from '@opentelemetry/api'\n"
    },
    found: [
      'features/tasks/b.ts imports @opentelemetry/api', 'app/app.ts imports features/tracing/a.ts early'
    ]
  },
  {
    claim: 'one file imports undici when it runs, and the others import it late',
    breaks: (sources) => [
      ...breaksOfPackage(
        sources, /^undici$/, ({ file, isType }) => file === 'features/upstreams/pool.ts' ||
          (isType && file.startsWith('features/upstreams/'))
      ),
      ...readImports(sources).filter((one) => !mayImportPool(one)).map(
        ({ file, target }) => `${file} imports ${target} early`
      )
    ],
    made: {
      'features/upstreams/pool.ts': "import { Pool } from 'undici'\n",
      'features/upstreams/a.ts': "import type { Dispatcher } from 'undici'\n" +
        "const a = await import('./pool.ts')\n",
      'features/upstreams/b.ts': "import { fetch } from 'undici'\nimport { a } from './pool.ts'\n",
      'platform/access/c.ts': "import type { Dispatcher } from 'undici'\n"
    },
    found: [
      'features/upstreams/b.ts imports undici', 'platform/access/c.ts imports undici',
      'features/upstreams/b.ts imports features/upstreams/pool.ts early'
    ]
  },
  {
    claim: 'nothing that serves imports programs/testing/',
    breaks: (sources) => readImports(sources).filter((one) => !mayImportTesting(one)).map(
      ({ file, target }) => `${file} imports ${target}`
    ),
    made: {
      'programs/cli/call.ts': "const { open } = await import('../../testing.ts')\n",
      'testing.ts': "export { open } from './programs/testing/a.ts'\n",
      'programs/testing/a.ts': "import type { B } from './b.ts'\n",
      'app/app.ts': "import { open } from '../programs/testing/a.ts'\n",
      'index.ts': "export { open } from './testing.ts'\n"
    },
    found: ['app/app.ts imports programs/testing/a.ts', 'index.ts imports testing.ts']
  },
  {
    claim: 'programs/testing/ works with every test runner',
    breaks: (sources) => breaksOfPackage(
      sources, /^(?:node:test|tap|vitest)$/, ({ file }) => !TESTING.test(file)
    ),
    made: {
      'programs/testing/a.ts': "import { after } from 'node:test'\nimport { run } from './node:test.ts'\n"
    },
    found: ['programs/testing/a.ts imports node:test']
  },
  {
    claim: 'a driver is imported by its own folder alone',
    breaks: (sources) => breaksOfPackage(sources, /^(?:lmdb|ioredis|pg|aws4fetch)$/, mayImportDriver),
    made: {
      'platform/store/backends/lmdb/a.ts': "import { open } from 'lmdb'\n",
      'platform/store/backends/redis/b.ts': "import { Redis } from 'ioredis'\n",
      'platform/store/backends/redis/c.ts': "import { open } from 'lmdb'\n",
      'platform/store/backends/memory/d.ts': "import type { Redis } from 'ioredis'\n",
      'platform/store/backends/e.ts': "const { Redis } = await import('ioredis')\n",
      'app/app.ts': "import { open } from 'lmdb'\n",
      'features/files/folder/f.ts': "import { AwsClient } from 'aws4fetch'\n"
    },
    found: [
      'platform/store/backends/redis/c.ts imports lmdb',
      'platform/store/backends/memory/d.ts imports ioredis',
      'platform/store/backends/e.ts imports ioredis', 'app/app.ts imports lmdb',
      'features/files/folder/f.ts imports aws4fetch'
    ]
  },
  {
    claim: 'only main.ts, launch.ts before it, and its room touch the process',
    breaks: breaksOfProcess,
    made: {
      'ops/config/config.ts': 'const port = process.env.PORT\n',
      'main.ts': 'process.exit()\n',
      'programs/process/signals.ts': 'process.exit()\n',
      'edges/http/a.ts': "// ends the process\n/** a process */\nlog('the process')\n",
      'edges/http/b.ts': "import { env } from 'node:process'\n",
      'edges/http/c.ts': 'const { exit } = globalThis.process\n'
    },
    found: [
      'ops/config/config.ts touches process', 'edges/http/b.ts touches process',
      'edges/http/c.ts touches process'
    ]
  },
  {
    claim: "what is in a backend's folder is imported by its own folder, and its entry by the table of URL " +
      'schemes',
    breaks: (sources) => breaksOfBackends(sources, mayImportBackend),
    made: {
      'app/app.ts': "import { a } from '../platform/store/backends/memory/state-store.ts'\n" +
        "import { b } from '../platform/store/backends/url-schemes.ts'\n",
      'platform/store/backends/url-schemes.ts': "import { a } from './redis/backend.ts'\nimport { b } from " +
        "'./lmdb/open.ts'\n",
      'platform/store/backends/outage-log.ts': "import type { A } from './redis/connection.ts'\n",
      'platform/store/backends/lmdb/open.ts': "import { a } from '../backend.ts'\nimport { b } from " +
        "'./state-store.ts'\n",
      'platform/store/backends/lmdb/a.ts': "import { a } from '../redis/channel.ts'\n",
      'platform/store/backends/redis/b.ts': "import { a } from '../memory/state-store.ts'\n" +
        "import { b } from '../backend.ts'\n",
      'platform/store/records/c.ts': "import { a } from '../backends/redis/state-store.ts'\n" +
        "import { b } from './state-store.ts'\n"
    },
    found: [
      'app/app.ts imports platform/store/backends/memory/state-store.ts',
      'platform/store/backends/url-schemes.ts imports platform/store/backends/lmdb/open.ts',
      'platform/store/backends/outage-log.ts imports platform/store/backends/redis/connection.ts',
      'platform/store/backends/lmdb/a.ts imports platform/store/backends/redis/channel.ts',
      'platform/store/backends/redis/b.ts imports platform/store/backends/memory/state-store.ts',
      'platform/store/records/c.ts imports platform/store/backends/redis/state-store.ts'
    ]
  },
  {
    claim: 'clocks, timers and random numbers come from base/time.ts alone',
    breaks: (sources) => breaksOfTime(sources, mayTakeTime),
    made: {
      'base/time.ts': 'const now = () => Date.now()\n',
      'features/tasks/a.ts': 'const end = performance.now() + 5\n',
      'features/tasks/b.ts': "import { setTimeout as pause } from 'node:timers/promises'\n",
      'features/tasks/c.ts': 'const timer = setInterval(look, 5)\n',
      'features/tasks/d.ts': "import { randomBytes } from 'node:crypto'\n",
      'features/tasks/e.ts': '// Date.now() is read once.\nsocket.setTimeout(5)\ntimers.setTimeout(a, 5)\n',
      'features/tasks/f.ts': 'const signal = AbortSignal.timeout(5)\n'
    },
    found: ['a', 'b', 'c', 'd', 'f'].map((name) => `features/tasks/${name}.ts has a time of its own`)
  },
  {
    claim: 'no imports go in a circle, but for the late one of index.ts',
    breaks: breaksOfCycles,
    made: {
      'app/app.ts': "const trivet = await import('../index.ts')\n",
      'index.ts': "export { app } from './app/app.ts'\n",
      'a.ts': "import { b } from './b.ts'\n",
      'b.ts': "import type { c } from './c.ts'\n",
      'c.ts': "const a = await import('./a.ts')\n",
      'd.ts': "import { a } from './a.ts'\n"
    },
    found: ['a.ts -> b.ts -> c.ts -> a.ts']
  },
  {
    claim: 'no file is longer than 300 lines',
    breaks: (sources) => breaksOfSize(sources, 300),
    made: { 'a.ts': 'a\n'.repeat(300), 'b.ts': 'b\n'.repeat(301) },
    found: ['b.ts has 301 lines']
  },
  {
    claim: 'no folder has more than 25 files directly in it',
    breaks: (sources) => breaksOfCrowds(sources, 25),
    made: { 'a/b/c.ts': '', ...Object.fromEntries(Array.from({ length: 26 }, (_, at) => [`a/${at}.ts`, ''])) },
    found: ['a has 26 files']
  },
  {
    claim: 'a file of under 15 lines that one other imports belongs to that file',
    breaks: (sources) => breaksOfSmallFiles(sources, mayBeSmall),
    made: {
      'a.ts': "import { b } from './b.ts'\nimport { c } from './c.ts'\nimport { d } from './d.ts'\n",
      'b.ts': 'b\n'.repeat(14),
      'c.ts': "import { d } from './d.ts'\n".repeat(15),
      'd.ts': 'd\n',
      'features/files/url-schemes.ts': "import { kind } from './s3/kind.ts'\n",
      'features/files/s3/kind.ts': ''
    },
    found: ['b.ts belongs to a.ts']
  },
  {
    claim: 'no two files declare a type of the same name',
    breaks: breaksOfTypeNames,
    made: {
      'a.ts': 'interface A {}\nclass B {}\n',
      'b.ts': '// interface A {}\nexport type A = 1\nconst B = 1\n'
    },
    found: ['A is of a.ts, b.ts']
  },
  {
    claim: 'no two files export the same name',
    breaks: breaksOfNames,
    made: {
      'a.ts': 'export interface A {}\nexport function b (): void {}\n',
      'c/a.ts': 'export class A {}\nexport async function d (): Promise<void> {}\n',
      'c/b.ts': '// export const b = 1\nexport type D = A\nexport const d = 1\n'
    },
    found: ['A is of a.ts, c/a.ts', 'd is of c/a.ts, c/b.ts']
  },
  {
    claim: 'only index.ts and testing.ts pass on what others export',
    breaks: breaksOfBarrels,
    made: {
      'index.ts': "export { a } from './a.ts'\n",
      'testing.ts': "export { a } from './a.ts'\n",
      'a/index.ts': "export * from './b.ts'\n",
      'b.ts': "export {\n  a,\n  b\n} from './a.ts'\n",
      'c.ts': "export type { A } from './a.ts'\n",
      'd.ts': "export const from = 'a'\nexport { from as to }\n"
    },
    found: [
      'a/index.ts passes on what others export', 'b.ts passes on what others export',
      'c.ts passes on what others export'
    ]
  }
]

const sources = await readSources()

for (const { claim, breaks, made, found } of RULES) {
  t.test(claim, (t) => {
    t.strictSame(breaks(sources), [])
    t.strictSame(breaks(new Map(Object.entries(made))), found, 'and the rule can fail')
    t.end()
  })
}

t.test('each room has a short README with its door: the files that others import', async (t) => {
  const files = await readdir(SRC, { recursive: true })
  const paths = files.filter((file) => file.endsWith(`${sep}README.md`))
  const readmes = new Map(await Promise.all(paths.map(async (path) => [
    dirname(path).split(sep).join('/'), await readFile(join(SRC, path), 'utf8')
  ] as const)))
  t.strictSame(breaksOfDoors(sources, readmes), [])
  const made = new Map([
    ['a/b/c.ts', "import { x } from '../d/x.ts'\nimport { y } from '../d/y.ts'\n"],
    ['a/d/x.ts', ''], ['a/d/y.ts', ''], ['a/d/z.ts', ''], ['a/e/f.ts', '']
  ])
  t.strictSame(breaksOfDoors(made, new Map([
    ['a/b', 'line\n'.repeat(26)], ['a/d', '# D\n\nDoor: `y.ts`,\n`z.ts`.\n\nMore of `x.ts`.\n']
  ])), [
    'a/e/f.ts is in no room with a README', 'a/b has a README of 26 lines', 'a/b has no door',
    'a/d/x.ts is behind the door', 'a/d/z.ts is imported by nobody'
  ], 'and the rule can fail')
})

t.test('one person can hold the core, and a room is small or has a name here', async (t) => {
  const files = (await readdir(SRC, { recursive: true })).filter((file) => /\.tsx?$/.test(file))
  const all = new Map(await Promise.all(files.map(async (file) => [
    file.split(sep).join('/'), await readFile(join(SRC, file), 'utf8')
  ] as const)))
  t.strictSame(breaksOfWeight(all, {
    core: 27_800,
    tree: 78_000,
    room: 3500,
    heavyRooms: {
      'catalog/folder': 5100,
      'edges/console': 6000,
      'features/tasks': 6000
    }
  }), [])
  const made = new Map([
    ['base/a.ts', 'a\n'.repeat(4)], ['platform/modules/b.ts', 'b\n'.repeat(3)], ['app/app.ts', 'd\n'],
    ['app/tasks.ts', 'e\n'], ['features/c/d/e.ts', 'c\n'.repeat(5)]
  ])
  t.strictSame(breaksOfWeight(made, { core: 4, tree: 13, room: 3, heavyRooms: { 'features/f': 9 } }), [
    'all files: 14 lines, of 13 at most', 'the core: 6 lines, of 4 at most',
    'features/c: 5 lines, of 3 at most', 'features/f needs no name'
  ], 'and the rule can fail')
})

t.test('sees every import that there is', (t) => {
  const imports = readImports(sources)
  t.ok(sources.size > 80)
  const statements = [...sources.values()].flatMap(
    (text) => text.match(/^(?:import\b.*|\} from .*|export .* from .*)'$/gm) ?? []
  )
  t.equal(imports.filter(({ isDynamic }) => !isDynamic).length, statements.length)
  t.strictSame(
    imports.filter(({ isOurs, target }) => isOurs && !sources.has(target)), [],
    'and each is of a file that exists'
  )
  t.ok(imports.some(({ isDynamic, target }) => isDynamic && target === 'index.ts'))
  t.end()
})
