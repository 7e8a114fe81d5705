import { stdin, stdout } from 'node:process'
import { createInterface } from 'node:readline'
import { ANONYMOUS } from '../../platform/access/principal.ts'
import { readEnvelope } from '../../platform/protocol/envelope.ts'
import {
  isRequest, readMessage, toErrorResponse, toResultResponse, type ReadyResponse, type Request
} from '../../platform/protocol/json-rpc.ts'
import type { Caller, Outlet, RequestLog } from '../../request/pipeline/caller.ts'
import type { Pipeline } from '../../request/pipeline/pipeline.ts'
import type { MessageSink } from '../../platform/store/changes/message-sink.ts'

export function serveStdio (pipeline: Pipeline, log: RequestLog): void {
  createInterface({ input: stdin }).on('line', (line) => {
    const message = readMessage(JSON.parse(line))
    if (isRequest(message)) pipeline.serve(message, toCaller(message, log), toOutlet(message))
  })
}

function toCaller ({ id, params }: Request, log: RequestLog): Caller {
  return { principal: ANONYMOUS, envelope: readEnvelope(params), requestId: String(id), log }
}

function toOutlet ({ id }: Request): Outlet {
  const write = (json: string | ReadyResponse) => { stdout.write(`${String(json)}\n`) }
  const end = (json?: string) => { if (json !== undefined) write(json) }
  const sink: MessageSink = {
    send: write, end, keepAlive () {}, cut () {}, onDrain () {}, onClose () {}, isBlocked: false
  }
  return {
    onPending () {},
    notify: write,
    succeed: (result) => write(toResultResponse(id, result)),
    fail: (error) => write(toErrorResponse(id, error)),
    leaveUnanswered () {},
    openStream: () => sink
  }
}
