// The routes of the sign-in.

import type { FastifyInstance } from 'fastify'
import { openToAll } from '../../platform/access/authentication.ts'
import { registerGuards } from '../http/guards.ts'
import { registerEngineRoutes } from './engine-routes.ts'
import { registerPeopleRoutes } from './people-routes.ts'
import type { SignInRouteDependencies } from './served.ts'

/** A caller has no token yet, and each route says itself which pages may read its answers. */
const OPEN = { authenticator: openToAll, hasOwnCors: true }

export function registerSignIn (app: FastifyInstance, dependencies: SignInRouteDependencies): void {
  // The forms of people look at their origin themselves.
  const policy = { ...dependencies.policy, isAllowedOrigin: () => true }
  for (const registerRoutes of [registerEngineRoutes, registerPeopleRoutes]) {
    app.register(async (scope) => {
      registerGuards(scope, { ...dependencies, ...OPEN, policy })
      registerRoutes(scope, dependencies)
    })
  }
}
