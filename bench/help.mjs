// What `npm run bench -- --help` prints.

import { CONNECTIONS, REQUESTS_EACH } from './requests/rings.mjs'
import { SECTIONS } from './sections/sections.mjs'
import { GROUPS } from './servers/contenders.mjs'

const ABOUT = 'Compares Trivet with bare Fastify, the official SDK and peers, on equal requests.'
const MADE = `${REQUESTS_EACH} for each of ${CONNECTIONS} connections`

export const HELP = `${ABOUT}

  npm run bench                              all sections; about an hour for each Node
  npm run bench -- --quick                   short: shows whether all is in order, not fit to quote
  npm run bench -- --only calls,eras         some sections; --list names them
  npm run bench -- --against ../before       another checkout of Trivet and this one, in pairs

Options
  --only NAMES       sections, comma-separated
  --servers NAMES    of ${Object.keys(GROUPS).join(', ')}
  --methods NAMES    of the section calls, such as tools/call,prompts/get
  --sizes NUMBERS    tools in the catalog of the section calls; 50 by default, to which the yardsticks apply
  --starts NUMBER    how often the sections calls and alone start each process anew: processes of the same
                     code differ
  --rounds NUMBER    rounds of each measurement
  --seconds NUMBER   of a round, for each server
  --calm SECONDS     how long, for each table, to measure again what was measured while others used more than
                     a tenth of the machine; 0 by default
  --rate NUMBER      requests per second where the rate is fixed; 2000 by default
  --ids MIX          mixed (the default), first (those of clients that have just come) or one (always 1)
  --node PATH        the Node to run servers on; repeatable. By default the running Node, and that of the
                     environment variable BENCH_NODE
  --build FOLDER     the checkout to measure; this one by default
  --against FOLDER   another checkout with its built dist/, measured in the same rounds; repeatable
  --peers            peers of the field, too: installs those of bench/peers first, with npm ci. Two are not in
                     its lock, and are left out unless they are there:
                     npm install --no-save --prefix bench/peers @platformatic/mcp @prefecthq/fastmcp-ts
                     (or, in place of the names, folders of built checkouts)
  --json FILE        where to write every figure; bench/results/ by default
  --quick, --list, --help

Servers
${Object.entries(GROUPS).map(([name, about]) => `  ${name.padEnd(10)} ${about}`).join('\n')}

How it measures
  All servers are measured in the same run, in turns of a quarter of a second, and the order of the turns
  rotates. A ratio is taken between two turns of the same lap. The tables have the median of the turns and, in
  parentheses, the quartiles. "CPU µs" is the time that the server's process has spent for one answer: on a
  machine that others use, too, it moves least. "quiet" is the lowest decile of the turns. "generator" is the
  share of the time in which the load generator had work; near 1, it is the generator that is measured.

  Requests are prepared before the time is taken: ${MADE}. Tools, prompts, resources and
  arguments vary. Of ten ids, six are integers that grow, two are UUIDs, one is a short text, and one is not
  plain ASCII. Every server gets the same requests.
`

export const LIST = SECTIONS.map(({ name, about }) => `${name.padEnd(10)} ${about}`).join('\n')
