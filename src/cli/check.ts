// The command `trivet check`: all problems of a catalog at once, and advice about what clients and models
// handle badly.

import { Option } from 'commander'
import { counted } from '../base/words.ts'
import { findAdvice } from '../catalog/advice/find-advice.ts'
import { ADVICE, ADVICE_NAMES } from '../catalog/advice/piece.ts'
import type { SettingFacts } from '../catalog/compiled/definitions/compile-settings.ts'
import { CatalogError, lineNumberOf, type Problem } from '../catalog/compiled/problem.ts'
import { FAILED, FOLDER, type CommandModule, type Surroundings } from './command.ts'
import type { Findings } from './findings.ts'
import { loadCatalog } from './loaded-catalog.ts'
import { toSarif } from './sarif.ts'

interface CheckOptions {
  readonly format: 'text' | 'json' | 'sarif'
  readonly json?: true
  readonly ignore: readonly string[]
}

const HELP = `
Advice:
${Object.entries(ADVICE).map(([name, about]) => `  ${name.padEnd(16)} ${about}`).join('\n')}

Only problems make the exit code 1: the service would refuse the catalog.`

export const checkCommand: CommandModule = {
  add (program, surroundings, finish) {
    program.command('check')
      .description('load a catalog without serving it, and say what is wrong with it')
      .argument(...FOLDER)
      .addOption(new Option('--format <format>', 'the form of the output')
        .choices(['text', 'json', 'sarif']).default('text'))
      .option('--json', 'the same as --format json')
      .addOption(new Option('--ignore <advice...>', 'advice that is not wanted')
        .choices(ADVICE_NAMES).default([], 'none'))
      .addHelpText('after', HELP)
      .action(async (folder: string | undefined, { format, json, ignore }: CheckOptions) => {
        const { problems, advice, settings } = await find(folder, surroundings)
        const findings = { problems, advice: advice.filter(({ name }) => !ignore.includes(name)), settings }
        surroundings.out(WRITERS[json === true ? 'json' : format](findings, surroundings))
        if (problems.length > 0) finish(FAILED)
      })
  }
}

async function find (folder: string | undefined, surroundings: Surroundings): Promise<Findings> {
  try {
    const { contents, snapshot } = await loadCatalog(folder, surroundings)
    return { problems: [], advice: findAdvice(contents, snapshot), settings: snapshot.settings.facts }
  } catch (error) {
    if (error instanceof CatalogError) return { problems: error.problems, advice: [], settings: [] }
    throw error
  }
}

type Writer = (findings: Findings, surroundings: Surroundings) => string

const WRITERS: { readonly [K in CheckOptions['format']]: Writer } = {
  text: ({ problems, advice, settings }) => {
    const lines = [
      ...settings.map(toSettingLine),
      ...problems.map((problem) => `${toPlace(problem)}: ${problem.rule}`),
      ...advice.map((one) => `${toPlace(one)}: advice: ${one.rule} (${one.name})`)
    ]
    const pieces = counted(advice.length, 'piece of advice', 'pieces of advice')
    return [...lines, `${counted(problems.length, 'problem')}, ${pieces}`, ''].join('\n')
  },
  json: (findings) => `${JSON.stringify(findings, undefined, 2)}\n`,
  sarif: (findings, { version }) => `${JSON.stringify(toSarif(findings, version), undefined, 2)}\n`
}

function toSettingLine ({ name, isSet, isSecret, isRequired, description }: SettingFacts): string {
  const facts = [isRequired ? 'required' : 'optional', isSecret && 'secret', isSet ? 'set' : 'not set']
  return [`setting ${name}: ${facts.filter((fact) => fact !== false).join(', ')}`, description]
    .filter((part) => part !== undefined).join('. ')
}

/** `tools/a.ts:6`, which editors and terminals turn into a link, or `tools/a.ts: inputSchema`. */
function toPlace (found: Pick<Problem, 'file' | 'place'>): string {
  const { file, place } = found
  const line = lineNumberOf(found)
  if (line !== undefined) return `${file}:${line}`
  return place === '' ? file : `${file}: ${place}`
}
