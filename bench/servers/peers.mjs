// The peers: other MCP servers, in bench/peers. A clean install brings the peers of the package.json
// there. The other peers are not on npm. They are measured if node_modules has them.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MCP_TIME_PARAMS } from '../peers/mcp-time.mjs'
import { writeToolboxConfig } from '../peers/toolbox-config.mjs'
import { workspacePath } from '../workspace.mjs'
import { findFreePort } from './free-port.mjs'
import { startForeignServer, startServer } from './server-process.mjs'

const FOLDER = fileURLToPath(new URL('../peers', import.meta.url))
const MODULES = join(FOLDER, 'node_modules')
/** The packages of the programs for this system. Some systems have no such package. */
const TOOLBOX = `@toolbox-sdk/server-${process.platform}-${process.arch}`
/** A build of a branch: @platformatic/mcp 2.4.0 answers requests of this revision with 400. */
const PLATFORMATIC_2026 = 'platformatic-mcp-2026'
const MCP_TIME = `mcp-time-${process.platform}-${process.arch}`

/**
 * `differs` describes how a peer differs from the other contenders. `startProgram` starts a peer that does
 * not run on Node.
 */
const PEERS = [
  {
    name: 'mcp-handler',
    package: 'mcp-handler',
    file: 'mcp-handler.mjs',
    differs: 'on the official SDK with its schemas made once; no log'
  },
  {
    name: 'prefecthq fastmcp-ts',
    package: '@prefecthq/fastmcp-ts',
    file: 'fastmcp-ts.mjs',
    differs: 'on the official SDK; asks for Node 22; no log'
  },
  {
    name: 'fastmcp',
    package: 'fastmcp',
    file: 'fastmcp.mjs',
    isLegacy: true,
    differs: 'revision 2025-11-25, so smaller requests; on the official SDK 1, with sessions; no log'
  },
  {
    name: 'platformatic/mcp',
    package: '@platformatic/mcp',
    file: 'platformatic-mcp.mjs',
    isLegacy: true,
    differs: 'revision 2025-11-25, without sessions; does not check what tools return; no log'
  },
  {
    name: 'platformatic/mcp, unchecked',
    package: '@platformatic/mcp',
    file: 'platformatic-mcp.mjs',
    env: { BENCH_CHECKS: 'none' },
    isLegacy: true,
    differs: 'the default of platformatic/mcp: does not check arguments either'
  },
  {
    name: 'platformatic/mcp, 2026-07-28',
    package: PLATFORMATIC_2026,
    file: 'platformatic-mcp.mjs',
    env: { BENCH_PACKAGE: PLATFORMATIC_2026 },
    differs: 'a build of its branch feat/mcp-2026-07-28; does not check what tools return; no log'
  },
  {
    name: 'mcp-toolbox (Go)',
    package: TOOLBOX,
    startProgram: startToolbox,
    isLegacy: true,
    works: false,
    methods: ['tools/list', 'tools/call'],
    differs: 'revision 2025-11-25; each call runs a statement of SQLite; no lists among arguments, ' +
      'no output schemas; uses all cores'
  },
  {
    name: 'mcp-time (Go)',
    package: MCP_TIME,
    startProgram: startMcpTime,
    isLegacy: true,
    works: false,
    methods: ['tools/call'],
    ownParams: MCP_TIME_PARAMS,
    differs: 'on mcp-go 0.33; serves revision 2025-03-26; its own tool, which adds a duration to a time, ' +
      'so smaller requests and answers; checks no arguments; no output schemas; no log; uses all cores'
  }
]

/** Installs the peers of the lock file, unless node_modules exists. */
export function installPeers () {
  if (existsSync(MODULES)) return
  console.log('Installing bench/peers')
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  execFileSync('npm', args, { cwd: FOLDER, stdio: 'inherit' })
}

/** @returns {object[]} contenders without the members that all contenders have */
export function listPeers (node, toolCount) {
  return PEERS.map(({ package: packageName, file, env: own, startProgram, ...peer }) => ({
    ...peer,
    isPeer: true,
    start: async () => {
      const isInstalled = existsSync(join(MODULES, packageName))
      if (!isInstalled) throw new Error(`${packageName} is not in bench/peers/node_modules`)
      if (startProgram !== undefined) return startProgram(toolCount)
      const env = { BENCH_TOOLS: String(toolCount), ...own }
      return startServer({ node: node.path, file: join(FOLDER, file), env })
    }
  }))
}

async function startToolbox (toolCount) {
  const config = workspacePath('tools.yaml')
  await writeToolboxConfig(config, toolCount)
  const port = String(await findFreePort())
  const command = join(MODULES, TOOLBOX, 'bin', 'toolbox')
  const alone = ['--disable-reload', '--disable-version-check', '--log-level', 'ERROR']
  const args = ['--config', config, '--port', port, ...alone]
  return startForeignServer({ command, args, url: `http://127.0.0.1:${port}/mcp` })
}

async function startMcpTime () {
  const url = `http://127.0.0.1:${await findFreePort()}/mcp`
  const command = join(MODULES, MCP_TIME, 'bin', 'mcp-time')
  return startForeignServer({ command, args: ['--transport', 'stream', '--address', url], url })
}
