// The benchmark: Trivet beside the ceilings and the official SDK, in one run, on one machine, on the same data.
//
//   npm run bench                         all of it: about half an hour
//   npm run bench -- --quick              fewer sizes, shorter rounds: a few minutes, not fit to quote
//   npm run bench -- --only streams       one section: calls, legacy, startup, streams, state or replicas
//   npm run bench -- --sizes 5,50 --rounds 5 --seconds 10
//   node bench/run.mjs --main ../before/dist/main.js      another build of Trivet, to compare
//
// Prints tables, writes every figure to bench/results/<date>.json. A ratio is taken within a round, between peers that
// were measured one after the other; what is reported is the median of the rounds' ratios. Absolute figures depend on
// the machine, which the load generator shares with the servers.

import { mkdir, writeFile } from 'node:fs/promises'
import { benchCalls } from './calls.mjs'
import { benchGrowth } from './growth.mjs'
import { benchLegacy } from './legacy.mjs'
import { readOptions } from './options.mjs'
import { benchReplicas } from './replicas.mjs'
import { printCalls, printGrowth, printLegacy, printReplicas, printStartup, printState, printStreams, printYardsticks } from './report.mjs'
import { benchStartup } from './startup.mjs'
import { benchState } from './state.mjs'
import { benchStreams } from './streams.mjs'
import { surroundings } from './surroundings.mjs'
import { judge } from './yardsticks.mjs'

const { main, ...options } = optionsOrExit(process.argv.slice(2))
const date = new Date().toISOString()
const results = { date, ...surroundings(), options }
console.log(`Node ${results.node}, ${results.cpus} CPUs, ${options.rounds} rounds of ${options.seconds} s`)

if (options.sections.includes('calls')) {
  results.calls = []
  for (const toolCount of options.sizes) {
    await benchCalls({ main, ...options }, toolCount, (row) => {
      results.calls.push(row)
      printCalls(row)
    })
  }
  results.growth = await benchGrowth({ main, ...options })
  printGrowth(results.growth)
}
if (options.sections.includes('legacy')) {
  results.legacy = await benchLegacy({ main, ...options })
  printLegacy(results.legacy)
}
if (options.sections.includes('startup')) {
  results.startup = await benchStartup({ main, ...options })
  printStartup(results.startup)
}
if (options.sections.includes('streams')) {
  results.streams = await benchStreams({ main, ...options })
  printStreams(results.streams)
}
if (options.sections.includes('state')) {
  results.state = await benchState({ main, ...options })
  printState(results.state)
}
if (options.sections.includes('replicas')) {
  results.replicas = await benchReplicas({ main, ...options })
  printReplicas(results.replicas)
}

results.yardsticks = judge(results)
printYardsticks(results.yardsticks)
await write(results)
// The connections that fetch keeps alive would hold the process for seconds.
process.exit()

function optionsOrExit (args) {
  try {
    return readOptions(args)
  } catch (error) {
    console.error(error.message)
    process.exit(2)
  }
}

async function write (results) {
  const folder = new URL('results/', import.meta.url)
  await mkdir(folder, { recursive: true })
  const name = `${date.replaceAll(':', '-')}.json`
  await writeFile(new URL(name, folder), `${JSON.stringify(results, undefined, 2)}\n`)
  console.log(`\nWritten to bench/results/${name}`)
}
