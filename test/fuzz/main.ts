// Fuzzes the service, and prints what it finds: npm run fuzz -- --seed N --requests M --catalogs C

import { parseArgs } from 'node:util'
import { toBytes } from './client.ts'
import { fuzzCatalogs } from './fuzz-catalogs.ts'
import { fuzz, type Failure } from './run.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    requests: { type: 'string', default: '20000' },
    catalogs: { type: 'string', default: '300' }
  }
})
const [seed, requests] = [Number(values.seed), Number(values.requests)]
const startedAt = Date.now()
const report = await fuzz({
  seed,
  requests,
  onProgress (sent) {
    if (sent % 10_000 === 0) console.log(`${sent} requests in ${secondsSince(startedAt)} s`)
  }
})
for (const [kind, times] of [...report.statuses].sort()) console.log(`${String(times).padStart(8)}  ${kind}`)
for (const failure of report.failures) print(failure)
const { before, after, leftovers } = report
console.log(JSON.stringify({ before, after, leftovers }))
const { sent, failures } = report
console.log(`${sent} requests of seed ${seed} in ${secondsSince(startedAt)} s, ${failures.length} failures`)

const loads = await fuzzCatalogs({ seed, catalogs: Number(values.catalogs) })
for (const { index, problem, files } of loads.failures) {
  console.log(`\nFAILED: seed ${seed}, catalog ${index}: ${problem.slice(0, 2000)}`)
  for (const [path, text] of Object.entries(files)) console.log(`${path}:\n${String(text).slice(0, 1000)}`)
}
const { served, refused, slowestMs } = loads
console.log(
  `${values.catalogs} catalogs: ${served} served, ${refused} refused, ${loads.failures.length} failures, ` +
    `${Math.round(slowestMs)} ms for the slowest`
)
process.exitCode = failures.length + loads.failures.length > 0 ? 1 : 0

function print ({ index, problems, request, answer }: Failure): void {
  console.log(`\nFAILED: seed ${seed}, request ${index ?? '-'}`)
  for (const problem of problems) console.log(`  ${problem}`)
  if (request !== undefined) {
    const more = request.session === undefined ? '' : `, in a session of ${request.session.revision}`
    console.log(`The smallest request (${request.kind}, to the ${request.target} address${more}):`)
    console.log(toBytes(request, 0).toString().slice(0, 3000))
  }
  if (answer !== undefined) console.log(`The answer:\n${answer.status} ${answer.body.slice(0, 2000)}`)
}

function secondsSince (time: number): number { return Math.round((Date.now() - time) / 1000) }
