// The official suite: its required scenarios, its run, and its results.

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parse } from 'yaml'

const SUITE = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/conformance/', import.meta.url))
const PROGRAM = join(SUITE, 'dist', 'index.js')
const SUITE_TIMEOUT_MS = 600_000
const SUITE_MIN_NODE = 22
const NODE_PACKAGE = `node-${process.platform}-${process.arch}@24.21.0`

/** @typedef {import('./runs.mjs').Run} Run */

/**
 * One check of a scenario, as the suite writes it.
 * @typedef {{ id: string, status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED', description:
 *   string, errorMessage?: string, details?: object }} Check
 */

/**
 * The names of the server scenarios that the suite has for a run, in its order.
 *
 * @param {Run} run
 * @returns {Promise<string[]>}
 */
export async function readScenarios ({ revision, isScored, extensions }) {
  return [...isScored ? await readRequirements(revision) : await listScenarios(revision), ...extensions]
}

/** The scored ones, then the others. */
async function readRequirements (revision) {
  const requirements = parse(await readFile(join(SUITE, 'requirements', `${revision}.yaml`), 'utf8'))
  const unscored = requirements.not_scored.filter(({ leg }) => leg === 'server').map(
    ({ scenario }) => scenario
  )
  return [...requirements.server, ...unscored]
}

async function listScenarios (revision) {
  const { stdout } = await promisify(execFile)(await suiteNode(), [
    PROGRAM, 'list', '--server', '--spec-version', revision
  ])
  return [...stdout.matchAll(/^ +- (\S+)/gm)].map(([, scenario]) => scenario)
}

/**
 * Runs every scenario. The verdicts are in `folder` afterwards; the exit code says nothing more.
 *
 * @param {Run} run
 * @param {string} url where the service listens
 * @param {string} folder where the results go
 */
export async function runSuite ({ revision, isScored, extensions }, url, folder) {
  const all = isScored ? ['--requirements', revision] : ['--suite', 'all', '--spec-version', revision]
  const others = extensions.map((scenario) => ['--scenario', scenario, '--spec-version', revision, '--force'])
  for (const choice of [all, ...others]) await runChoice(choice, url, folder)
}

async function runChoice (choice, url, folder) {
  const suite = spawn(await suiteNode(), [PROGRAM, 'server', '--url', url, ...choice, '-o', folder], {
    // The files have all results. Only stderr has the reason why a scenario broke off.
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: SUITE_TIMEOUT_MS
  })
  const killNow = () => suite.kill('SIGKILL')
  process.once('exit', killNow)
  const [code, signal] = await once(suite, 'exit')
  process.off('exit', killNow)
  if (signal !== null) {
    throw new Error(`The suite was ended by ${signal}; it may take ${SUITE_TIMEOUT_MS} ms.`)
  }
  if (code > 1) throw new Error(`The suite ended with exit code ${code}.`)
}

/** @type {Promise<string> | undefined} */
let node

/** The suite needs a newer Node than the service. If this Node is too old, an npm package provides one. */
async function suiteNode () {
  node ??= findNode()
  return await node
}

async function findNode () {
  if (Number.parseInt(process.versions.node) >= SUITE_MIN_NODE) return process.execPath
  const args = [
    'exec', '--yes', '--loglevel=error', `--package=${NODE_PACKAGE}`, '--', 'node', '-p', 'process.execPath'
  ]
  const { stdout } = await promisify(execFile)('npm', args)
  return stdout.trim()
}

/**
 * The checks of each scenario that was begun, from the files `server-<scenario>-<time>/checks.json` that the
 * suite leaves. `undefined` for a scenario that broke off: its folder is there without the file.
 *
 * @param {string} folder
 * @returns {Promise<Map<string, Check[] | undefined>>}
 */
export async function readResults (folder) {
  const results = new Map()
  for (const name of await readdir(folder)) {
    const scenario = /^server-(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/.exec(name)?.[1]
    if (scenario !== undefined) results.set(scenario, await readChecks(join(folder, name, 'checks.json')))
  }
  return results
}

async function readChecks (path) {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw new Error(`Cannot read ${path}`, { cause: error })
  }
}
