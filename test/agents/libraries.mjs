// Runs client libraries against a service, and prints what each makes of the same calls. By hand:
// `node test/agents/libraries.mjs [--libraries ai-sdk,mastra] [--python /tmp/venv/bin/python]`.

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { install, ROOT, startService } from './service.mjs'

const run = promisify(execFile)
const PYTHON = fileURLToPath(new URL('libraries.py', import.meta.url))
const CLIENT = { name: 'trivet-libraries', version: '1.0.0' }
const ACCEPT = { action: 'accept', content: { size: 'L' } }
const MOST_SHOWN = 240

/**
 * `open` connects, and resolves to what calls tools. `file` is the module within the package.
 * @type {Record<string, { packages: string[], file?: string, open: Function }>}
 */
const LIBRARIES = {
  'official SDK 1': {
    packages: ['@modelcontextprotocol/sdk@1.32.2'],
    file: '@modelcontextprotocol/sdk/dist/esm/client/index.js',
    async open ({ Client }, url, load) {
      const http = await load('@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.js')
      const { ElicitRequestSchema } = await load('@modelcontextprotocol/sdk/dist/esm/types.js')
      const client = new Client(CLIENT, { capabilities: { elicitation: {} } })
      client.setRequestHandler(ElicitRequestSchema, () => ACCEPT)
      await client.connect(new http.StreamableHTTPClientTransport(new URL(url)))
      return byName(client)
    }
  },
  'official SDK 2': {
    packages: ['@modelcontextprotocol/client@2.4.0'],
    file: '@modelcontextprotocol/client/dist/index.mjs',
    async open ({ Client, StreamableHTTPClientTransport }, url) {
      const client = new Client(CLIENT, {
        capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' }
      })
      client.setRequestHandler('elicitation/create', () => ACCEPT)
      await client.connect(new StreamableHTTPClientTransport(new URL(url)))
      return byName(client)
    }
  },
  'AI SDK': {
    packages: ['@ai-sdk/mcp@2.0.99', 'ai@7.0.173'],
    file: '@ai-sdk/mcp/dist/index.js',
    async open ({ createMCPClient, ElicitationRequestSchema }, url) {
      const client = await createMCPClient({
        transport: { type: 'http', url }, capabilities: { elicitation: {} }
      })
      client.onElicitationRequest(ElicitationRequestSchema, () => ACCEPT)
      const tools = await client.tools()
      return {
        names: Object.keys(tools),
        call: async (name, args) => await tools[name].execute(args, { toolCallId: '1', messages: [] }),
        close: async () => await client.close()
      }
    }
  },
  LangChain: {
    packages: ['@langchain/mcp-adapters@1.1.4', '@langchain/core'],
    file: '@langchain/mcp-adapters/dist/index.js',
    async open ({ MultiServerMCPClient }, url) {
      const client = new MultiServerMCPClient({ mcpServers: { trivet: { transport: 'http', url } } })
      const tools = await client.getTools()
      return {
        names: tools.map(({ name }) => name),
        call: async (own, args) => await tools.find(({ name }) => name === own).invoke(args),
        close: async () => await client.close()
      }
    }
  },
  Mastra: {
    packages: ['@mastra/mcp@2.0.0'],
    file: '@mastra/mcp/dist/index.js',
    async open ({ MCPClient }, url) {
      const inputRequests = async () => ACCEPT
      const client = new MCPClient({ servers: { trivet: { url: new URL(url), inputRequests } } })
      const tools = await client.listTools()
      return {
        names: Object.keys(tools),
        call: async (name, args) => await tools[`trivet_${name}`].execute(args, {}),
        close: async () => await client.disconnect()
      }
    }
  },
  'OpenAI Agents': {
    packages: ['@openai/agents@0.20.0', 'zod'],
    file: '@openai/agents/dist/index.mjs',
    async open ({ MCPServerStreamableHttp }, url) {
      const client = new MCPServerStreamableHttp({ url, name: 'trivet' })
      await client.connect()
      const tools = await client.listTools()
      return {
        names: tools.map(({ name }) => name),
        call: async (name, args) => await client.callTool(name, args),
        close: async () => await client.close()
      }
    }
  },
  'mcp-use': {
    packages: ['mcp-use@1.34.6', '@langchain/core', 'langchain'],
    file: 'mcp-use/dist/index.js',
    async open ({ MCPClient }, url) {
      const client = new MCPClient(
        { mcpServers: { trivet: { url } } }, { elicitationCallback: async () => ACCEPT }
      )
      const session = await client.createSession('trivet')
      const tools = await session.listTools()
      return {
        names: tools.map(({ name }) => name),
        call: async (name, args) => await session.callTool(name, args),
        close: async () => await client.closeAllSessions()
      }
    }
  },
  Inspector: {
    packages: ['@modelcontextprotocol/inspector@2.12.0'],
    async open (_module, url, _load, bin) {
      const ask = async (...args) => {
        const inspector = join(bin, 'mcp-inspector')
        const { stdout } = await run(inspector, ['--cli', url, '--transport', 'http', '--method', ...args])
        return JSON.parse(stdout)
      }
      const { tools } = await ask('tools/list')
      return {
        names: tools.map(({ name }) => name),
        call: async (name, args) => await ask('tools/call', '--tool-name', name, ...Object.entries(args)
          .flatMap(([key, value]) => ['--tool-arg', `${key}=${JSON.stringify(value)}`])),
        close () {}
      }
    }
  }
}

