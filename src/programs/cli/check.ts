// The command `trivet check`: all problems of a catalog at once, and advice about what clients and models
// handle badly, as text for people, as JSON, or in the Static Analysis Results Interchange Format, which code
// hosts show beside the lines.

import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { Option } from 'commander'
import { counted } from '../../base/words.ts'
import { findAdvice } from '../../catalog/advice/find-advice.ts'
import { findHostAdvice } from '../../catalog/advice/hosts.ts'
import { ADVICE, ADVICE_NAMES, type CatalogAdvice } from '../../catalog/advice/piece.ts'
import type { CompiledPrimitive } from '../../catalog/compiled/compiled-primitive.ts'
import type { SettingFacts } from '../../catalog/compiled/definitions/compile-settings.ts'
import { CatalogError, lineNumberOf, type Problem } from '../../catalog/compiled/problem.ts'
import type { Snapshot } from '../../catalog/compiled/snapshot.ts'
import type { UpstreamFacts } from '../../catalog/compiled/upstreams/upstream-dependency.ts'
import { FAILED, FOLDER, toJsonText, type AddCommand, type Surroundings } from './command.ts'
import { findCatalog, loadCatalog } from './named-catalog.ts'

/**
 * What is wrong with a catalog, and the settings and upstreams that it needs. A catalog with problems other
 * than those of skills has not loaded: it gets no advice, and its settings and upstreams are not listed.
 */
interface Findings {
  readonly problems: readonly Problem[]
  readonly advice: readonly CatalogAdvice[]
  readonly settings: readonly SettingFacts[]
  readonly upstreams: readonly UsedUpstream[]
}

/** An upstream, and what calls it. */
interface UsedUpstream extends UpstreamFacts {
  /** The primitives whose `upstreams` names it. */
  readonly usedBy: readonly string[]
}

type Format = 'text' | 'json' | 'sarif'

type WriteFindings = (findings: Findings, version: string, base: string) => string

/** Each writes the findings in one format. */
const WRITERS: { readonly [format in Format]: WriteFindings } = {
  text: ({ problems, advice, settings, upstreams }) => {
    const lines = [
      ...settings.map(toSettingLine),
      ...upstreams.map(toUpstreamLine),
      ...problems.map((problem) => `${toPlace(problem)}: ${problem.rule}`),
      ...advice.map((item) => `${toPlace(item)}: advice: ${item.rule} (${item.name})`)
    ]
    const pieces = counted(advice.length, 'piece of advice', 'pieces of advice')
    return [...lines, `${counted(problems.length, 'problem')}, ${pieces}`, ''].join('\n')
  },
  json: toJsonText,
  sarif: (findings, version, base) => toJsonText(toSarif(findings, version, base))
}

interface CheckFlags {
  readonly format: Format
  readonly json?: true
  readonly ignore: readonly string[]
  readonly hosts?: true
}

const HELP = `
Advice:
${Object.entries(ADVICE).map(([name, about]) => `  ${name.padEnd(16)} ${about}`).join('\n')}

Only problems make the exit code 1: the service would refuse the catalog, or leave a skill out.`

export const checkCommand: AddCommand = (program, surroundings, finish) => {
  program.command('check')
    .description('load a catalog without serving it, and say what is wrong with it')
    .argument(...FOLDER)
    .addOption(new Option('--format <format>', 'the form of the output')
      .choices(Object.keys(WRITERS)).default('text'))
    .option('--json', 'the same as --format json')
    .addOption(new Option('--ignore <advice...>', 'advice that is not wanted')
      .choices(ADVICE_NAMES).default([], 'none'))
    .option('--hosts', 'say what hosts that people use make of each tool')
    .addHelpText('after', HELP)
    .action(async (folder: string | undefined, { format, json, ignore, hosts }: CheckFlags) => {
      const { advice, ...facts } = await find(folder, surroundings, hosts)
      const catalog = findCatalog(folder, surroundings)
      const problems = [...facts.problems]
      const { findSignInProblems } = await import('../../features/sign-in/people/sign-in-file.ts')
      problems.push(...await findSignInProblems(catalog, surroundings.environment.TRIVET_SIGN_IN))
      const shownAdvice = advice.filter(({ name }) => !ignore.includes(name))
      const findings = { ...facts, problems, advice: shownAdvice }
      const base = findBase(catalog)
      surroundings.out(WRITERS[json === true ? 'json' : format](findings, surroundings.version, base))
      if (problems.length > 0) finish(FAILED)
    })
}

