// What is done with each block of the pages. A block that has no rule here fails the test.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { placeOf, ROOT, type Block } from './pages.ts'

/**
 * - `excerpt`: names a file of this project, and must be in it
 * - `file`: is written into the folder of its page
 * - `module`: a module without a file, whose types are checked
 * - `commands`: is run
 * - `transcript`: its commands (`$ `) are run, and print what follows them
 * - `foreign`: cannot be run here, and names only what exists
 * - `data`: is parsed
 * - `tree`: draws a folder of this project, or of the page
 * - `picture`: is drawn from a table of the source, and the test of the table compares it
 */
export type Rule =
  'excerpt' | 'file' | 'module' | 'commands' | 'transcript' | 'foreign' | 'data' | 'tree' | 'picture'

/** Need the network, a cluster, a container or rights that a test does not have. */
const FOREIGN = new Set(['docker', 'kubectl', 'npm', 'openssl', 'psql', 'sudo'])

/** Of files. */
const LANGUAGES = new Set(['ts', 'tsx', 'js', 'mjs', 'html', 'yaml', 'md', 'json'])

export function ruleOf (block: Block): Rule {
  const { language, path, text } = block
  if (path !== undefined && LANGUAGES.has(language)) {
    // The catalog is loaded, and the tests are run: nothing checks a file elsewhere.
    if (/^(?:catalog|teams|test)\//.test(path)) return 'file'
    if (/^(?:bench|deploy|examples|src)\//.test(path)) return 'excerpt'
  }
  if (path === undefined) {
    if (language === 'mermaid') return 'picture'
    if (language === 'ini') return 'foreign'
    if (language === 'ts' || language === 'js') return 'module'
    if (language === 'console' && text.startsWith('$ ')) return 'transcript'
    if (language === 'json') return 'data'
    if (language === '' && /^[\w-]+\/\n/.test(text)) return 'tree'
    const isForeign = programsOf(text).some((program) => FOREIGN.has(program))
    if (language === 'sh') return isForeign ? 'foreign' : 'commands'
  }
  throw new Error(`${placeOf(block)}: no rule covers this block (${[language, path].join(' ')})`)
}

/** The first word of each command, behind its variables. */
export function programsOf (text: string): readonly string[] {
  const commands = text.replaceAll('\\\n', ' ').split(/\n|&&|\||;|\$\(/).map((command) => command.trim())
  return commands.flatMap((command) => {
    const [, program] = /^(?:export +)?(?:[A-Z_]+=\S* +)*([\w./-]+)/.exec(command) ?? []
    return program === undefined || command.startsWith('#') ? [] : [program]
  })
}

/** The paths and scripts that a foreign block names and that do not exist. */
export function missingOf ({ text }: Block, scripts: ReadonlySet<string>): readonly string[] {
  const made = [...text.matchAll(/mkdir -p (\S+)/g)].map(([, folder = '']) => folder)
  const paths = [...text.matchAll(/(?<=[\s"=])(?:bench|catalog|deploy|dist|docs|src|test)\/[\w./-]+/g)]
  const missing = paths.map(([path]) => path).filter((path) => {
    return !made.some((folder) => path.startsWith(folder)) && !existsSync(join(ROOT, path))
  })
  const named = [...text.matchAll(/\bnpm (?:run (?:--silent )?)?([\w:]+)/g)].flatMap(([command, name = '']) => {
    return command.includes(' run ') || name === 'test' || name === 'start' ? [name] : []
  })
  return [...missing, ...named.filter((name) => !scripts.has(name)).map((name) => `npm run ${name}`)]
}

/** Whether the lines of an output match what the page shows. `…` stands for any text within a line. */
export function prints (shown: string, output: string): boolean {
  const pattern = shown.trim().split('\n').map((line) => line.trimEnd().split('…').map(escape).join('.*'))
  return new RegExp(`^${pattern.join('\\n')}$`, 'm').test(output.replaceAll(/[ \t]+$/gm, ''))
}

function escape (text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
