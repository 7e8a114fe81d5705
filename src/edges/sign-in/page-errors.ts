// Errors of the routes that people visit: a browser gets a page, and the log the reason.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { limitRepeats } from '../../base/outage-log.ts'
import type { Outcomes } from '../../features/sign-in/flows/steps.ts'
import { sendPage } from '../http/pages/page.ts'
import { toFailedPage, toUnavailablePage } from './pages.ts'

export function handlePageErrors (
  app: FastifyInstance, title: () => string, outcomes: Pick<Outcomes, 'unavailable'>
): void {
  const logError = limitRepeats(({ log, err }: { log: FastifyRequest['log'], err: Error }, errors) => {
    log.error({ err, errors }, 'people cannot sign in')
  })
  app.setErrorHandler((error: Error, request, reply) => {
    const refusal = findRefusal(error)
    reply.header('x-request-id', request.id)
    if (refusal !== undefined) return sendPage(reply, refusal.status, toFailedPage(title(), refusal.reason))
    outcomes.unavailable++
    logError({ log: request.log, err: error })
    return sendPage(reply, 503, toUnavailablePage(title()))
  })
}

/** Returns what is wrong with the request. `undefined` for what is wrong with the service. */
function findRefusal (error: Error): { readonly status: number, readonly reason: string } | undefined {
  // Errors of the service, of the engine and of Fastify have different members.
  const members: { readonly [name: string]: unknown } = { ...error }
  const { statusCode, httpStatus = statusCode, error_description: reason = error.message } = members
  return typeof httpStatus === 'number' && httpStatus >= 400 && httpStatus < 500
    ? { status: httpStatus, reason: String(reason) }
    : undefined
}
