// Signs people in by agents at three replicas, and prints what happens: the first sign-in and a call, a call
// with an expired access token, one that needs more scopes, and one after the person has signed out. By hand:
// `npm run agents:sign-in -- [--agents claude,codex] [--verbose]`.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { open, signInThere, tokenOf } from '../features/sign-in/browser-flow.ts'
import { createPerson } from '../helpers/person.ts'
import { startSignInReplicas } from '../replicas/sign-in-replicas.ts'
import { AGENTS } from './agents.mjs'
import { startModel } from './model.mjs'
import { install } from './service.mjs'
import { openInspector } from './sign-in-inspector.mjs'

const SERVER = 'trivet'
const RUN_MS = 60_000
/** Access tokens live for 60 s, and count for some more: clocks differ. */
const EXPIRY_MS = 125_000
const SIGN_OUT_MS = 2500
/** Terminals get control characters around it. */
const URLS = /http:\/\/127\.0\.0\.1:\d+\/sign-in\/authorize\?[\w.~%&=+-]+(?=[^\w.~%&=+-])/g
const MOST_SHOWN = 200

/** How each agent is told to sign a person in, and to do it again for more scopes. */
const CLIENTS = {
  claude: {
    before: ['claude', 'mcp', 'add', '--scope', 'user', '--transport', 'http', SERVER],
    login: ['script', '-qfec', `claude mcp login ${SERVER}`, '/dev/null'],
    again: ['script', '-qfec', `claude mcp login ${SERVER}`, '/dev/null'],
    omits: ['--mcp-config', '--strict-mcp-config']
  },
  codex: {
    login: ['codex', 'mcp', 'login', SERVER],
    again: ['codex', 'mcp', 'login', '--scopes', 'books:read,books:write', SERVER]
  },
  opencode: { login: ['opencode', 'mcp', 'auth', SERVER] },
  'mcp-remote': { package: 'mcp-remote@0.15.1', callTools: callByStdio },
  inspector: { package: '@modelcontextprotocol/inspector@2.12.0', callTools: callByBrowser }
}

/** The documents cannot be read here. These are written from what is public about the agents. */
const REDIRECT_URIS = ['http://localhost/callback', 'http://127.0.0.1/callback']
const DOCUMENTS = {
  'https://claude.ai/oauth/claude-code-client-metadata': {
    client_name: 'Claude Code', redirect_uris: REDIRECT_URIS, token_endpoint_auth_method: 'none'
  },
  'https://chatgpt.com/oauth/codex/client.json': {
    client_name: 'Codex', redirect_uris: REDIRECT_URIS, token_endpoint_auth_method: 'none'
  }
}

const { values: options } = parseArgs({
  options: {
    agents: { type: 'string', default: Object.keys(CLIENTS).join(',') },
    install: { type: 'string', default: join(tmpdir(), 'trivet-agents') },
    verbose: { type: 'boolean', default: false }
  }
})

const inspectors = new Map()
const ends = []
// What the helpers of tests ask of a test.
const test = { teardown: (end) => ends.unshift(end), comment: console.log }
const replicas = await startSignInReplicas(test, { documents: DOCUMENTS, logLevel: 'info' })
const place = await mkdtemp(join(tmpdir(), 'trivet-sign-in-'))
try {
  const runs = []
  for (const name of options.agents.split(',')) runs.push(await prepare(name))
  for (const run of runs) await run('a sign-in and a call', ['hello'], { isFirst: true })
  await pause(EXPIRY_MS)
  for (const run of runs) await run('a call with an expired token', ['hello'])
  for (const run of runs) await run('a call that needs more scopes', ['write_book', 'hello'])
  for (const run of runs) await run('a call after one more sign-in', ['write_book'], { isAgain: true })
  for (const run of runs) await run('a call after the sign-out', ['hello'], { isLast: true })
} finally {
  if (options.verbose) console.log(replicas.logs())
  for (const end of ends) await end()
}

async function prepare (name) {
  const client = CLIENTS[name]
  const agent = AGENTS[name]
  const home = join(place, name)
  const bin = join(await install(join(options.install, name), [agent?.package ?? client.package]), '.bin')
  const person = createPerson({ name })
  const env = await makeBrowser(home, bin)
  const { callTools = callByAgent } = client

  return async (title, tools, { isFirst = false, isAgain = false, isLast = false } = {}) => {
    if (isAgain && client.again === undefined) return
    if (isLast) {
      await signOut(person)
      await pause(SIGN_OUT_MS)
    }
    const from = replicas.forwarded.length
    const texts = []
    const visits = watchVisits(home, person, texts)
    const results = await callTools({ name, home, bin, env, tools, texts, isFirst, isAgain }).catch(
      (error) => [`failed: ${error.message}`]
    )
    const count = await visits.end()
    console.log(`\n## ${name}: ${title}`)
    console.log(`- visits of the person: ${count}`)
    console.log(`- requests: ${countRequests(replicas.forwarded.slice(from))}`)
    for (const result of results) console.log(`- ${result.slice(0, MOST_SHOWN).replaceAll(/\s+/g, ' ')}`)
    if (options.verbose) console.log(texts.join('\n'))
  }
}

/** A program that agents take for the browser. It writes down what it shall show. */
async function makeBrowser (home, bin) {
  await mkdir(home, { recursive: true })
  await writeFile(join(home, 'visits'), '')
  for (const name of ['browser', 'xdg-open']) {
    const file = join(home, name)
    await writeFile(file, `#!/bin/sh\necho "$@" >> ${home}/visits\n`)
    await chmod(file, 0o755)
  }
  return {
    PATH: `${home}:${bin}:${process.env.PATH}`,
    HOME: home,
    LANG: 'C.UTF-8',
    BROWSER: join(home, 'browser'),
    MCP_REMOTE_CONFIG_DIR: join(home, '.mcp-auth')
  }
}

