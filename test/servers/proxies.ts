// The load balancers of docker-compose.yml.

import { hasHaproxy, startHaproxy } from './haproxy.ts'
import { hasNginx, startNginx } from './nginx.ts'

export const PROXIES = {
  nginx: { isInstalled: hasNginx, start: startNginx },
  haproxy: { isInstalled: hasHaproxy, start: startHaproxy }
}

export type ProxyName = keyof typeof PROXIES
