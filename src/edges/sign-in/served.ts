// What the routes of the sign-in serve, and where.

import type { SignIn } from '../../features/sign-in/sign-in.ts'
import type { CallLimiter } from '../../platform/limits/call-limiter.ts'
import type { GuardsDependencies } from '../http/guards.ts'

/** The words of the catalog, for people. */
export interface ServiceWords {
  /** The name of the service. */
  title (): string
  /** What a scope lets a client do. */
  describeScope (scope: string): string | undefined
}

export interface SignInRouteDependencies extends GuardsDependencies {
  readonly limiter: Pick<CallLimiter, 'admitOther'>
  readonly signIn: SignIn
  /** The processes among which the limits of the replica are divided. */
  readonly workerCount: number
  readonly words: ServiceWords
}

/** Returns what stands before the paths of the sign-in: a proxy may have taken the prefix away. */
export function prefixesOf (issuer: string): readonly string[] {
  return [...new Set([new URL(issuer).pathname.replace(/\/$/, ''), ''])]
}
