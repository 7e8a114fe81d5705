// The command line in process: what it writes, and its exit code.

import { createLoadGuard } from '../../src/catalog/compiled/load-guard.ts'
import { runProgram as run } from '../../src/programs/cli/program.ts'

interface Ran {
  readonly out: string
  readonly err: string
  readonly exitCode: number
  /** The environments that it was asked to serve with. */
  readonly served: ReadonlyArray<{ readonly [variable: string]: string | undefined }>
}

/** @param typed the lines that a person types. Without them nobody is at the terminal. */
export async function runProgram (
  args: readonly string[], environment: { readonly [variable: string]: string } = {},
  typed?: readonly string[]
): Promise<Ran> {
  const lines = [...typed ?? []]
  const ran = { out: '', err: '', served: [] as Array<{ readonly [variable: string]: string | undefined }> }
  const exitCode = await run(args, {
    environment,
    adminToken: environment.TRIVET_ADMIN_TOKEN,
    version: '1.2.3',
    dependency: '^1.2.3',
    guard: createLoadGuard(),
    terminal: typed && {
      async ask (prompt) {
        ran.err += prompt
        return lines.shift()
      }
    },
    out: (text) => { ran.out += text },
    findLoss: async () => undefined,
    err: (text) => { ran.err += text },
    onInterrupt () {},
    async serve (given) { ran.served.push(given) }
  })
  return { ...ran, exitCode }
}
