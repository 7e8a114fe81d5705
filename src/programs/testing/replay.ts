// Runs the tools of a catalog against the recordings of tasks.

import type { Service } from '../../app/app.ts'
import type { CompiledTool } from '../../catalog/compiled/compiled-primitive.ts'
import { META_CLIENT_CAPABILITIES, readEnvelope, toEnvelopeJson } from '../../platform/protocol/envelope.ts'
import { isTerminal } from '../../platform/protocol/tasks.ts'
import type { Caller } from '../../request/pipeline/caller.ts'
import { findChangedTool } from '../../features/tasks/records/record.ts'
import { readRecording, RecordingError, type ReadRecording } from '../../features/tasks/journal/recording.ts'
import { replayRecording } from '../../features/tasks/journal/replay.ts'
import { toTestSender } from './exchange.ts'
import type { TestClient, TestPrincipal } from './options.ts'

/** What a replay uses in place of what the recording lacks. */
export interface ReplayOptions {
  /** The arguments of the call. Those of the recording by default. */
  readonly args?: object
  /** The principal of the recording by default, else an anonymous one. It has the scopes of the tool too. */
  readonly principal?: TestPrincipal
  /** The client. Its capabilities are those of the recording by default, else all. */
  readonly client?: TestClient
}

/** Where the handler and the recording differ. */
export interface ReplayDifference {
  /** The file of the tool, relative to the catalog folder. */
  readonly file: string
  /** What the recording has there, such as `step "order"`. */
  readonly expected: string
  /** What the handler came to instead, such as `sleep "dry"`. `its end` if it came to nothing more. */
  readonly came: string
}

/** What a replay has found. */
export interface ReplayResult {
  /** Whether the handler came to what is recorded, in the same order. `undefined`: see `lacks`. */
  readonly fits: boolean | undefined
  /** How many of the recorded steps, questions and sleeps the handler came to. */
  readonly reached: number
  /** The first difference, if `fits` is false. */
  readonly difference?: ReplayDifference
  /**
   * What the recording lacks to tell whether it fits: `arguments`, or such as `step "order"`. The handler has
   * read its value, or waits for its end before it comes to the rest.
   */
  readonly lacks?: string
  /**
   * What the handler threw. If the recording fits, it did so after all that is recorded: nobody knows whether
   * the task did the same.
   */
  readonly error?: Error
}

/** Finds what makes a replay needless, then runs it. Rejects with a RecordingError. */
export async function replay (
  { catalog, toolRuns, app }: Service, document: unknown, options: ReplayOptions
): Promise<ReplayResult> {
  const recording = readRecording(document)
  const { tools } = catalog.current.primitives
  const tool = tools.find(({ key }) => key === recording.tool)
  if (tool === undefined) {
    const name = JSON.stringify(recording.tool)
    throw new RecordingError(`The catalog has no tool ${name}: its tasks do not run`)
  }
  const { file, key, task } = tool
  const differ = (expected: string, came: string): ReplayResult => {
    return { fits: false, reached: 0, difference: { file, expected, came } }
  }
  if (recording.undo !== undefined && task?.undo === undefined) return differ('undo', 'a tool without undo')
  const mayGoOn = findChangedTool(recording, tools)?.task?.mayGoOnChanged !== false
  if (!mayGoOn && !isTerminal(recording.status)) {
    return differ('the code that the task began with', "other code, with onDeploy: 'fail'")
  }
  if (!recording.values && options.args === undefined) {
    return { fits: undefined, reached: 0, lacks: 'arguments' }
  }
  // The arguments as they were sent. A copy: the check adds defaults.
  const args: unknown = JSON.parse(JSON.stringify(options.args ?? recording.arguments ?? {}))
  const verdict = await tool.checkInput(args)
  if (!verdict.ok) return differ('arguments that fit the inputSchema', verdict.problems.join('; '))
  const caller = toCaller(recording, tool, options, app.log)
  const run = { tool: key, args, caller, timeoutMs: LIMIT_MS, recording }
  const { mismatch, ...end } = await replayRecording(toolRuns, run)
  return mismatch === undefined ? end : { ...end, difference: { file, ...mismatch } }
}

/** How long the handler may take, in milliseconds: what it does outside its steps is done. */
const LIMIT_MS = 30_000

function toCaller (
  recording: ReadRecording, { scopes }: CompiledTool, options: ReplayOptions, log: Caller['log']
): Caller {
  const { principal, client } = toTestSender(options.principal ?? recording.principal, options.client)
  const capabilities = options.client?.capabilities ?? recording.client?.capabilities ?? client.capabilities
  const _meta = toEnvelopeJson({ ...client, progressToken: '' })
  return {
    principal: { ...principal, scopes: new Set([...principal.scopes, ...scopes]) },
    envelope: readEnvelope({ _meta: { ..._meta, [META_CLIENT_CAPABILITIES]: capabilities } }),
    requestId: 'replay',
    log
  }
}