async function find (
  folder: string | undefined, surroundings: Surroundings, hosts = false
): Promise<Findings> {
  try {
    const { contents, snapshot } = await loadCatalog(folder, surroundings)
    const { settings: { facts: settings } } = snapshot
    const advice = [
      ...findAdvice(contents, snapshot), ...hosts ? findHostAdvice(contents, snapshot) : []
    ]
    return { problems: contents.leftOut, advice, settings, upstreams: findUses(snapshot) }
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    return { problems: error.problems, advice: [], settings: [], upstreams: [] }
  }
}

function findUses ({ upstreams, primitives }: Snapshot): UsedUpstream[] {
  const { tools, prompts, resources, templates } = primitives
  const all: readonly CompiledPrimitive[] = [...tools, ...prompts, ...resources, ...templates]
  return upstreams.map((facts) => {
    const users = all.filter(({ upstreams: used }) => used?.some(({ name }) => name === facts.name))
    return { ...facts, usedBy: users.map(({ key }) => key) }
  })
}

function toUpstreamLine ({ name, url = 'its URL needs settings', auth, usedBy }: UsedUpstream): string {
  const users = usedBy.length === 0 ? '' : `, called by ${usedBy.join(', ')}`
  return `upstream ${name}: ${url}, auth ${auth}${users}`
}

function toSettingLine ({ name, isSet, isSecret, isRequired, description }: SettingFacts): string {
  const facts = [isRequired ? 'required' : 'optional', isSecret && 'secret', isSet ? 'set' : 'not set']
  return [`setting ${name}: ${facts.filter((fact) => fact !== false).join(', ')}`, description]
    .filter((part) => part !== undefined).join('. ')
}

/** `tools/a.ts:6`, which editors and terminals turn into a link, or `tools/a.ts: inputSchema`. */
function toPlace (finding: Pick<Finding, 'file' | 'place'>): string {
  const { file, place } = finding
  const line = lineNumberOf(finding)
  if (line !== undefined) return `${file}:${line}`
  return place === '' ? file : `${file}: ${place}`
}

interface Finding { readonly file: string, readonly place: string, readonly rule: string }

const PROBLEM = 'problem'

/**
 * The path of the catalog from the root of its repository, with a slash at its end: code hosts read paths
 * from there. From the working directory where there is no repository.
 */
function findBase (catalog: string): string {
  const folder = resolve(catalog)
  let root = folder
  while (!existsSync(join(root, '.git')) && dirname(root) !== root) root = dirname(root)
  const path = relative(dirname(root) === root ? '' : root, folder)
  return path === '' ? '' : `${path.split(sep).join('/')}/`
}

/**
 * https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 * @param base comes before the files.
 */
function toSarif ({ problems, advice }: Findings, version: string, base: string): object {
  const rules = [...new Set([PROBLEM, ...advice.map(({ name }) => name)])]
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{
      tool: { driver: { name: 'trivet', version, rules: rules.map((id) => ({ id })) } },
      results: [
        ...problems.map((problem) => toResult(problem, base, PROBLEM, 'error')),
        ...advice.map((item) => toResult(item, base, item.name, 'note'))
      ]
    }]
  }
}

function toResult (finding: Finding, base: string, ruleId: string, level: 'error' | 'note'): object {
  const { file, place, rule } = finding
  const line = lineNumberOf(finding)
  const uri = `${base}${file}`.split('/').map(encodeURIComponent).join('/')
  return {
    ruleId,
    level,
    message: { text: line !== undefined || place === '' ? rule : `${place}: ${rule}` },
    locations: [{
      physicalLocation: {
        artifactLocation: { uri }, ...(line !== undefined && { region: { startLine: line } })
      }
    }]
  }
}