/** Lets the person visit each URL that the browser is told to show, or that the agent prints. */
function watchVisits (home, person, texts) {
  const visited = new Set()
  const ended = new AbortController()
  const loop = (async () => {
    const before = new Set(findUrls(await readFile(join(home, 'visits'), 'utf8')))
    while (!ended.signal.aborted) {
      const text = `${await readFile(join(home, 'visits'), 'utf8')}\n${texts.join('')}`
      for (const url of findUrls(text)) {
        const { searchParams } = new URL(url)
        const challenge = searchParams.get('code_challenge')
        if (before.has(url) || visited.has(challenge)) continue
        visited.add(challenge)
        const redirectUri = searchParams.get('redirect_uri')
        const { url: back, text } = await person.follow(new URL(url), redirectUri)
        if (!back.href.startsWith(redirectUri)) texts.push(`the person stands at ${back.href}: ${text}`)
        else await fetch(back).catch((error) => texts.push(`the way back: ${error}`))
      }
      await pause(100)
    }
  })()
  return {
    async end () {
      ended.abort()
      await loop.catch((error) => texts.push(String(error)))
      return visited.size
    }
  }
}

function findUrls (text) {
  return [...text.matchAll(URLS)].map(([url]) => url)
}

async function callByAgent ({ name, home, bin, env, tools, texts, isFirst, isAgain }) {
  const agent = AGENTS[name]
  const { before, login, again, omits = [] } = CLIENTS[name]
  const steps = tools.map((tool) => ({ title: tool, tool, args: {}, expected: /./ }))
  const model = await startModel(steps, agent, options)
  const start = agent.start({ home, model: model.url, service: replicas.endpoint })
  for (const [file, content] of Object.entries(start.files ?? {})) {
    await mkdir(dirname(join(home, file)), { recursive: true })
    await writeFile(join(home, file), typeof content === 'string' ? content : JSON.stringify(content))
  }
  const run = async (command) => await runAgent(home, command, { ...env, ...start.env }, texts)
  const notes = []
  if (isFirst) {
    if (before !== undefined) notes.push(`${before.join(' ')}: ${await run([...before, replicas.endpoint])}`)
    notes.push(`${login.join(' ')}: ${await run(login)}`)
  }
  if (isAgain) notes.push(`${again.join(' ')}: ${await run(again)}`)
  notes.push(`ended ${await run(leaveOut(start.command, omits))}`)
  model.stop()
  return [...notes, ...model.results.map((result, index) => `${tools[index]}: ${result}`)]
}

/** Leaves options out, with their values. */
function leaveOut (command, omits) {
  return command.filter((word, index) => (
    !omits.includes(word) && !(command[index - 1] === '--mcp-config' && omits.includes('--mcp-config'))
  ))
}

async function runAgent (home, [program, ...args], env, texts) {
  const agent = spawn(program, args, { cwd: home, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  // A sign-in ends with its input. Other commands read all of it before they begin.
  if (program !== 'script') agent.stdin.end()
  for (const stream of [agent.stdout, agent.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => { texts.push(text) })
  }
  const end = once(agent, 'close')
  const code = await Promise.race([end.then(([code]) => code), pause(RUN_MS, undefined, { ref: false })])
  if (code !== undefined) return `with ${code}`
  process.kill(-agent.pid, 'SIGKILL')
  return 'not by itself'
}

async function callByStdio ({ bin, env, tools, texts }) {
  const transport = new StdioClientTransport({
    command: join(bin, 'mcp-remote'), args: [replicas.endpoint, '--allow-http'], env, stderr: 'pipe'
  })
  transport.stderr.on('data', (chunk) => { texts.push(String(chunk)) })
  const client = new Client({ name: 'test', version: '1.0.0' })
  const results = []
  try {
    await client.connect(transport, { timeout: RUN_MS })
    for (const name of tools) {
      const text = await client.callTool({ name, arguments: {} }, undefined, { timeout: RUN_MS }).then(
        ({ content }) => JSON.stringify(content), (error) => error.message
      )
      results.push(`${name}: ${text}`)
    }
  } finally {
    await client.close()
  }
  return results
}

async function callByBrowser ({ name, bin, home, tools, isFirst }) {
  const { endpoint } = replicas
  if (isFirst) inspectors.set(name, await openInspector(test, { bin, home, endpoint, name }))
  const inspector = inspectors.get(name)
  const before = inspector.visits()
  if (isFirst) await inspector.connect()
  const results = []
  for (const tool of tools) results.push(`${tool}: ${await inspector.call(tool)}`)
  return [`visits of the person in Chromium: ${inspector.visits() - before}`, ...results]
}

async function signOut (person) {
  const url = new URL(`${replicas.origin}/sign-in`)
  const passage = await person.visit(url, new URLSearchParams({ action: 'sign-in' }))
  const callback = `${replicas.origin}/sign-in/callback`
  const page = await open(person, await signInThere(person, passage, callback))
  await open(person, url, new URLSearchParams({ token: tokenOf(page), action: 'end-all' }))
}

function countRequests (forwarded) {
  const counts = new Map()
  for (const { method, path, status } of forwarded) {
    const name = `${method} ${path.split('/').slice(0, 3).join('/')} ${status}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => count === 1 ? name : `${count} × ${name}`).join(', ')
}