/** @type {Array<[title: string, tool: string, args: object | Function, expected: RegExp]>} */
const CALLS = [
  ['Arguments as texts', 'count_parts', { rows: '[1,2]', limit: '5', exact: 'true', note: null }, /counted/],
  ['Wrong arguments', 'read_stock', { sku: { a: 1 } }, /sku: must be string/],
  ['Structured content', 'read_stock', { sku: 'a' }, /count\\*":3/],
  ['A result of the official SDK', 'read_shelf', {}, /there are four|count\\*":4/],
  ['Texts and structured content', 'measure_dot', {}, /a red dot/],
  ['A link', 'make_link', {}, /Resource report: |report-7\.pdf/],
  ['A picture', 'draw_dot', {}, /a red dot.*iVBOR/],
  ['A text that was cut', 'print_rows', {}, /read_more/],
  ['What was cut', 'read_more', toCursor, /row 42 of/],
  ['Rows that were cut', 'list_rows', {}, /read_more/],
  ['A form', 'ask_size', {}, /asked .*accept|Which size/]
]

function toCursor (before) {
  return { cursor: /cursor:? \\*"([\w.-]+)/.exec(before)?.[1] ?? '' }
}

const { values: options } = parseArgs({
  options: {
    libraries: { type: 'string', default: Object.keys(LIBRARIES).join(',') },
    build: { type: 'string', default: ROOT },
    install: { type: 'string', default: join(tmpdir(), 'trivet-libraries') },
    python: { type: 'string', default: '' },
    verbose: { type: 'boolean', default: false }
  }
})

for (const name of options.libraries.split(',').filter((name) => name !== '')) {
  await withService(async (url) => await measure(name, url))
}
if (options.python !== '') {
  await withService(async (url) => console.log((await run(options.python, [PYTHON, url])).stdout))
}

/** Callers without a token share what one caller may have. */
async function withService (use) {
  const place = await mkdtemp(join(tmpdir(), 'trivet-libraries-run-'))
  const service = await startService({ place, build: options.build, verbose: options.verbose })
  try {
    await use(service.url)
  } finally {
    service.kill('SIGTERM')
    await once(service, 'close')
  }
}

async function measure (name, url) {
  const { packages, file, open } = LIBRARIES[name]
  console.log(`\n## ${name}: ${packages[0]}`)
  try {
    const folder = await install(join(options.install, name.replaceAll(' ', '-')), packages)
    const load = async (path) => await import(pathToFileURL(join(folder, path)).href)
    const library = await open(file && await load(file), url, load, join(folder, '.bin'))
    console.log(`- tools: ${library.names.length}`)
    let before = ''
    for (const [title, tool, args, expected] of CALLS) {
      const answer = await tell(async () => (
        await library.call(tool, typeof args === 'function' ? args(before) : args)
      ))
      const verdict = expected.test(answer) ? 'as meant' : 'not as meant'
      console.log(`- ${title}: ${verdict}: ${answer.slice(0, MOST_SHOWN)}`)
      before = answer
    }
    await library.close()
  } catch (error) {
    console.log(`- failed: ${error.message}`)
  }
}

async function tell (call) {
  try {
    return JSON.stringify(await call()) ?? 'nothing'
  } catch (error) {
    return `throws ${error.message}`
  }
}

async function byName (client) {
  const { tools } = await client.listTools()
  return {
    names: tools.map(({ name }) => name),
    call: async (name, args) => await client.callTool({ name, arguments: args }),
    close: async () => await client.close()
  }
}
