// What can be deleted, and how: the paths of each feature, edge and backend below src/, and what is cut from
// the files that stay.

export interface Removal {
  /** Folders and files below src/. */
  readonly paths: readonly string[]
  /** What is cut from files below src/: each match of each pattern. */
  readonly cuts: { readonly [file: string]: readonly RegExp[] }
}

/** Matches the lines that have one of the texts. */
const linesWith = (...texts: readonly string[]) => new RegExp(`^.*(?:${texts.join('|')}).*\n`, 'gm')

const backend = (name: string): Removal => ({
  paths: [`platform/store/backends/${name}`],
  cuts: { 'platform/store/backends/url-schemes.ts': [linesWith(`${name}Backend`)] }
})

export const REMOVALS = {
  legacy: {
    paths: ['edges/legacy'],
    cuts: { 'app/app.ts': [linesWith('openLegacyEra')] }
  },
  console: {
    paths: ['edges/console', 'app/console.ts'],
    cuts: { 'main.ts': [linesWith('import\\(\'./app/console.ts'), /^function readConsolePage [^]*?\n\}\n\n/m] }
  },
  desk: {
    paths: ['edges/desk'],
    cuts: { 'main.ts': [linesWith('open-desk')], 'programs/cli/serve.ts': [linesWith('open-desk')] }
  },
  admin: {
    paths: ['edges/admin', 'app/admin.ts'],
    cuts: { 'app/app.ts': [linesWith('openAdminApp')] }
  },
  audit: {
    paths: ['features/audit'],
    cuts: {
      'app/app.ts': [linesWith('openAuditLog')],
      'app/measures.ts': [linesWith('createCallDetails')],
      'app/tasks.ts': [linesWith('redact\\b')]
    }
  },
  tracing: {
    paths: ['features/tracing'],
    cuts: {
      'app/measures.ts': [linesWith('openRequestTracer')],
      'main.ts': [linesWith('openTraceSink', 'const readVersion')]
    }
  },
  metrics: {
    paths: ['features/metrics', 'app/metrics.ts'],
    cuts: {
      'app/measures.ts': [linesWith('openMetrics')],
      'programs/process/worker-group.ts': [
        /^ {2}async #addMetrics[^]*?\n {2}\}\n\n/m, /\nfunction isMetricValues[^]*?\n\}\n/,
        linesWith('AddedMetrics', '#addMetrics'), /this\.#metrics.*(?= \})/
      ]
    }
  },
  overload: {
    paths: ['features/overload', 'app/overload.ts', 'programs/process/memory.ts'],
    cuts: {
      'app/measures.ts': [linesWith('openShedding')],
      'app/own-process.ts': [linesWith('MemoryLimits')],
      'main.ts': [linesWith('readMemory')],
      'ops/config/settings.ts': [/^ {2}maxRequests: setting\([^]*?'\),\n/m, /^ {2}overload: setting\([^]*?'\),\n/m]
    }
  },
  files: {
    paths: ['features/files', 'edges/files', 'app/files.ts'],
    cuts: {
      'app/app.ts': [linesWith('openFiles')],
      'ops/config/settings.ts': [linesWith('FILES_URL_FORM, isFilesUrl'), /^ {2}filesUrl: setting\([^]*?'\),\n/m]
    }
  },
  signIn: {
    paths: ['features/sign-in', 'edges/sign-in', 'app/sign-in.ts'],
    cuts: {
      'app/app.ts': [linesWith('prepareSignIn')],
      'programs/cli/check.ts': [linesWith('findSignInProblems')],
      'ops/config/access-settings.ts': [
        /,\n {2}signIn: setting\([^]*?(?=\n\} satisfies)/m, linesWith('findSignInConflicts\\(config'),
        /function findSignInConflicts[^]*?\n\}\n\n/, /, 'sign-in'/
      ]
    }
  },
  remainders: {
    paths: ['features/remainders'],
    cuts: {
      'app/methods.ts': [linesWith('createResultCutter')],
      'app/state.ts': [linesWith('READ_MORE_OPTIONS')],
      'programs/cli/named-catalog.ts': [linesWith('READ_MORE_OPTIONS')]
    }
  },
  upstreams: {
    paths: ['features/upstreams', 'app/upstreams.ts', 'programs/testing/upstreams.ts'],
    cuts: {
      'app/own-process.ts': [linesWith('OpenTransport')],
      'app/state.ts': [linesWith('openUpstreams')],
      'programs/cli/named-catalog.ts': [linesWith('createUpstreamCompiler'), /^ {6}compileUpstream\n/m],
      'programs/testing/catalog.ts': [linesWith("from './upstreams.ts'", 'TestUpstream')],
      'programs/testing/open-catalog.ts': [
        linesWith("from './upstreams.ts'", 'new StandIns', 'readonly standIns'), / {2}upstream \([^]*?\n {2}\}\n/,
        /, openTransport: standIns\?\.openTransport|, upstreams: _upstreams|, standIns\b|\bstandIns(?= \})/g
      ],
      'programs/testing/options.ts': [linesWith('UpstreamAnswers')],
      'testing.ts': [/^export type \{\n.*TestUpstream,[^]*?;?upstreams\.ts'\n/m]
    }
  },
  tasks: {
    paths: ['features/tasks', 'app/tasks.ts', 'programs/testing/replay.ts'],
    cuts: {
      'app/app.ts': [linesWith('openTasks')],
      'app/state.ts': [linesWith('TASK_OPTIONS')],
      'programs/testing/catalog.ts': [linesWith('ReplayOptions')],
      'programs/testing/open-catalog.ts': [linesWith("from './replay.ts'"), / {2}async replay \([^]*?\n {2}\}\n/],
      'testing.ts': [linesWith('RecordingError', 'ReplayOptions')]
    }
  },
  lmdb: backend('lmdb'),
  redis: backend('redis'),
  postgres: backend('postgres')
} satisfies { readonly [name: string]: Removal }
