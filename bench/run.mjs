// Runs the benchmark. `npm run bench -- --help` describes it.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { drawRun } from './figures/picture.mjs'
import { judge, printYardsticks } from './figures/yardsticks.mjs'
import { HELP, LIST } from './help.mjs'
import { CALM_SHARE, measureOthers } from './load/others.mjs'
import { readOptions } from './options.mjs'
import { SECTIONS } from './sections/sections.mjs'
import { installPeers } from './servers/peers.mjs'
import { surroundings } from './surroundings.mjs'

const options = optionsOrExit(process.argv.slice(2))
if (options.help || options.list) {
  console.log(options.help ? HELP : LIST)
  process.exit()
}

if (options.svg !== undefined) {
  const run = JSON.parse(await readFile(options.svg, 'utf8'))
  await writeFile(new URL('../docs/benchmark.svg', import.meta.url), drawRun(run))
  process.exit()
}

if (options.peers) installPeers()
const date = new Date().toISOString()
const others = await measureOthers()
const results = { date, ...surroundings(), others, options, sections: {}, yardsticks: [] }
const nodes = options.nodes.map(({ version }) => version).join(' and ')
const { rounds, seconds, ids } = options
console.log(`Servers on Node ${nodes}, ${results.cpus} CPUs, ${rounds} rounds of ${seconds} s, ids: ${ids}`)
console.log(others > CALM_SHARE
  ? `The machine is busy: other processes use ${percent(others)} of it. Compare only figures of one table`
  : `The machine is quiet: other processes use ${percent(others)} of it`)

for (const section of SECTIONS.filter(({ name }) => options.sections.includes(name))) {
  const figures = await section.run(options, section.print)
  results.sections[section.name] = figures
  results.yardsticks.push(...judge(section.yardsticks?.(figures) ?? []))
}
printYardsticks(results.yardsticks)
const dated = new URL(`results/${date.replaceAll(':', '-')}.json`, import.meta.url)
await write(options.json ?? fileURLToPath(dated))
// Without this call, the connections that fetch keeps alive would delay the end of the process for seconds.
process.exit()

function percent (share) {
  return `${Math.round(share * 100)} %`
}

function optionsOrExit (args) {
  try {
    return readOptions(args)
  } catch (error) {
    console.error(error.message)
    process.exit(2)
  }
}

async function write (file) {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${JSON.stringify(results, undefined, 2)}\n`)
  console.log(`\nWritten to ${file}`)
}
