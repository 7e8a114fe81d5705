// Reads the command line.

import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { FULL, QUICK } from './lengths.mjs'
import { readNodes } from './nodes.mjs'
import { ID_MIXES } from './requests/ids.mjs'
import { MIX } from './requests/rings.mjs'
import { SECTIONS } from './sections/sections.mjs'
import { GROUPS } from './servers/contenders.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const MOST = 100_000

const FLAGS = {
  help: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  quick: { type: 'boolean', default: false },
  peers: { type: 'boolean', default: false },
  only: { type: 'string' },
  servers: { type: 'string' },
  methods: { type: 'string' },
  sizes: { type: 'string', default: '50' },
  starts: { type: 'string' },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  rate: { type: 'string', default: '2000' },
  ids: { type: 'string', default: 'mixed' },
  node: { type: 'string', multiple: true, default: [] },
  build: { type: 'string', default: ROOT },
  against: { type: 'string', multiple: true, default: [] },
  calm: { type: 'string', default: '0' },
  json: { type: 'string' },
  svg: { type: 'string' }
}

/** @param {string[]} args */
export function readOptions (args) {
  const { values } = parseArgs({ args, options: FLAGS })
  const base = values.quick ? QUICK : FULL
  const starts = values.starts === undefined ? undefined : readNumber('--starts', values.starts, 1)
  const rounds = values.rounds === undefined ? undefined : readNumber('--rounds', values.rounds, 1)
  const groups = Object.keys(GROUPS).filter((group) => group !== 'peers' || values.peers)
  return {
    ...base,
    ...rounds !== undefined && { rounds, narrowRounds: rounds },
    ...starts !== undefined && { starts, processes: starts },
    ...values.seconds !== undefined && { seconds: readNumber('--seconds', values.seconds) },
    quick: values.quick,
    help: values.help,
    list: values.list,
    peers: values.peers,
    sections: readNames('--only', values.only, SECTIONS.map(({ name }) => name)),
    servers: readNames('--servers', values.servers, groups),
    methods: readNames('--methods', values.methods, Object.keys(MIX)),
    sizes: values.sizes.split(',').map((size) => readNumber('--sizes', size)),
    rate: readNumber('--rate', values.rate),
    calm: readNumber('--calm', values.calm, 0),
    ids: readNames('--ids', values.ids, Object.keys(ID_MIXES))[0],
    nodes: readNodes(values.node),
    main: readBuild(values.build),
    against: values.against.map(readOther),
    json: values.json,
    svg: values.svg
  }
}

function readNumber (option, text, least = 0.1) {
  const number = Number(text)
  if (number >= least && number <= MOST) return number
  throw new Error(`${option} must be a number from ${least} to ${MOST}, got "${text}"`)
}

/** Returns all names if none is given. */
function readNames (option, text, names) {
  const given = text?.split(',') ?? names
  for (const name of given) {
    if (!names.includes(name)) throw new Error(`${option} must be of ${names.join(', ')}, got "${name}"`)
  }
  return given
}

/** The entry file of a checkout. */
function readBuild (folder) {
  const main = resolve(join(folder, 'dist', 'main.js'))
  if (!existsSync(main)) throw new Error(`There is no ${main}. Build first, there: npm run build`)
  return main
}

function readOther (folder) {
  return { name: `Trivet of ${basename(resolve(folder))}`, main: readBuild(folder) }
}
