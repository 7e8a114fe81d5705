// The command `trivet check`: all problems of a catalog at once, and advice about what clients and models
// handle badly.

import { Option } from 'commander'
import { findAdvice } from '../catalog/advice/find-advice.ts'
import { ADVICE, ADVICE_NAMES } from '../catalog/advice/piece.ts'
import { CatalogError } from '../catalog/compiled/problem.ts'
import { FAILED, FOLDER, type CommandModule, type Surroundings } from './command.ts'
import { WRITERS, type Findings, type Format } from './findings.ts'
import { loadCatalog } from './named-catalog.ts'

interface CheckFlags {
  readonly format: Format
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
        .choices(Object.keys(WRITERS)).default('text'))
      .option('--json', 'the same as --format json')
      .addOption(new Option('--ignore <advice...>', 'advice that is not wanted')
        .choices(ADVICE_NAMES).default([], 'none'))
      .addHelpText('after', HELP)
      .action(async (folder: string | undefined, { format, json, ignore }: CheckFlags) => {
        const { problems, advice, settings } = await find(folder, surroundings)
        const findings = { problems, advice: advice.filter(({ name }) => !ignore.includes(name)), settings }
        surroundings.out(WRITERS[json === true ? 'json' : format](findings, surroundings.version))
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
