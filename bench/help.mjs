// The texts that `npm run bench` prints for `--help` and `--list`.

import { grouped } from './figures/table.mjs'
import { FULL } from './lengths.mjs'
import { MOST_WARM_STEPS, WARM_ANSWERS, WARM_SHARE } from './load/turns.mjs'
import { CONNECTIONS, REQUESTS_EACH } from './requests/rings.mjs'
import { SECTIONS } from './sections/sections.mjs'
import { FLOOR, GROUPS } from './servers/contenders.mjs'

const ABOUT = 'Compares Trivet with bare Fastify, the official SDK and peers, on the same requests.'
const STEPS = `at most ${MOST_WARM_STEPS} steps of ${FULL.warmUpSeconds / 2} s`
const WARM = `${grouped(WARM_ANSWERS)} answers`
const MADE = `${REQUESTS_EACH} for each of ${CONNECTIONS} connections`

export const HELP = `${ABOUT}

  npm run bench                              all sections; about an hour for each Node
  npm run bench -- --quick                   a short check that the benchmark works; do not quote it
  npm run bench -- --only calls,eras         some sections; --list names them
  npm run bench -- --against ../before       this checkout of Trivet compared with another

Options
  --only NAMES       sections, comma-separated
  --servers NAMES    groups of servers: ${Object.keys(GROUPS).join(', ')}
  --methods NAMES    methods for the sections calls, first and alone, such as tools/call,prompts/get
  --sizes NUMBERS    numbers of tools in the catalog of the section calls; 50 by default. The yardsticks apply
                     only to 50
  --starts NUMBER    how often the sections calls, first, half and alone start each process: processes of the
                     same code differ in speed
  --rounds NUMBER    the number of rounds of each measurement
  --seconds NUMBER   the length of a round, for each server
  --calm SECONDS     the time, for each table, to repeat measurements during which other processes used more
                     than a tenth of the machine; 0 by default
  --rate NUMBER      requests per second in sections with a fixed rate; 2000 by default
  --ids MIX          mixed (the default), first (0 to 7, the ids of new clients) or one (always 1)
  --node PATH        a Node to run the servers on; repeatable. By default the running Node, and the Node of
                     the environment variable BENCH_NODE
  --build FOLDER     the checkout to measure; this checkout by default
  --against FOLDER   another checkout with its built dist/, measured in the same rounds; repeatable
  --peers            also measures peers: other MCP servers. First installs the peers of bench/peers with
                     npm ci. Two peers are not on npm: @platformatic/mcp and @prefecthq/fastmcp-ts. To
                     measure these two, build checkouts of them, and then install the folders:
                     npm install --no-save --prefix bench/peers FOLDER FOLDER
                     @platformatic/mcp 2.4.0 serves revision 2025-11-25, and its branch feat/mcp-2026-07-28
                     also 2026-07-28. Install a build of that branch beside it, in the same command:
                     platformatic-mcp-2026@file:FOLDER
  --json FILE        the file for all figures; a new file in bench/results/ by default
  --svg FILE         measures nothing: draws the sections calls and half of the file of a run as
                     docs/benchmark.svg, on the first Node of the run
  --quick, --list, --help

Servers
${Object.entries(GROUPS).map(([name, about]) => `  ${name.padEnd(10)} ${about}`).join('\n')}

How it measures
  All servers are measured in the same run. The servers take turns of a quarter of a second, and the order of
  the turns rotates. A lap has one turn of each server. A ratio compares two turns of the same lap. The tables
  show the median of the turns, with the quartiles in parentheses. After several starts, they show the median
  of the starts' medians, with the lowest and the highest of them in parentheses. "CPU µs" is the CPU time of
  the server's process for one answer. Other work on the machine changes this figure least. "quiet" is the
  lowest decile of the turns. "generator" is the share of the time in which the load generator had work. If
  this share is near 1, the figures show the limit of the generator, not of the server.

  Before its first turn, each server is warmed up, in ${STEPS}. It is warm after ${WARM}
  when an answer of a step takes no less than ${WARM_SHARE} of the CPU of the step before. The column
  "warm-up" has the answers and the time. The methods of the section calls follow each other in the same
  process. The section first has no warm-up: each method and each start has a fresh process, and only one
  process runs at a time.

  The section half saturates each server first, and then sends it half of that rate: a request falls due by
  the clock, and its latency counts from then. Each server has its own rate. At a rate that all servers can
  take, the fast ones would be idle. A server is compared with one that has another rate: look at both.

  Bare Fastify, the reference of the yardsticks, checks nothing. "${FLOOR}" is the floor:
  a route written by hand for this catalog, which checks host, origin, media types, envelope, headers,
  arguments and output, and limits the calls of each network. Its limit of calls in a minute is out of reach;
  Trivet's is off. Both send the bytes that Trivet sends. A peer of an earlier revision is compared with a
  Trivet that gets the same requests, with the header of its session.

  Requests are prepared before the measurement: ${MADE}. Tools, prompts, resources and
  arguments vary. Of ten ids, six are growing integers, two are UUIDs, one is a short text, and one is not
  ASCII. Every server gets the same requests.
`

export const LIST = SECTIONS.map(({ name, about }) => `${name.padEnd(10)} ${about}`).join('\n')
