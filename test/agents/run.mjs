// Runs agents against a service and a scripted model, and prints what the model of each agent reads. By hand:
// `npm run agents -- [--agents claude,codex] [--build DIR] [--tools 300] [--verbose]`.
// Installs the agents from the registry of npm into a folder of its own.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { AGENTS } from './agents.mjs'
import { findTool, startModel } from './model.mjs'
import { install, ROOT, startService } from './service.mjs'
import { STEPS } from './steps.mjs'

const RUN_MS = 120_000
const MOST_SHOWN = 300

const { values: options } = parseArgs({
  options: {
    agents: { type: 'string', default: Object.keys(AGENTS).join(',') },
    build: { type: 'string', default: ROOT },
    tools: { type: 'string', default: '0' },
    install: { type: 'string', default: join(tmpdir(), 'trivet-agents') },
    verbose: { type: 'boolean', default: false }
  }
})

const place = await mkdtemp(join(tmpdir(), 'trivet-agents-run-'))
console.log(`Requests are kept in ${place}.`)
for (const name of options.agents.split(',')) {
  // Callers without a token share what one caller may have.
  const service = await startService({
    place, build: resolve(options.build), tools: Number(options.tools), verbose: options.verbose
  })
  try {
    await measure(name, service)
  } finally {
    service.kill('SIGTERM')
    await once(service, 'close')
  }
}

async function measure (name, service) {
  const agent = AGENTS[name]
  const bin = join(await install(join(options.install, name), [agent.package]), '.bin')
  const model = await startModel(STEPS, agent, options)
  const home = join(place, name)
  await mkdir(home, { recursive: true })
  const start = agent.start({ home, model: model.url, service: service.url })
  const { before, command, env, files = {} } = start
  for (const [file, content] of Object.entries(files)) {
    await mkdir(dirname(join(home, file)), { recursive: true })
    await writeFile(join(home, file), typeof content === 'string' ? content : JSON.stringify(content))
  }
  if (before !== undefined) await runAgent(bin, home, before, env)
  const startedAt = performance.now()
  const isEnded = await runAgent(bin, home, command, env)
  model.stop()
  await writeFile(join(place, `${name}.json`), model.latestText)
  print(name, model, isEnded ? (performance.now() - startedAt) / 1000 : undefined)
}

/** Resolves to whether the program has ended by itself. */
async function runAgent (bin, home, [program, ...args], env) {
  const agent = spawn(join(bin, program), args, {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true
  })
  let output = ''
  for (const stream of [agent.stdout, agent.stderr]) stream.on('data', (chunk) => { output += chunk })
  const end = once(agent, 'close')
  const isEnded = await Promise.race([end.then(() => true), pause(RUN_MS, false, { ref: false })])
  if (!isEnded) process.kill(-agent.pid, 'SIGKILL')
  if (options.verbose) console.error(output)
  return isEnded
}

function print (name, { latest, latestText, results }, seconds) {
  const duration = seconds === undefined ? 'did not end' : `${seconds.toFixed(0)} s`
  console.log(`\n## ${AGENTS[name].package}: ${duration}`)
  if (latest === undefined) return console.log('sent the model no tools')
  console.log(`- tools: ${latest.tools.length}, ${JSON.stringify(latest.tools).length} characters`)
  console.log(`- instructions: ${countCharacters('i', latestText)} of 3000 characters`)
  console.log(`- description: ${countCharacters('d', latestText)} of 3000 characters`)
  const isText = results.some((result) => result?.includes('iVBOR'))
  const isShown = /"(?:type":\s*"(?:image|image_url|input_image)|inlineData)"/.test(latestText)
  console.log(`- pictures: ${isShown ? 'shown' : isText ? 'as base64 text' : 'not shown'}`)
  for (const [index, { title, tool, expected }] of STEPS.entries()) {
    const result = results[index]
    const verdict = expected.test(result ?? '') ? 'as meant' : 'not as meant'
    console.log(`- ${title}: ${verdict}: ${result?.slice(0, MOST_SHOWN).replaceAll(/\s+/g, ' ')}`)
    if (options.verbose && tool) console.log(`  ${JSON.stringify(findTool(tool, latest.tools))}`)
  }
}

/** Counts how much of a text the model was sent: its words, such as d0012, have six characters each. */
function countCharacters (letter, text) {
  const words = text.match(new RegExp(`\\b${letter}\\d{4}\\b`, 'g')) ?? []
  return 6 * new Set(words).size
}
