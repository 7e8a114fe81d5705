// Runs the benchmark. `npm run bench -- --help` describes it.

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { judge, printYardsticks } from './figures/yardsticks.mjs'
import { HELP, LIST } from './help.mjs'
import { readOptions } from './options.mjs'
import { SECTIONS } from './sections/sections.mjs'
import { installPeers } from './servers/peers.mjs'
import { surroundings } from './surroundings.mjs'

const options = optionsOrExit(process.argv.slice(2))
if (options.help || options.list) {
  console.log(options.help ? HELP : LIST)
  process.exit()
}

if (options.peers) installPeers()
const date = new Date().toISOString()
const results = { date, ...surroundings(), options, sections: {}, yardsticks: [] }
const nodes = options.nodes.map(({ version }) => version).join(' and ')
const { rounds, seconds, ids } = options
console.log(`Servers on Node ${nodes}, ${results.cpus} CPUs, ${rounds} rounds of ${seconds} s, ids: ${ids}`)

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
