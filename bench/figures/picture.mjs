// Draws the figures of the section calls as an SVG: for each method and server a dot at the median of the CPU
// time of an answer, and a line between the quartiles. The axis is logarithmic.

const TITLE = 'CPU time of the server for one answer, in µs, on a logarithmic scale. Less is better.'
const WIDTH = 860
const LEFT = 290
const RIGHT = 90
const ROW = 22
const GAP = 34
const TOP = 64
const OWN = /^Trivet/
const COLOURS = { text: '#24292f', quiet: '#57606a', rule: '#d0d7de', own: '#0969da', other: '#6e7781' }

/** @param {object} run the file of a run. @throws if the run has no section calls */
export function drawRun ({ date, platform, cpus, others, trivet, options: { starts }, sections: { calls } }) {
  if (calls === undefined) throw new Error('The run has no section calls: run it with --only calls')
  const panels = calls.map(({ method, servers }) => ({ method, rows: servers.map(toRow) }))
  const ends = panels.flatMap(({ rows }) => rows.flatMap(({ low, high }) => [low, high]))
  const scale = createScale(Math.min(...ends), Math.max(...ends))
  const parts = []
  let y = TOP
  for (const { method, rows } of panels) {
    parts.push(text(16, y, method, 'font-weight="600"'))
    for (const row of rows) parts.push(...drawRow(row, y += ROW, scale))
    y += GAP
  }
  const bottom = y - GAP + 14
  const quiet = others === undefined ? '' : `, others used ${Math.round(others * 100)} % of the machine`
  const machine = `${platform}, ${cpus} CPUs${quiet}`
  const foot = `Trivet ${trivet}, ${date.slice(0, 10)}, ${machine}; each server started ${starts} times. ` +
    'Dot: median. Line: quartiles.'
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 52}" font-size="13" ` +
      'font-family="system-ui, sans-serif" role="img">',
    '<title>CPU time of the server for one answer</title>',
    `<rect width="${WIDTH}" height="${bottom + 52}" fill="#ffffff"/>`,
    text(16, 28, TITLE, 'font-size="16"'),
    ...scale.ticks.flatMap((value) => drawTick(scale.place(value), value, bottom)),
    ...parts,
    text(16, bottom + 40, foot, `fill="${COLOURS.quiet}" font-size="12"`),
    '</svg>\n'
  ].join('\n')
}

function toRow ({ name, node, cpuUs: { median, quartiles: [low, high] } }) {
  return { label: `${name}, Node ${node.split('.')[0]}`, isOwn: OWN.test(name), median, low, high }
}

/** Places a figure. The ticks are 1, 2 and 5 times the powers of ten. */
function createScale (least, most) {
  const steps = [1, 2, 5].flatMap((step) => Array.from({ length: 8 }, (_, power) => step * 10 ** power))
  const sorted = steps.toSorted((a, b) => a - b)
  const from = sorted.findLast((step) => step <= least) ?? sorted[0]
  const to = sorted.find((step) => step >= most) ?? sorted.at(-1)
  const width = WIDTH - LEFT - RIGHT
  return {
    ticks: sorted.filter((step) => step >= from && step <= to),
    place: (value) => LEFT + width * Math.log(value / from) / Math.log(to / from || 10)
  }
}

function drawRow ({ label, isOwn, median, low, high }, y, { place }) {
  const colour = isOwn ? COLOURS.own : COLOURS.other
  const [x, from, to] = [median, low, high].map((value) => place(value).toFixed(1))
  return [
    text(32, y, label),
    `<line x1="${from}" x2="${to}" y1="${y - 4}" y2="${y - 4}" stroke="${colour}" stroke-width="3"/>`,
    `<circle cx="${x}" cy="${y - 4}" r="5" fill="${colour}"/>`,
    text(Number(to) + 10, y, median < 100 ? median.toFixed(1) : Math.round(median).toLocaleString('en'))
  ]
}

function drawTick (x, value, bottom) {
  return [
    `<line x1="${x}" x2="${x}" y1="${TOP - 14}" y2="${bottom}" stroke="${COLOURS.rule}"/>`,
    text(x, bottom + 16, value.toLocaleString('en'), `fill="${COLOURS.quiet}" text-anchor="middle"`)
  ]
}

function text (x, y, words, attributes = '') {
  const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const fill = attributes.includes('fill=') ? '' : ` fill="${COLOURS.text}"`
  return `<text x="${x}" y="${y}"${fill} ${attributes}>${escaped}</text>`
}
