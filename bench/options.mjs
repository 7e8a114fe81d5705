// The command line, read once.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const SECTIONS = ['calls', 'legacy', 'startup', 'streams', 'state', 'replicas']

/** Quick shows whether all is in order; only a full run is fit to quote. */
const FULL = { sizes: [5, 50, 500, 5000], rounds: 5, seconds: 3, warmUpSeconds: 2, startups: 3, streamRounds: 5 }
const QUICK = { sizes: [5, 50], rounds: 3, seconds: 1, warmUpSeconds: 1, startups: 1, streamRounds: 3 }

/** @param {string[]} args */
export function readOptions (args) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      sizes: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      only: { type: 'string' },
      main: { type: 'string', default: fileURLToPath(new URL('../dist/main.js', import.meta.url)) }
    }
  })
  const base = values.quick ? QUICK : FULL
  return {
    ...base,
    quick: values.quick,
    sizes: values.sizes === undefined ? base.sizes : values.sizes.split(',').map((size) => readCount('--sizes', size)),
    rounds: values.rounds === undefined ? base.rounds : readCount('--rounds', values.rounds),
    seconds: values.seconds === undefined ? base.seconds : readCount('--seconds', values.seconds),
    sections: readSections(values.only),
    main: readMain(values.main)
  }
}

function readCount (option, text) {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new Error(`${option} must be of whole numbers from 1 to 9999, got "${text}"`)
  return Number(text)
}

function readSections (only) {
  if (only === undefined) return SECTIONS
  if (!SECTIONS.includes(only)) throw new Error(`--only must be one of ${SECTIONS.join(', ')}, got "${only}"`)
  return [only]
}

function readMain (path) {
  const main = resolve(path)
  if (!existsSync(main)) throw new Error(`There is no ${path}. Build first: npm run build`)
  return main
}
