// What `npm run bench -- --help` prints.

import { CONNECTIONS } from './requests/rings.mjs'
import { SECTIONS } from './sections/sections.mjs'
import { GROUPS } from './servers/contenders.mjs'

export const HELP = `Measures Trivet beside bare Fastify, the official SDK and peers, in one run, on the same requests.

  npm run bench                                  all sections: about an hour, or two for two Nodes
  npm run bench -- --quick                       short rounds: whether all is in order, not fit to quote
  npm run bench -- --only calls,eras             some sections; --list names them
  npm run bench -- --against ../before           another checkout of Trivet beside this one, pair by pair

Options
  --only NAMES       sections, comma-separated
  --servers NAMES    of ${Object.keys(GROUPS).join(', ')}
  --methods NAMES    of the section calls, such as tools/call,prompts/get
  --sizes NUMBERS    tools in the catalog of the section calls; 50 by default, to which the yardsticks apply
  --rounds NUMBER    rounds of each measurement
  --seconds NUMBER   of one measurement
  --rate NUMBER      requests per second where the rate is fixed; 2000 by default
  --ids MIX          mixed (the default), first (of clients that have just come) or one (always 1)
  --node PATH        the Node to run servers on; repeatable. By default our own, and that of the variable BENCH_NODE
  --build FOLDER     the checkout to measure; this one by default
  --against FOLDER   another checkout with its built dist/, measured in the same rounds; repeatable
  --peers            peers of the field, too: installs those of bench/peers first, with npm ci. Two are not in its lock:
                     npm install --no-save --prefix bench/peers @platformatic/mcp @prefecthq/fastmcp-ts
                     (or the folders of built checkouts)
  --calm SECONDS     how long, for each table, to measure again what was measured while others used more than a
                     tenth of the machine; 0 by default
  --json FILE        where to write every figure; bench/results/ by default
  --quick, --list, --help

Servers
${Object.entries(GROUPS).map(([name, about]) => `  ${name.padEnd(10)} ${about}`).join('\n')}

How it measures
  Everyone is measured in turn, round by round. A ratio is taken within a round. What is printed is the median of the rounds
  and, in parentheses, the least and the greatest. CPU µs is the time that the server's process has spent for one answer: on
  a machine that others use, too, it moves least. "generator" is the share of the time in which the load generator had work;
  near 1, it is the generator that is measured. Requests are made before the time is taken: ${CONNECTIONS} connections with
  512 each. Of ten ids, six are growing integers, two are UUIDs, one is short, one is not plain ASCII.
`

export const LIST = SECTIONS.map(({ name, about }) => `${name.padEnd(10)} ${about}`).join('\n')
