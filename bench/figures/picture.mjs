// Draws a run as an SVG, for light and dark pages: the CPU time of an answer for each method, and the latency
// at half of the saturation.

import {
  CEILING, FLOOR, SDK_DOCUMENTED, SDK_HOISTED, SILENT_LEGACY, TRIVET
} from '../servers/contenders.mjs'
import { drawChart, text, WIDTH } from './chart.mjs'
import { grouped, rounded } from './table.mjs'

const OWN = /^Trivet/
/** The tables have all servers. A picture of them would be too long to be read. */
const DRAWN = new Set([
  CEILING, FLOOR, TRIVET, SILENT_LEGACY, SDK_DOCUMENTED, SDK_HOISTED, 'platformatic/mcp', 'mcp-time (Go)'
])

const CPU = 'CPU time of the server for one answer, in µs. Less is better.'
const LATENCY = 'Latency (p50) at half of the load that saturates each server, in ms. Less is better.'
const FOOT = 'class="quiet" font-size="12"'
const LIGHT = {
  page: '#ffffff', text: '#24292f', quiet: '#57606a', rule: '#d8dee4', own: '#0969da', other: '#6e7781'
}
const DARK = {
  page: '#0d1117', text: '#e6edf3', quiet: '#9198a1', rule: '#30363d', own: '#58a6ff', other: '#8b949e'
}

/** @param {object} run the file of a run. @throws if the run lacks one of the two sections */
export function drawRun ({ date, platform, cpus, others, trivet, options, sections: { calls, half } }) {
  if (calls === undefined || half === undefined) {
    throw new Error('The run lacks a section of the picture: run it with --only calls,half')
  }
  const { starts, nodes: [{ version }] } = options
  const select = (servers) => servers.filter(({ name, node }) => node === version && DRAWN.has(name))
  const cpu = drawChart(CPU, 28, (
    calls.map(({ method, servers }) => ({ title: method, rows: select(servers).map(toCpuRow) }))
  ))
  const mixed = [{ title: 'All methods mixed', rows: select(half.servers).map(toLatencyRow) }]
  const latency = drawChart(LATENCY, cpu.end + 62, mixed)
  const quiet = others === undefined ? '' : `, others used ${Math.round(others * 100)} % of the machine`
  const machine = `${platform}, ${cpus} CPUs${quiet}`
  const range = starts > 1 ? `medians of ${starts} starts` : 'quartiles'
  const feet = [
    `Trivet ${trivet}, Node ${version}, ${date.slice(0, 10)}, ${machine}.`,
    `Dot: median. Line: range of the ${range}. The scales are logarithmic.`,
    'Fastify and Trivet log a line for each answer, unless they are silent. The others log nothing.'
  ]
  const height = latency.end + 46 + feet.length * 18
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-size="13" ` +
      'font-family="system-ui, sans-serif" role="img">',
    '<title>CPU time of the server for one answer, and latency at half of the saturation</title>',
    `<style>${toRules(LIGHT)} @media (prefers-color-scheme: dark) { ${toRules(DARK)} }</style>`,
    `<rect class="page" width="${WIDTH}" height="${height}"/>`,
    ...cpu.parts,
    ...latency.parts,
    ...feet.map((foot, line) => text(16, latency.end + 48 + line * 18, foot, FOOT)),
    '</svg>\n'
  ].join('\n')
}

function toRules ({ page, text, quiet, rule, own, other }) {
  return `text { fill: ${text} } .page { fill: ${page} } text.quiet { fill: ${quiet} } ` +
    `.rule { stroke: ${rule} } ` +
    `.own { fill: ${own}; stroke: ${own} } .other { fill: ${other}; stroke: ${other} }`
}

function toCpuRow ({ name, cpuUs }) {
  return { name, isOwn: OWN.test(name), figures: cpuUs, label: rounded(cpuUs.median) }
}

function toLatencyRow ({ name, p50Ms, perSecond }) {
  const rate = grouped(Number(perSecond.median.toPrecision(3)))
  const { median } = p50Ms
  const latency = median < 10 ? median.toPrecision(2) : grouped(median)
  return { name, isOwn: OWN.test(name), figures: p50Ms, label: `${latency} at ${rate}/s` }
}
